package io.roseinfer.bench.load;

import io.roseinfer.base.Check;
import io.roseinfer.base.SplitMix64;
import io.roseinfer.engine.Prompt;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Requests with times of their own, whatever becomes of those before them: an open loop.
 *
 * @param requests in the order they are due
 * @param isScheduled whether their times mean anything; without it each is sent as soon as it may be
 */
public record OfferedLoad(List<OfferedRequest> requests, boolean isScheduled) {
    private static final double NANOS_PER_SECOND = 1e9;

    public OfferedLoad {
        requests = List.copyOf(requests);
    }

    /** The requests at the times of an arrival process, in place of their own. */
    public static OfferedLoad of(List<OfferedRequest> requests, Arrivals arrivals) {
        long[] due = arrivals.dueNanos(requests.size());
        return new OfferedLoad(
                IntStream.range(0, due.length)
                        .mapToObj(i -> requests.get(i).withDueNanos(due[i]))
                        .toList(),
                !arrivals.isBurst());
    }

    /** The requests at their own times, those of a trace for instance, which go by so many times faster. */
    public static OfferedLoad ofTrace(List<OfferedRequest> requests, double speed) {
        Check.that(speed > 0, "a trace that stands still");
        return new OfferedLoad(
                requests.stream()
                        .map(request -> request.withDueNanos(Math.round(request.dueNanos() / speed)))
                        .toList(),
                true);
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
        return new OfferedLoad(
                requests.stream().map(request -> exchanged(request, others)).toList(), isScheduled);
    }

    private static IntStream ids(OfferedRequest request) {
        return request.prompt() instanceof Prompt.Tokens tokens ? IntStream.of(tokens.ids()) : IntStream.empty();
    }

    private static OfferedRequest exchanged(OfferedRequest request, int... others) {
        return request.prompt() instanceof Prompt.Tokens tokens
                ? new OfferedRequest(
                        request.dueNanos(),
                        new Prompt.Tokens(
                                IntStream.of(tokens.ids()).map(id -> others[id]).toArray()),
                        request.outputTokens())
                : request;
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
