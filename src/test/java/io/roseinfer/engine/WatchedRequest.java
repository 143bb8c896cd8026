package io.roseinfer.engine;

import io.roseinfer.base.Clock;
import io.roseinfer.engine.Trace.Event;
import io.roseinfer.metrics.RequestTimeline;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.scheduler.Sequence;
import io.roseinfer.scheduler.SequenceProbe;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** A request of a simulation, with its reader and everything observed so far. */
final class WatchedRequest {
    private static final int NEVER = -1;

    /**
     * Iterations within which a cancellation ends its stream and releases its blocks: the current one, and one for a step in
     * flight.
     */
    private static final int CANCEL_ITERATIONS = 2;

    private final LiveRequest live;
    private final RequestStream stream;
    private final boolean reads;
    private final Trace trace;

    private int delivered;
    private int read;
    private int preemptions;
    private boolean everAdmitted;
    private int computedOnce;
    private int cachedTokens;
    private int skips;
    private int skipsAsOldest;
    private int cancelledAt = NEVER;
    private int knownWhenCancelled;
    private int endedAt = NEVER;
    private int dueAt = NEVER;
    private int deliveredAtEnd;

    /**
     * Creates a submitted request.
     *
     * @param reads whether its reader reads the stream before the end of the run
     */
    WatchedRequest(LiveRequest live, Clock clock, Runnable cancel, boolean reads, Trace trace) {
        this.live = live;
        this.stream = new RequestStream(live, Optional.empty(), clock, cancel);
        this.reads = reads;
        this.trace = trace;
    }

    LiveRequest live() {
        return live;
    }

    boolean reads() {
        return reads;
    }

    /**
     * Closes the stream like a caller.
     *
     * @param iteration the first iteration that can know of it
     * @param underWay tokens that a step may deliver before that
     */
    void cancel(int iteration, int underWay) {
        if (cancelledAt == NEVER && !hasEnded()) {
            cancelledAt = iteration;
            knownWhenCancelled = live.sequence()
                            .map(sequence -> sequence.length() - sequence.promptLength())
                            .orElse(0)
                    + underWay;
        }
        stream.close();
    }

    boolean isCancelled() {
        return cancelledAt != NEVER;
    }

    boolean hasEnded() {
        return live.tokens().isEnded();
    }

    /** Returns whether it holds blocks and has tokens to come, so that it could be preempted. */
    boolean isRunning() {
        Optional<Sequence> sequence = live.sequence();
        return sequence.isPresent()
                && !sequence.get().isWaiting()
                && sequence.get().finishReason().isEmpty();
    }

    int length() {
        return live.sequence().map(Sequence::length).orElse(live.promptTokens());
    }

    /** Returns the preemptions since the last call. */
    int newPreemptions() {
        int now = live.sequence().map(Sequence::preemptions).orElse(0);
        int before = preemptions;
        preemptions = now;
        return now - before;
    }

    int preemptions() {
        return preemptions;
    }

    /** Returns whether the step being launched is its first. */
    boolean isAdmitted() {
        boolean admitted = !everAdmitted
                && live.sequence().filter(s -> SequenceProbe.inFlight(s) > 0).isPresent();
        everAdmitted |= admitted;
        return admitted;
    }

    boolean isWaiting() {
        return !hasEnded() && live.sequence().filter(Sequence::isWaiting).isPresent();
    }

    /**
     * Records that a step admits a later request.
     *
     * @param isOldest whether it is the oldest of all that were never admitted
     * @param maxAsOldest maximum of such steps while it is the oldest
     */
    void skip(boolean isOldest, int maxAsOldest) {
        skips++;
        skipsAsOldest += isOldest ? 1 : 0;
        Require.that(
                !everAdmitted
                        || SequenceProbe.wasPreemptedByChoice(live.sequence().orElseThrow()),
                "request %d was restarted and skipped",
                live.id());
        Require.that(skips <= AdmissionPolicy.MAX_PASSES, "request %d was skipped %d times", live.id(), skips);
        Require.that(
                skipsAsOldest <= maxAsOldest,
                "request %d waited longest and was skipped %d times",
                live.id(),
                skipsAsOldest);
    }

    int skips() {
        return skips;
    }

    /** Records that a step computes its tokens from {@code start} to {@code end}. */
    void computes(int start, int end) {
        cachedTokens = computedOnce == 0 ? start : cachedTokens;
        computedOnce = Math.max(computedOnce, end);
    }

    /**
     * Returns how many of its tokens were computed or found in the cache, including before a preemption. Once a token is
     * generated, these are all but the last: accepted drafts, too.
     */
    int computedOnce() {
        return length() > live.promptTokens() ? Math.max(computedOnce, length() - 1) : computedOnce;
    }

    /** Reads all available tokens without waiting. */
    void read() {
        while (live.tokens().isPublished(read)) {
            int id = read % 2 == 0
                    ? stream.next().id()
                    : stream.poll(Duration.ZERO).orElseThrow().id();
            trace.add(Event.READ, live.id(), id);
            read++;
        }
        Require.that(stream.isExhausted() == hasEnded(), "request %d: all is read, ended %s", live.id(), hasEnded());
    }

