package io.roseinfer.bench.report;

import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.ServerStamps;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The breakdown of the time to a request's first token since its scheduled time. A part lasts from the previous timestamp to its own; if a
 * timestamp is unknown, its part is included in the next one.
 *
 * <pre>
 * dispatch        from due to sent: the client was late, or waited for a concurrency limit
 * send            until the server received the last byte of the body
 * parse           until the request was parsed
 * tokenize        until the prompt was tokenized, its grammar compiled, and the request queued
 * queue           until the request was admitted
 * prefill         until the device finished the step that ends the prompt
 * sample          until the engine had the token
 * deliver         until the responding thread had the token
 * write           until its event was written to the socket
 * read            until the client read it: network and client
 * unattributed    the rest: timestamps missing at the end or out of order, or queue and prefill without an admission time
 * </pre>
 *
 * @param parts nanoseconds in the order of {@link #PARTS}
 */
record TtftBreakdown(long[] parts) {
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

    private static final int DISPATCH = 0;
    private static final int SEND = 1;
    private static final int PARSE = 2;
    private static final int TOKENIZE = 3;
    private static final int QUEUE = 4;
    private static final int PREFILL = 5;
    private static final int SAMPLE = 6;
    private static final int DELIVER = 7;
    private static final int WRITE = 8;
    private static final int READ = 9;
    private static final int UNATTRIBUTED = 10;

    private static final double NANOS_PER_MILLI = 1e6;

    /** Returns the parts in milliseconds by name. */
    Map<String, Double> millis() {
        Map<String, Double> millis = new LinkedHashMap<>();
        for (int part = 0; part < parts.length; part++) {
            millis.put(PARTS.get(part), parts[part] / NANOS_PER_MILLI);
        }
        return millis;
    }

    /** Returns the breakdown of a request; empty without server timestamps or tokens. */
    static Optional<TtftBreakdown> of(CallResult call, StepIndex steps) {
        if (call.server().isEmpty() || call.arrivals().nanos().length == 0) {
            return Optional.empty();
        }
        ServerStamps stamps = call.server().get();
        long dueNanos = call.times().dueNanos();
        long seenNanos = call.arrivals().nanos()[0];
        Parts first = new Parts(dueNanos);
        first.until(DISPATCH, call.times().sentNanos());
        first.until(SEND, stamps.receivedNanos());
        first.until(PARSE, stamps.parsedNanos());
        first.until(TOKENIZE, stamps.tokenizedNanos());
        first.until(QUEUE, stamps.admittedNanos());
        if (stamps.tokenNanos().length > 0) {
            long had = stamps.tokenNanos()[0];
            StepIndex.EngineSteps engine = steps.of(stamps.served().firstEngine());
            int made = engine.before(had);
            long computed = made < 0 ? had : Math.min(had, engine.awaitedNanos(made));
            if (stamps.admittedNanos() == ServerStamps.UNKNOWN) {
                first.skip(computed);
            } else {
                first.until(PREFILL, computed);
            }
            first.until(SAMPLE, had);
            first.until(DELIVER, firstOf(stamps.readNanos()));
            first.until(WRITE, firstOf(stamps.writtenNanos()));
            first.until(READ, seenNanos);
        }
        return Optional.of(new TtftBreakdown(first.endingAt(dueNanos, seenNanos)));
    }

    private static long firstOf(long... nanos) {
        return nanos.length == 0 ? ServerStamps.UNKNOWN : nanos[0];
    }

    /** The parts so far, and the end of the last one. */
    private static final class Parts {
        private final long[] nanos = new long[PARTS.size()];
        private long before;

        private Parts(long startNanos) {
            before = startNanos;
        }

        /** Ends a part at a timestamp, if that is known and not before the previous one. */
        private void until(int part, long at) {
            if (at != ServerStamps.UNKNOWN && at >= before) {
                nanos[part] += at - before;
                before = at;
            }
        }

        /** Leaves the time until a timestamp unattributed. */
        private void skip(long at) {
            before = Math.max(before, at);
        }

        private long[] endingAt(long startNanos, long endNanos) {
            long known = 0;
            for (long part : nanos) {
                known += part;
            }
            nanos[UNATTRIBUTED] = endNanos - startNanos - known;
            return nanos;
        }
    }
}
