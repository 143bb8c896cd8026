package io.roseinfer.bench.http;

import io.roseinfer.bench.load.OfferedRequest.Traits;
import io.roseinfer.metrics.TokenTimes;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The result of one request. Times are nanoseconds of the run's clock.
 *
 * @param id its index in the load
 * @param promptTokens number of token ids sent, or -1 for text
 * @param askedTokens requested maximum number of tokens
 * @param times times of sending and of the response
 * @param arrivals times and counts of received tokens
 * @param usage counts reported by the server
 * @param server timestamps reported by the server, if any
 * @param error reason for the failure; empty if complete
 * @param engine response of an in-process engine; empty otherwise
 * @param traits traits of the request
 */
public record CallResult(
        int id,
        int promptTokens,
        int askedTokens,
        Times times,
        Arrived arrivals,
        Usage usage,
        Optional<ServerStamps> server,
        Optional<String> error,
        Optional<EngineResponse> engine,
        Traits traits) {

    /** Creates the result of a request to a server, without traits. */
    public CallResult(
            int id,
            int promptTokens,
            int askedTokens,
            Times times,
            Arrived arrivals,
            Usage usage,
            Optional<ServerStamps> server,
            Optional<String> error) {
        this(id, promptTokens, askedTokens, times, arrivals, usage, server, error, Optional.empty(), Traits.NONE);
    }

    public CallResult withTraits(Traits value) {
        return new CallResult(id, promptTokens, askedTokens, times, arrivals, usage, server, error, engine, value);
    }

    /**
     * The times of a request.
     *
     * @param dueNanos the request's scheduled time
     * @param readyNanos when the client could send it: later than scheduled if it waited for a concurrency limit
     * @param sentNanos just before its first byte was written
     * @param lastChoiceNanos when the last event with a choice arrived
     * @param endNanos when the last byte arrived
     */
    public record Times(long dueNanos, long readyNanos, long sentNanos, long lastChoiceNanos, long endNanos) {}

    /** Sets of events that may have one token each, the most likely set first; the final usage decides. */
    private static final List<Set<Call.Content>> ONE_TOKEN_EACH = List.of(
            Set.of(Call.Content.TEXT),
            Set.of(Call.Content.TEXT, Call.Content.EMPTY),
            Set.of(Call.Content.TEXT, Call.Content.EMPTY, Call.Content.ROLE));

    /** The source of the token count of each event. */
    public enum Counted {
        /** Events list the token ids. */
        IDS,
        /** Events contain the number of tokens so far. */
        RUNNING_USAGE,
        /** The number of events equals the number of tokens in the final usage, so each has one. */
        TOTAL,
        /** Unknown; at most the total is known. */
        NOT
    }

    /**
     * The events with tokens. The arrays are not copied and must not be modified.
     *
     * @param counted source of the counts
     * @param nanos arrival time of each event
     * @param tokens tokens of each event; empty if unknown
     */
    public record Arrived(Counted counted, long[] nanos, int[] tokens) {
        /** Returns the tokens of all events. */
        public int sum() {
            int sum = 0;
            for (int each : tokens) {
                sum += each;
            }
            return sum;
        }

        /** Returns whether {@code other} has equal events. */
        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Arrived that
                    && counted == that.counted
                    && Arrays.equals(nanos, that.nanos)
                    && Arrays.equals(tokens, that.tokens);
        }

        @Override
        public int hashCode() {
            return 31 * Arrays.hashCode(nanos) + Arrays.hashCode(tokens);
        }

        @Override
        public String toString() {
            return "Arrived[counted=" + counted + ", nanos=" + Arrays.toString(nanos) + ", tokens="
                    + Arrays.toString(tokens) + "]";
        }
    }

    /**
     * The server's counts for a request, -1 where missing.
     *
     * @param cachedTokens prompt tokens found in the prefix cache
     */
    public record Usage(int promptTokens, int completionTokens, int totalTokens, int cachedTokens) {
        /** Creates counts without cached tokens. */
        public Usage(int promptTokens, int completionTokens, int totalTokens) {
            this(promptTokens, completionTokens, totalTokens, -1);
        }
    }

    /** Returns the result of a call that has ended. */
    static CallResult of(Call call) {
        return new CallResult(
                call.id,
                call.request.promptTokens(),
                call.request.outputTokens(),
                new Times(call.dueNanos, call.readyNanos, call.sentNanos, call.lastChoiceNanos, call.endNanos),
                arrived(call),
                new Usage(call.promptTokens, call.completionTokens, call.totalTokens, call.cachedTokens),
                call.server,
                call.error.isEmpty() ? Optional.empty() : Optional.of(call.error),
                call.engine,
                call.request.traits());
    }

    private static Arrived arrived(Call call) {
        int n = call.events;
        int[] ids = Arrays.copyOf(call.eventIds, n);
        int[] usage = Arrays.copyOf(call.eventUsage, n);
        if (Arrays.stream(ids).anyMatch(count -> count >= 0)) {
            return counted(call, Counted.IDS, i -> Math.max(0, ids[i]));
        }
        if (n > 0 && Arrays.stream(usage).allMatch(count -> count >= 0)) {
            return counted(call, Counted.RUNNING_USAGE, i -> Math.max(0, usage[i] - (i > 0 ? usage[i - 1] : 0)));
        }
        for (Set<Call.Content> tokens : ONE_TOKEN_EACH) {
            IntPredicate isToken = i -> tokens.contains(call.eventContent[i]);
            if (call.completionTokens == IntStream.range(0, n).filter(isToken).count()) {
                return counted(call, Counted.TOTAL, i -> isToken.test(i) ? 1 : 0);
            }
        }
        long[] nanos = IntStream.range(0, n)
                .filter(i -> call.eventContent[i] == Call.Content.TEXT)
                .mapToLong(i -> call.eventNanos[i])
                .toArray();
        return new Arrived(Counted.NOT, nanos, new int[0]);
    }

    private static Arrived counted(Call call, Counted by, IntUnaryOperator tokens) {
        int[] with = IntStream.range(0, call.events)
                .filter(i -> tokens.applyAsInt(i) > 0)
                .toArray();
        return new Arrived(
                by,
                Arrays.stream(with).mapToLong(i -> call.eventNanos[i]).toArray(),
                Arrays.stream(with).map(tokens).toArray());
    }

    /** Returns whether the request completed. */
    public boolean isComplete() {
        return error.isEmpty();
    }

    /** Returns the generated tokens, by ids if there are any, otherwise by usage; 0 if unknown. */
    public int tokens() {
        return arrivals.counted() == Counted.IDS ? arrivals.sum() : Math.max(0, usage.completionTokens());
    }

    /** Returns the prompt tokens: the ids sent, or the server's count for text. */
    public int inputTokens() {
        return promptTokens >= 0 ? promptTokens : Math.max(0, usage.promptTokens());
    }

    /** Returns the arrival times of tokens. */
    public TokenTimes tokenTimes() {
        return new TokenTimes(arrivals.nanos(), arrivals.tokens(), tokens());
    }

    /** Returns the time to first token since the request was sent. */
    public OptionalDouble ttftNanos() {
        return tokenTimes().ttftNanos(times.sentNanos());
    }

    /** Returns the time to first token since the request's scheduled time. */
    public OptionalDouble ttftFromDueNanos() {
        return tokenTimes().ttftNanos(times.dueNanos());
    }

    /** Returns the latency since the request was sent, until the last event with a choice. */
    public double latencyNanos() {
        return (double) times.lastChoiceNanos() - times.sentNanos();
    }

    /** Returns the latency since the request's scheduled time, until the last event with a choice. */
    public double latencyFromDueNanos() {
        return (double) times.lastChoiceNanos() - times.dueNanos();
    }

    /** Returns the prompt tokens found in the server's prefix cache, by its timestamps or usage; -1 if unknown. */
    public int cachedTokens() {
        return Math.max(
                usage.cachedTokens(),
                server.map(stamps -> stamps.served().cachedTokens()).orElse(-1));
    }

    /** Returns the dispatch lag: how late the client sent a request that it could send. */
    public long lagNanos() {
        return times.sentNanos() - times.readyNanos();
    }

    /** Returns the time that the request waited for a concurrency limit. */
    public long heldNanos() {
        return times.readyNanos() - times.dueNanos();
    }
}
