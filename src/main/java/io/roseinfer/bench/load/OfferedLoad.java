package io.roseinfer.bench.load;

import io.roseinfer.base.Check;
import io.roseinfer.base.SplitMix64;
import io.roseinfer.engine.Prompt;
import java.util.List;
import java.util.function.IntToLongFunction;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Requests and their send times.
 *
 * @param requests the requests in scheduled order, of a conversation only the first; its later turns are scheduled after an answer
 * @param pacing the meaning of their times
 */
public record OfferedLoad(List<OfferedRequest> requests, Pacing pacing) {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double NANOS_PER_MILLI = 1e6;

    /** The meaning of request times. */
    public enum Pacing {
        /** Times are ignored: each request is sent as soon as possible. */
        BURST,
        /** Each request is scheduled at its time, regardless of earlier requests: an open loop. */
        SCHEDULED,
        /** Each request is sent after the previous send returned, delayed by the difference of their times. */
        AFTER_SENT
    }

    public OfferedLoad {
        requests = List.copyOf(requests);
    }

    /** Returns a load with the times of an arrival process. */
    public static OfferedLoad of(List<OfferedRequest> requests, Arrivals arrivals) {
        long[] due = arrivals.dueNanos(requests.size());
        return at(requests, i -> due[i], arrivals.isBurst() ? Pacing.BURST : Pacing.SCHEDULED);
    }

    /** Returns a load with a fixed interval: request i is scheduled at i intervals, so that rounding errors do not add up. */
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

    /** Returns a load with the requests' own times, such as a trace's, divided by a speed. */
    public static OfferedLoad ofTrace(List<OfferedRequest> requests, double speed) {
        Check.that(speed > 0, "a trace that stands still");
        return new OfferedLoad(
                requests.stream()
                        .map(request -> request.withDueNanos(Math.round(request.dueNanos() / speed)))
                        .toList(),
                Pacing.SCHEDULED);
    }

    /** Returns whether requests are scheduled at their times. */
    public boolean isScheduled() {
        return pacing == Pacing.SCHEDULED;
    }

    /** Returns all requests, with later turns of conversations. */
    public Stream<OfferedRequest> turns() {
        return hasConversations() ? requests.stream().flatMap(OfferedRequest::turns) : requests.stream();
    }

    /** Returns the number of requests, with later turns of conversations. */
    public int size() {
        return hasConversations() ? Math.toIntExact(turns().count()) : requests.size();
    }

    /** Returns whether any request has a later turn. */
    public boolean hasConversations() {
        for (OfferedRequest request : requests) {
            if (request.next().isPresent()) {
                return true;
            }
        }
        return false;
    }

    /** Returns the scheduled time of the last request. */
    public long spanNanos() {
        return requests.isEmpty() ? 0 : requests.getLast().dueNanos();
    }

    /** Returns the requests scheduled before a time. */
    public OfferedLoad dueBefore(long nanos) {
        return new OfferedLoad(
                requests.stream().filter(request -> request.dueNanos() < nanos).toList(), pacing);
    }

    /** Returns the load with other prompts. */
    public OfferedLoad withPrompts(UnaryOperator<Prompt> exchange) {
        return new OfferedLoad(
                requests.stream()
                        .map(request -> request.mapTurns(turn -> turn.withPrompt(exchange.apply(turn.prompt()))))
                        .toList(),
                pacing);
    }

    /** Returns the load for a server whose completions end when the model ends them, at most after the requests' maximum tokens. */
    public OfferedLoad upToMaxTokens() {
        return new OfferedLoad(
                requests.stream()
                        .map(request -> request.mapTurns(turn -> turn.withOutputTokens(turn.maxTokens())))
                        .toList(),
                pacing);
    }

    /**
     * Returns the load with permuted token ids, so that prompts still share prefixes with each other, but not with this load. Text prompts
     * are unchanged.
     *
     * @param key seed of the permutation
     */
    public OfferedLoad withOtherIds(long key) {
        int most = turns().flatMapToInt(OfferedLoad::ids).max().orElse(0);
        int[] others = permutation(most + 1, key);
        return withPrompts(prompt -> prompt instanceof Prompt.Tokens tokens
                ? new Prompt.Tokens(
                        IntStream.of(tokens.ids()).map(id -> others[id]).toArray())
                : prompt);
    }

    private static IntStream ids(OfferedRequest request) {
        return request.prompt() instanceof Prompt.Tokens tokens ? IntStream.of(tokens.ids()) : IntStream.empty();
    }

    /** Returns a pseudorandom permutation of the numbers below {@code size}. */
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

    /** Returns the rate per second of a number of requests whose first and last are {@code spanNanos} apart. */
    public static double rate(int requests, long spanNanos) {
        return spanNanos > 0 ? (requests - 1) / (spanNanos / NANOS_PER_SECOND) : Double.POSITIVE_INFINITY;
    }
}