    /** Returns whether it will end at a deadline unless something else ends it. */
    boolean hasDeadlineAhead() {
        return dueAt == NEVER && live.hasDeadline() && !hasEnded();
    }

    /** Records the first iteration that starts after its deadline. */
    void beginIteration(int iteration, long nanos) {
        if (dueAt == NEVER && live.expiryNanos() <= nanos) {
            dueAt = iteration;
        }
    }

    /** Checks the invariants of a stream. */
    void check(int iteration, boolean engineStopped) {
        while (live.tokens().isPublished(delivered)) {
            delivered++;
        }
        if (endedAt == NEVER && hasEnded()) {
            endedAt = iteration;
            deliveredAtEnd = delivered;
            trace.add(
                    Event.END,
                    live.id(),
                    stream.finishReason().orElseThrow().name().hashCode());
            checkTimeline();
        }
        Require.that(
                endedAt == NEVER || delivered == deliveredAtEnd, "request %d got a token after its end", live.id());
        if (cancelledAt != NEVER && !engineStopped && iteration + 1 >= cancelledAt + CANCEL_ITERATIONS) {
            checkCancelled();
        }
        if (dueAt != NEVER && !engineStopped && iteration + 1 >= dueAt + CANCEL_ITERATIONS) {
            Require.that(hasEnded(), "request %d was due before iteration %d and still runs", live.id(), dueAt);
            Require.that(
                    heldBlocks() == 0,
                    "request %d was due before iteration %d and still holds blocks",
                    live.id(),
                    dueAt);
        }
    }

    boolean endedWith(FinishReason reason) {
        return stream.finishReason().equals(Optional.of(reason));
    }

    int endedAt() {
        return endedAt;
    }

    /** Returns whether it ended before this iteration and holds no blocks. */
    boolean isOver(int iteration) {
        return endedAt != NEVER && endedAt < iteration && heldBlocks() == 0;
    }

    private int heldBlocks() {
        return live.sequence().map(sequence -> sequence.table().size()).orElse(0);
    }

    private void checkCancelled() {
        Require.that(hasEnded(), "request %d was cancelled before iteration %d and still runs", live.id(), cancelledAt);
        Require.that(
                heldBlocks() == 0,
                "request %d was cancelled before iteration %d and still holds blocks",
                live.id(),
                cancelledAt);
    }

    private void checkTimeline() {
        RequestTimeline times = live.timeline();
        long last = times.tokenizedNanos();
        Require.that(last <= times.admittedNanos(), "request %d was admitted before it was tokenized", live.id());
        last = times.admittedNanos();
        for (long token : times.tokenNanos()) {
            Require.that(last <= token, "request %d: a token's stamp is before the one before it", live.id());
            last = token;
        }
        Require.that(last <= times.finishedNanos(), "request %d finished before its last token", live.id());
    }

    /** Compares the tokens with the solo run, after everything has ended. */
    void checkOutcome(List<GeneratedToken> alone, boolean endsAtEndOfText, boolean mayFail, boolean engineStopped) {
        read();
        int[] ids = new int[read];
        for (int i = 0; i < read; i++) {
            ids[i] = live.tokens().id(i);
            Require.that(
                    i < alone.size() && ids[i] == alone.get(i).id(),
                    "request %d: token %d is %d, alone it is %s",
                    live.id(),
                    i,
                    ids[i],
                    i < alone.size() ? alone.get(i).id() : "not there");
            Require.that(
                    Float.compare(live.tokens().logprob(i), alone.get(i).logprob()) == 0
                            && live.tokens().top(i).equals(alone.get(i).top()),
                    "request %d: token %d has log-probability %s and alternatives %s, alone %s",
                    live.id(),
                    i,
                    live.tokens().logprob(i),
                    live.tokens().top(i),
                    alone.get(i));
        }
        Require.that(
                live.cachedTokens() == cachedTokens,
                "request %d had %d tokens in the prefix cache, counted %d",
                live.id(),
                live.cachedTokens(),
                cachedTokens);
        FinishReason reason = stream.finishReason().orElseThrow();
        Require.that(
                engineStopped || live.sequence().flatMap(Sequence::finishReason).orElse(reason) == reason,
                "request %d ended with %s and its stream says %s",
                live.id(),
                live.sequence().flatMap(Sequence::finishReason),
                reason);
        switch (reason) {
            case LENGTH, STOP -> {
                Require.that(ids.length == alone.size(), "request %d: %d tokens", live.id(), ids.length);
                Require.that(
                        endsAtEndOfText == (reason == FinishReason.STOP),
                        "request %d ended with %s",
                        live.id(),
                        reason);
            }
            case CANCELLED -> {
                Require.that(engineStopped || isCancelled(), "request %d: cancelled without a cause", live.id());
                Require.that(
                        engineStopped || ids.length <= knownWhenCancelled,
                        "request %d: %d tokens, %d when it was cancelled",
                        live.id(),
                        ids.length,
                        knownWhenCancelled);
            }
            case DEADLINE ->
                Require.that(
                        live.timeline().finishedNanos() >= live.expiryNanos(),
                        "request %d ended at its deadline before it",
                        live.id());
            case ERROR -> Require.that(mayFail, "request %d failed and no device did", live.id());
        }
    }
}
