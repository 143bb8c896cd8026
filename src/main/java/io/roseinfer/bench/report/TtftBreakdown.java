package io.roseinfer.bench.report;

import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.ServerStamps;
import io.roseinfer.metrics.StepRecord;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The breakdown of the time to a request's first token since it was due. A part lasts from the previous timestamp to its own; if a
 * timestamp is unknown, its part is included in the next one.
 *
 * <pre>
 * dispatch        from due to sent: the client was late, or waited for a concurrency limit
 * send            until the server received the last byte of the body
 * parse           until the request was parsed
 * tokenize        until the prompt was tokenized and the request queued
 * queue           until the request was admitted
 * prefill         until the device finished the step that ends the prompt
 * sample          until the engine had the token
 * deliver         until the responding thread had the token
 * write           until its event was written to the socket
 * read            until the client read it: network and client
 * unattributed    the rest: timestamps missing at the end or out of order, or queue and prefill without an admission time
 * </pre>
 *
 * @param request id of the request
 * @param promptTokens number of prompt tokens, as in {@link CallResult#promptTokens}
 * @param parts nanoseconds by name, in the order of {@link #PARTS}
 */
record TtftBreakdown(int request, int promptTokens, Map<String, Double> parts) {
    /** The names of the parts in order. */
    static final List<String> PARTS = List.of(
            "dispatch",
            "send",
            "parse",
            "tokenize",
            "queue",
            "prefill",
            "sample",
            "deliver",
            "write",
            "read",
            "unattributed");

    TtftBreakdown {
        parts = Collections.unmodifiableMap(new LinkedHashMap<>(parts));
    }

    /** Returns the time since the request was due until the client had the token. */
    double nanos() {
        return parts.values().stream().mapToDouble(Double::doubleValue).sum();
    }

    /** Returns the breakdown of a request; empty without server timestamps or tokens. */
    static Optional<TtftBreakdown> of(CallResult call, StepIndex steps) {
        if (call.server().isEmpty() || call.arrivals().nanos().isEmpty()) {
            return Optional.empty();
        }
        ServerStamps stamps = call.server().get();
        long dueNanos = call.times().dueNanos();
        long seenNanos = call.arrivals().nanos().getFirst();
        Parts first = new Parts(dueNanos);
        first.until("dispatch", call.times().sentNanos());
        first.until("send", stamps.receivedNanos());
        first.until("parse", stamps.parsedNanos());
        first.until("tokenize", stamps.tokenizedNanos());
        first.until("queue", stamps.admittedNanos());
        if (!stamps.tokenNanos().isEmpty()) {
            long had = stamps.tokenNanos().getFirst();
            Optional<StepRecord> made = steps.before(stamps.served().engine(), had);
            long computed = made.map(step -> Math.min(had, step.awaitedNanos())).orElse(had);
            if (stamps.admittedNanos() == ServerStamps.UNKNOWN) {
                first.skip(computed);
            } else {
                first.until("prefill", computed);
            }
            first.until("sample", had);
            first.until("deliver", firstOf(stamps.readNanos()));
            first.until("write", firstOf(stamps.writtenNanos()));
            first.until("read", seenNanos);
        }
        return Optional.of(new TtftBreakdown(call.id(), call.promptTokens(), first.endingAt(dueNanos, seenNanos)));
    }

    private static long firstOf(List<Long> nanos) {
        return nanos.isEmpty() ? ServerStamps.UNKNOWN : nanos.getFirst();
    }

    /** The parts so far, and the end of the last one. */
    private static final class Parts {
        private final Map<String, Double> nanos = new LinkedHashMap<>();
        private long before;

        private Parts(long startNanos) {
            PARTS.forEach(part -> nanos.put(part, 0.0));
            before = startNanos;
        }

        /** Ends a part at a timestamp, if that is known and not before the previous one. */
        private void until(String part, long at) {
            if (at != ServerStamps.UNKNOWN && at >= before) {
                nanos.merge(part, (double) (at - before), Double::sum);
                before = at;
            }
        }

        /** Leaves the time until a timestamp unattributed. */
        private void skip(long at) {
            before = Math.max(before, at);
        }

        private Map<String, Double> endingAt(long startNanos, long endNanos) {
            double known =
                    nanos.values().stream().mapToDouble(Double::doubleValue).sum();
            nanos.put("unattributed", endNanos - startNanos - known);
            return nanos;
        }
    }
}
