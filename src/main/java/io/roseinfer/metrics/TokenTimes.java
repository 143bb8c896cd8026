package io.roseinfer.metrics;

import java.util.Arrays;
import java.util.OptionalDouble;

/**
 * Arrival times of a request's tokens, and the latencies computed from them. Tokens arrive in events of one or more
 * tokens.
 *
 * @param nanos arrival time of each event, in ascending order
 * @param counts tokens of each event; empty if only the total, or not even that, is known
 * @param total tokens of all events; 0 if unknown
 */
public record TokenTimes(long[] nanos, int[] counts, int total) {
    /** Creates the times of events with one token each. */
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
     * Returns the inter-token latencies; empty if the events have no counts. The gap before an event of k tokens gives
     * k latencies of gap / k. Tokens of the first event have none.
     */
    public double[] itlNanos() {
        if (counts.length == 0) {
            return new double[0];
        }
        int sum = 0;
        for (int event = 1; event < counts.length; event++) {
            sum += counts[event];
        }
        double[] latencies = new double[sum];
        int token = 0;
        for (int event = 1; event < nanos.length; event++) {
            double latency = (double) (nanos[event] - nanos[event - 1]) / counts[event];
            for (int next = token + counts[event]; token < next; token++) {
                latencies[token] = latency;
            }
        }
        return latencies;
    }

    /**
     * Returns the tokens of an event. If only the total is known, it is spread evenly over the events, at least one
     * each.
     */
    public int tokensOf(int event) {
        return counts.length > 0
                ? counts[event]
                : Math.max(1, (int) ((event + 1L) * total / nanos.length - (long) event * total / nanos.length));
    }
}
