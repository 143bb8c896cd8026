package io.roseinfer.metrics;

import java.util.Arrays;
import java.util.OptionalDouble;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/**
 * When the tokens of a request came, and the latencies that this defines. Tokens come in events, each of one token or more.
 *
 * @param nanos when each event came, in ascending order
 * @param counts tokens of each event; empty if at most their total is known
 * @param total tokens of all events together; 0 if it is not known
 */
public record TokenTimes(long[] nanos, int[] counts, int total) {
    /** Tokens that came one by one. */
    public static TokenTimes oneByOne(long... nanos) {
        int[] counts = new int[nanos.length];
        Arrays.fill(counts, 1);
        return new TokenTimes(nanos, counts, nanos.length);
    }

    /** Returns the time to first token from a start, in nanoseconds; empty without a token. */
    public OptionalDouble ttftNanos(long startNanos) {
        return nanos.length == 0 ? OptionalDouble.empty() : OptionalDouble.of((double) (nanos[0] - startNanos));
    }

    /** Returns the time per output token after the first: (last − first) / (tokens − 1); empty with fewer than two tokens. */
    public OptionalDouble tpotNanos() {
        return total < 2 || nanos.length == 0
                ? OptionalDouble.empty()
                : OptionalDouble.of((double) (nanos[nanos.length - 1] - nanos[0]) / (total - 1));
    }

    /**
     * Returns the inter-token latencies; none if events have no counts. A gap before an event of k tokens counts as k gaps of a k-th.
     * Tokens that came together with the first have none.
     */
    public double[] itlNanos() {
        if (counts.length == 0) {
            return new double[0];
        }
        return IntStream.range(1, nanos.length)
                .boxed()
                .flatMapToDouble(event -> {
                    double gap = (double) (nanos[event] - nanos[event - 1]) / counts[event];
                    return DoubleStream.generate(() -> gap).limit(counts[event]);
                })
                .toArray();
    }

    /** Returns the tokens of an event. If only their total is known, it is spread evenly over the events, with at least one for each. */
    public int tokensOf(int event) {
        return counts.length > 0
                ? counts[event]
                : Math.max(1, (int) ((event + 1L) * total / nanos.length - (long) event * total / nanos.length));
    }
}
