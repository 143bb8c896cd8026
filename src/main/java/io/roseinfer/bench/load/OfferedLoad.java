package io.roseinfer.bench.load;

import io.roseinfer.base.Check;
import io.roseinfer.base.SplitMix64;
import io.roseinfer.engine.Prompt;
import java.util.List;
import java.util.function.IntToLongFunction;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/**
 * Requests, and when they are sent.
 *
 * @param requests in the order they are due
 * @param pacing what their times mean
 */
public record OfferedLoad(List<OfferedRequest> requests, Pacing pacing) {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double NANOS_PER_MILLI = 1e6;

    /** The meaning of the times of a load's requests. */
    public enum Pacing {
        /** Nothing: each is sent as soon as it may be. */
        BURST,
        /** Each is due then, regardless of the requests before it: an open loop. */
        SCHEDULED,
        /** Each is sent as long after the request before it had been sent as the times of the two are apart. */
        AFTER_SENT
    }

    public OfferedLoad {
        requests = List.copyOf(requests);
    }

    /** The requests at the times of an arrival process, in place of their own. */
    public static OfferedLoad of(List<OfferedRequest> requests, Arrivals arrivals) {
        long[] due = arrivals.dueNanos(requests.size());
        return at(requests, i -> due[i], arrivals.isBurst() ? Pacing.BURST : Pacing.SCHEDULED);
    }

    /** The requests an interval apart, in place of their own times: request i at i intervals, so that fractions do not add up. */
    public static OfferedLoad every(double intervalMillis, List<OfferedRequest> requests, Pacing pacing) {
        return at(requests, i -> Math.round(i * intervalMillis * NANOS_PER_MILLI), pacing);
    }

    private static OfferedLoad at(List<OfferedRequest> requests, IntToLongFunction dueNanos, Pacing pacing) {
        return new OfferedLoad(
                IntStream.range(0, requests.size())
                        .mapToObj(i -> requests.get(i).withDueNanos(dueNanos.applyAsLong(i)))
                        .toList(),
                pacing);
    }

    /** The requests at their own times, those of a trace for instance, which go by so many times faster. */
    public static OfferedLoad ofTrace(List<OfferedRequest> requests, double speed) {
        Check.that(speed > 0, "a trace that stands still");
        return new OfferedLoad(
                requests.stream()
                        .map(request -> request.withDueNanos(Math.round(request.dueNanos() / speed)))
                        .toList(),
                Pacing.SCHEDULED);
    }

    /** Returns whether every request is due at a time. */
    public boolean isScheduled() {
        return pacing == Pacing.SCHEDULED;
    }

    /** Returns the time from the first request to the last, as they are due. */
    public long spanNanos() {
        return requests.isEmpty() ? 0 : requests.getLast().dueNanos();
    }

    /** The same requests with other prompts. */
    public OfferedLoad withPrompts(UnaryOperator<Prompt> exchange) {
        return new OfferedLoad(
                requests.stream()
                        .map(request -> new OfferedRequest(
                                request.dueNanos(), exchange.apply(request.prompt()), request.outputTokens()))
                        .toList(),
                pacing);
    }

    /**
     * The same load of other token ids: every id is exchanged for another one, the same everywhere, so that what prompts shared they share
     * still, and nothing with this load. Prompts of text stay as they are.
     *
     * @param key the same key gives the same load
     */
    public OfferedLoad withOtherIds(long key) {
        int most = requests.stream().flatMapToInt(request -> ids(request)).max().orElse(0);
        int[] others = permutation(most + 1, key);
        return withPrompts(prompt -> prompt instanceof Prompt.Tokens tokens
                ? new Prompt.Tokens(
                        IntStream.of(tokens.ids()).map(id -> others[id]).toArray())
                : prompt);
    }

    private static IntStream ids(OfferedRequest request) {
        return request.prompt() instanceof Prompt.Tokens tokens ? IntStream.of(tokens.ids()) : IntStream.empty();
    }

    /** The numbers below {@code size} in an order that the key decides. */
    private static int[] permutation(int size, long key) {
        int[] order = IntStream.range(0, size).toArray();
        for (int i = size - 1; i > 0; i--) {
            int j = (int) (SplitMix64.uniform(key, i) * (i + 1));
            int other = order[j];
            order[j] = order[i];
            order[i] = other;
        }
        return order;
    }

    /** How many per second so many requests are whose first and last are so far apart. */
    public static double rate(int requests, long spanNanos) {
        return spanNanos > 0 ? (requests - 1) / (spanNanos / NANOS_PER_SECOND) : Double.POSITIVE_INFINITY;
    }
}
