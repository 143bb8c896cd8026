package io.roseinfer.engine;

import io.roseinfer.base.RoseException;
import io.roseinfer.metrics.RequestTimeline;
import io.roseinfer.scheduler.FinishReason;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.LongSupplier;
import java.util.stream.LongStream;

/** A submit call of one caller, with its outcome and timing. */
final class Call {
    /** The token of a step, and one of an iteration that started earlier. */
    private static final int TOKENS_UNDER_WAY = 2;

    private final int number;
    private final GenerationRequest request;
    private final int begun;
    private int returned = Integer.MAX_VALUE;
    private int ended = Integer.MAX_VALUE;
    private Optional<TokenStream> stream = Optional.empty();
    private Optional<Throwable> refusal = Optional.empty();
    private Optional<Completion> completion = Optional.empty();
    private Optional<RoseException> failure = Optional.empty();
    private final List<GeneratedToken> read = new ArrayList<>();
    private boolean readsAll;
    private OptionalInt admittedBy = OptionalInt.empty();
    private int admissions;
    private int skips;
    private boolean closed;
    private long closedNanos = Long.MAX_VALUE;

    Call(int number, GenerationRequest request, int now) {
        this.number = number;
        this.request = request;
        this.begun = now;
    }

    void accepted(TokenStream newStream, int now) {
        stream = Optional.of(newStream);
        returned = now;
    }

    void refused(Throwable reason, int now) {
        refusal = Optional.of(reason);
        returned = now;
        ended = now;
    }

    /** Counts a replica that runs it. */
    void admitted() {
        admissions++;
    }

    int admissions() {
        return admissions;
    }

    /** Records the end as soon as another thread could know of it. */
    void observe(int now) {
        if (ended == Integer.MAX_VALUE && hasEnded()) {
            ended = now;
        }
    }

    @Override
    public String toString() {
        return "request " + number;
    }

    GenerationRequest request() {
        return request;
    }

    int begun() {
        return begun;
    }

    /** Returns the replica that admitted it last, which may have requeued it since. */
    OptionalInt admittedBy() {
        return admittedBy;
    }

    void admittedBy(int replica) {
        admittedBy = OptionalInt.of(replica);
    }

    /** Counts a later call that was admitted earlier; returns the count. */
    int skip() {
        return ++skips;
    }

    /** Returns whether it was accepted before {@code moment}. */
    boolean isAcceptedBefore(int moment) {
        return isAccepted() && returned < moment;
    }

    /** Returns whether an engine that stopped may have ended it. */
    boolean mayBeTerminated() {
        return isAccepted() && reason() == FinishReason.CANCELLED;
    }

    /** Returns whether only an engine that stopped can have ended it. */
    boolean isTerminated() {
        return !closed && mayBeTerminated();
    }

    boolean isRunning() {
        return isAccepted() && !hasEnded();
    }

    boolean isAccepted() {
        return stream.isPresent();
    }

    boolean isOverloaded() {
        return refusal.filter(RoseException.Overloaded.class::isInstance).isPresent();
    }

    Throwable refusal() {
        return refusal.orElseThrow();
    }

    boolean hasEnded() {
        return stream.filter(s -> s.finishReason().isPresent()).isPresent();
    }

    /** Returns whether its end was not visible to other threads by {@code moment}. */
    boolean hasEndedAfter(int moment) {
        return ended >= moment;
    }

    boolean isClosed() {
        return closed;
    }

    FinishReason reason() {
        return stream.orElseThrow().finishReason().orElseThrow();
    }

    /** Returns the completion, if nothing failed. */
    Optional<Completion> completion() {
        return completion;
    }

    /** Returns the tokens that were read one by one. */
    List<GeneratedToken> tokensRead() {
        return read;
    }

    /** Returns whether it failed before any token, as far as can be known. */
    boolean hadNoToken() {
        return readsAll && read.isEmpty();
    }

    /** Reads token by token. */
    void readToTheEnd() {
        readsAll = true;
        read(Integer.MAX_VALUE);
        complete();
    }

    void read(int tokens) {
        if (stream.isEmpty()) {
            return;
        }
        try {
            while (read.size() < tokens && stream.get().hasNext()) {
                read.add(stream.get().next());
            }
        } catch (RoseException e) {
            requireFailed(e);
        }
    }

    void close(int times, LongSupplier clock) {
        closed = true;
        for (int i = 0; i < times; i++) {
            stream.orElseThrow().close();
            closedNanos = Math.min(closedNanos, clock.getAsLong());
        }
    }

    /** Fails if it got more tokens after it was closed or past its deadline than the step in flight has. */
    void checkEnd() {
        if (completion.isEmpty()) {
            return;
        }
        RequestTimeline times = completion.get().timeline();
        long deadline = request.options()
                .timeout()
                .map(timeout -> times.submittedNanos() + timeout.toNanos())
                .orElse(Long.MAX_VALUE);
        long dueNanos = Math.min(deadline, closedNanos);
        long late = LongStream.of(times.tokenNanos())
                .filter(token -> token > dueNanos)
                .count();
        Require.that(late <= TOKENS_UNDER_WAY, "%s got %d tokens after its end at %d ns", this, late, dueNanos);
    }

    void complete() {
        if (stream.isEmpty()) {
            return;
        }
        try {
            completion = Optional.of(stream.get().completion());
        } catch (RoseException e) {
            requireFailed(e);
        }
    }

    /** Returns the failure that its reader got, if any. */
    Optional<RoseException> failure() {
        return failure;
    }

    /** Returns whether its reader got a failure of this kind. */
    boolean failedWith(Class<? extends RoseException> kind) {
        return failure.filter(kind::isInstance).isPresent();
    }

    private void requireFailed(RoseException e) {
        failure = Optional.of(e);
        Require.that(reason() == FinishReason.ERROR, "a stream that ended with %s throws %s", reason(), e);
    }

    /** Returns the maximum number of calls in flight at any moment of a call that was rejected as overloaded. */
    static long maxAtOnce(List<Call> calls, Call refused) {
        List<Call> others = calls.stream()
                .filter(call -> !call.isOverloaded() && call.begun <= refused.returned && call.ended >= refused.begun)
                .toList();
        long most = 0;
        for (Call one : others) {
            int moment = Math.max(one.begun, refused.begun);
            long atOnce = others.stream()
                    .filter(call -> call.begun <= moment && call.ended >= moment)
                    .count();
            most = Math.max(most, atOnce);
        }
        return most;
    }
}
