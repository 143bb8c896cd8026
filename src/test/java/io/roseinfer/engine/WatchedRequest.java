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

/** One request of a simulation, its reader, and what has been seen of it so far. */
final class WatchedRequest {
    private static final int NEVER = -1;

    /** Turns within which a cancel ends its stream and returns its blocks: its own, and that of a step already in flight. */
    private static final int CANCEL_TURNS = 2;

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
    private int passes;
    private int passesAsOldest;
    private int cancelledAt = NEVER;
    private int knownWhenCancelled;
    private int endedAt = NEVER;
    private int dueAt = NEVER;
    private int deliveredAtEnd;

    /**
     * A request that has been handed over.
     *
     * @param reads whether its reader looks at the stream before everything is over
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
     * Closes the stream, as a caller does who wants no more of it.
     *
     * @param turn the first that can know of it
     * @param underWay tokens that a step may yield before that
     */
    void cancel(int turn, int underWay) {
        if (cancelledAt == NEVER && !hasEnded()) {
            cancelledAt = turn;
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

    /** Whether it holds blocks and has tokens to come; the scheduler could preempt it. */
    boolean isRunning() {
        Optional<Sequence> sequence = live.sequence();
        return sequence.isPresent()
                && !sequence.get().isWaiting()
                && sequence.get().finishReason().isEmpty();
    }

    int length() {
        return live.sequence().map(Sequence::length).orElse(live.promptTokens());
    }

    /** Preemptions since this was asked last. */
    int newPreemptions() {
        int now = live.sequence().map(Sequence::preemptions).orElse(0);
        int before = preemptions;
        preemptions = now;
        return now - before;
    }

    int preemptions() {
        return preemptions;
    }

    /** Whether the step that is being launched is the first it is part of. */
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
     * A step admits one that came later.
     *
     * @param isOldest whether it has waited longest of all that were never admitted
     * @param maxAsOldest how often that may happen to it then
     */
    void passOver(boolean isOldest, int maxAsOldest) {
        passes++;
        passesAsOldest += isOldest ? 1 : 0;
        Require.that(!everAdmitted, "request %d starts over and was passed over", live.id());
        Require.that(passes <= AdmissionPolicy.MAX_SKIPS, "request %d was passed over %d times", live.id(), passes);
        Require.that(
                passesAsOldest <= maxAsOldest,
                "request %d waited longest and was passed over %d times",
                live.id(),
                passesAsOldest);
    }

    int passes() {
        return passes;
    }

    /** Notes that a step computes its tokens from {@code start} to {@code end}. */
    void computes(int start, int end) {
        cachedTokens = computedOnce == 0 ? start : cachedTokens;
        computedOnce = Math.max(computedOnce, end);
    }

    /** Returns how many of its tokens a step has computed or found in the cache, before a preemption too. */
    int computedOnce() {
        return computedOnce;
    }

    /** Takes what the stream has to give now; never waits. */
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

    /** Whether it will end at a deadline if nothing else ends it. */
    boolean hasDeadlineAhead() {
        return dueAt == NEVER && live.hasDeadline() && !hasEnded();
    }

    /** Notes the first turn that begins after its deadline. */
    void beginTurn(int turn, long nanos) {
        if (dueAt == NEVER && live.deadlineNanos() <= nanos) {
            dueAt = turn;
        }
    }

    /** What may never happen to a stream, whatever the turn. */
    void check(int turn, boolean engineStopped) {
        while (live.tokens().isPublished(delivered)) {
            delivered++;
        }
        if (endedAt == NEVER && hasEnded()) {
            endedAt = turn;
            deliveredAtEnd = delivered;
            trace.add(
                    Event.END,
                    live.id(),
                    stream.finishReason().orElseThrow().name().hashCode());
            checkTimeline();
        }
        Require.that(
                endedAt == NEVER || delivered == deliveredAtEnd, "request %d got a token after its end", live.id());
        if (cancelledAt != NEVER && !engineStopped && turn + 1 >= cancelledAt + CANCEL_TURNS) {
            checkCancelled();
        }
        if (dueAt != NEVER && !engineStopped && turn + 1 >= dueAt + CANCEL_TURNS) {
            Require.that(hasEnded(), "request %d was due before turn %d and still runs", live.id(), dueAt);
            Require.that(
                    heldBlocks() == 0, "request %d was due before turn %d and still holds blocks", live.id(), dueAt);
        }
    }

    boolean endedWith(FinishReason reason) {
        return stream.finishReason().equals(Optional.of(reason));
    }

    int endedAt() {
        return endedAt;
    }

    /** Whether nothing is left to watch: it ended before this turn and holds no block. */
    boolean isOver(int turn) {
        return endedAt != NEVER && endedAt < turn && heldBlocks() == 0;
    }

    private int heldBlocks() {
        return live.sequence().map(sequence -> sequence.table().size()).orElse(0);
    }

    private void checkCancelled() {
        Require.that(hasEnded(), "request %d was cancelled before turn %d and still runs", live.id(), cancelledAt);
        Require.that(
                heldBlocks() == 0,
                "request %d was cancelled before turn %d and still holds blocks",
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

    /** After everything: the tokens against those of the request alone. */
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
                Require.that(engineStopped || isCancelled(), "request %d: nobody cancelled it", live.id());
                Require.that(
                        engineStopped || ids.length <= knownWhenCancelled,
                        "request %d: %d tokens, %d when it was cancelled",
                        live.id(),
                        ids.length,
                        knownWhenCancelled);
            }
            case DEADLINE ->
                Require.that(
                        live.timeline().finishedNanos() >= live.deadlineNanos(),
                        "request %d ended at its deadline before it",
                        live.id());
            case ERROR -> Require.that(mayFail, "request %d failed and no device did", live.id());
        }
    }
}
