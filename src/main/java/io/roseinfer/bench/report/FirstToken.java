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
 * The time to a request's first token, and what it was spent on, from when it was to be sent. A part lasts from the stamp before it to its own; where a
 * stamp is not known, its part is in the next one.
 *
 * <pre>
 * dispatch        due to sent: the client was late, or held it back under a bound on concurrency
 * send            sent to received: the connection, up to the last byte of the body
 * parse           received to understood
 * tokenize        until the prompt was token ids and the request in the engine's queue
 * queue           until it was admitted
 * prefill         until the step that ends the prompt had come back from the device
 * sample          until the engine had the token
 * hand_over       until the thread that answers had it
 * write           until the socket had its event
 * read            until the client had read it: the network, and the client's own turn
 * residual        what is left: stamps that are missing at the end or out of order, and queue and prefill without a time of admission
 * </pre>
 *
 * @param request its id
 * @param promptTokens as {@link CallResult#promptTokens} has them
 * @param parts nanoseconds by name, in the order of {@link #PARTS}
 */
record FirstToken(int request, int promptTokens, Map<String, Double> parts) {
    /** The names of the parts, in their order. */
    static final List<String> PARTS = List.of(
            "dispatch",
            "send",
            "parse",
            "tokenize",
            "queue",
            "prefill",
            "sample",
            "hand_over",
            "write",
            "read",
            "residual");

    FirstToken {
        parts = Collections.unmodifiableMap(new LinkedHashMap<>(parts));
    }

    /** From when the request was to be sent until the client had the token. */
    double nanos() {
        return parts.values().stream().mapToDouble(Double::doubleValue).sum();
    }

    /** A request's; empty if the server did not say, or there is no token. */
    static Optional<FirstToken> of(CallResult call, Steps steps) {
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
            first.until("hand_over", firstOf(stamps.readNanos()));
            first.until("write", firstOf(stamps.writtenNanos()));
            first.until("read", seenNanos);
        }
        return Optional.of(new FirstToken(call.id(), call.promptTokens(), first.endingAt(dueNanos, seenNanos)));
    }

    private static long firstOf(List<Long> nanos) {
        return nanos.isEmpty() ? ServerStamps.UNKNOWN : nanos.getFirst();
    }

    /** The parts so far, and when the last of them ended. */
    private static final class Parts {
        private final Map<String, Double> nanos = new LinkedHashMap<>();
        private long before;

        private Parts(long startNanos) {
            PARTS.forEach(part -> nanos.put(part, 0.0));
            before = startNanos;
        }

        /** A part ends at a stamp, if that is known and not before what came before it. */
        private void until(String part, long at) {
            if (at != ServerStamps.UNKNOWN && at >= before) {
                nanos.merge(part, (double) (at - before), Double::sum);
                before = at;
            }
        }

        /** The time until a stamp belongs to no part that has a name. */
        private void skip(long at) {
            before = Math.max(before, at);
        }

        private Map<String, Double> endingAt(long startNanos, long endNanos) {
            double known =
                    nanos.values().stream().mapToDouble(Double::doubleValue).sum();
            nanos.put("residual", endNanos - startNanos - known);
            return nanos;
        }
    }
}
