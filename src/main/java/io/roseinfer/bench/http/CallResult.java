package io.roseinfer.bench.http;

import io.roseinfer.metrics.TokenTimes;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/**
 * What became of one request. Times are nanoseconds of the run's clock.
 *
 * @param id its index in the load
 * @param promptTokens token ids that were sent, or -1 for text
 * @param askedTokens most tokens that were asked for
 * @param times when it was sent and answered
 * @param arrivals when tokens came, and how many
 * @param usage what the server says it counted
 * @param server what the other side stamped, where it does
 * @param error why it failed; empty if it did not
 * @param engine the whole answer of an engine in this process; empty otherwise
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
        Optional<EngineAnswer> engine) {

    /** The result of a request that no engine in this process answered. */
    public CallResult(
            int id,
            int promptTokens,
            int askedTokens,
            Times times,
            Arrived arrivals,
            Usage usage,
            Optional<ServerStamps> server,
            Optional<String> error) {
        this(id, promptTokens, askedTokens, times, arrivals, usage, server, error, Optional.empty());
    }

    /**
     * The times of a request.
     *
     * @param dueNanos when it was to be sent
     * @param readyNanos when nothing held it back but the client itself: later than due if a bound on concurrency made it wait
     * @param sentNanos just before its first byte was written
     * @param lastChoiceNanos when the last event with a choice came
     * @param endNanos when the last byte came
     */
    public record Times(long dueNanos, long readyNanos, long sentNanos, long lastChoiceNanos, long endNanos) {}

    /** Which events may be those with a token, the likeliest first; the final usage says which are. */
    private static final List<Set<Call.Content>> ONE_TOKEN_EACH = List.of(
            Set.of(Call.Content.TEXT),
            Set.of(Call.Content.TEXT, Call.Content.EMPTY),
            Set.of(Call.Content.TEXT, Call.Content.EMPTY, Call.Content.ROLE));

    /** How it is known which event brought how many tokens. */
    public enum Counted {
        /** Events list the token ids. */
        IDS,
        /** Events say how many tokens there have been so far. */
        RUNNING_USAGE,
        /** There are as many events with text, or with and without, as tokens by the final usage, so each has one. */
        TOTAL,
        /** Nobody knows; the total alone may be known. */
        NOT
    }

    /**
     * The events that brought tokens.
     *
     * @param counted how the counts are known
     * @param nanos when each event came
     * @param tokens how many each had; empty if not counted
     */
    public record Arrived(Counted counted, List<Long> nanos, List<Integer> tokens) {
        public Arrived {
            nanos = List.copyOf(nanos);
            tokens = List.copyOf(tokens);
        }

        /** Returns the tokens of all events. */
        public int sum() {
            return tokens.stream().mapToInt(Integer::intValue).sum();
        }
    }

    /**
     * The server's counts of a request, each -1 if it does not send it.
     *
     * @param cachedTokens prompt tokens that its prefix cache had
     */
    public record Usage(int promptTokens, int completionTokens, int totalTokens, int cachedTokens) {
        /** Counts of a server that does not send those of its prefix cache. */
        public Usage(int promptTokens, int completionTokens, int totalTokens) {
            this(promptTokens, completionTokens, totalTokens, -1);
        }
    }

    /** Sums up a call that has ended. */
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
                call.engine);
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
        List<Long> nanos = IntStream.range(0, n)
                .filter(i -> call.eventContent[i] == Call.Content.TEXT)
                .mapToObj(i -> call.eventNanos[i])
                .toList();
        return new Arrived(Counted.NOT, nanos, List.of());
    }

    private static Arrived counted(Call call, Counted by, java.util.function.IntUnaryOperator tokens) {
        List<Integer> with = IntStream.range(0, call.events)
                .filter(i -> tokens.applyAsInt(i) > 0)
                .boxed()
                .toList();
        return new Arrived(
                by,
                with.stream().map(i -> call.eventNanos[i]).toList(),
                with.stream().map(tokens::applyAsInt).toList());
    }

    /** Whether it was answered to its end. */
    public boolean isComplete() {
        return error.isEmpty();
    }

    /** Tokens that were generated: by ids if there are any, by usage otherwise; 0 if nobody has counted. */
    public int tokens() {
        return arrivals.counted() == Counted.IDS ? arrivals.sum() : Math.max(0, usage.completionTokens());
    }

    /** Tokens of the prompt: those sent, or what the server counted of a text. */
    public int inputTokens() {
        return promptTokens >= 0 ? promptTokens : Math.max(0, usage.promptTokens());
    }

    /** Returns when its tokens came. */
    public TokenTimes tokenTimes() {
        return new TokenTimes(
                arrivals.nanos().stream().mapToLong(Long::longValue).toArray(),
                arrivals.tokens().stream().mapToInt(Integer::intValue).toArray(),
                tokens());
    }

    /** Returns the time to first token, from when the request was sent. */
    public OptionalDouble ttftNanos() {
        return tokenTimes().ttftNanos(times.sentNanos());
    }

    /** Returns the time to first token, from when the request was to be sent. */
    public OptionalDouble ttftFromDueNanos() {
        return tokenTimes().ttftNanos(times.dueNanos());
    }

    /** From when it was sent until the last event with a choice. */
    public double latencyNanos() {
        return (double) times.lastChoiceNanos() - times.sentNanos();
    }

    /** The same from when it was to be sent. */
    public double latencyFromDueNanos() {
        return (double) times.lastChoiceNanos() - times.dueNanos();
    }

    /** Returns the prompt tokens that the server's prefix cache had, as its timestamps or its usage say; -1 if neither does. */
    public int cachedTokens() {
        return Math.max(
                usage.cachedTokens(),
                server.map(stamps -> stamps.served().cachedTokens()).orElse(-1));
    }

    /** How much later it was sent than it could have been. */
    public long lagNanos() {
        return times.sentNanos() - times.readyNanos();
    }

    /** How long a bound on concurrency held it back. */
    public long heldNanos() {
        return times.readyNanos() - times.dueNanos();
    }
}
