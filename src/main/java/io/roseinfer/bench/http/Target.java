package io.roseinfer.bench.http;

import io.roseinfer.bench.load.OfferedRequest;
import io.roseinfer.metrics.StepRecord;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Somewhere requests are answered. */
public sealed interface Target extends AutoCloseable permits HttpTarget, EngineTarget {
    /** Makes ready what can be made ready before anything is measured: bytes, connections. */
    void prepare(List<OfferedRequest> requests, int maxAtOnce);

    /**
     * Sends the prepared request of a call and returns without waiting for an answer. Never throws for what the other side does: the
     * call ends with an error then.
     *
     * @param ended is told once, by any thread, that the call has ended
     */
    void send(Call call, Consumer<Call> ended);

    /** When something last came from the other side, by the clock of the run; only looked at by who waits for long. */
    long lastArrivalNanos();

    /** Returns whether every answer is complete, so that calls that have not ended wait for the threads that read them; false if unknown. */
    default boolean isAnswered() {
        return false;
    }

    /** Returns what no run can go on after, such as the death of a thread that reads answers; empty while there is none. */
    Optional<Throwable> failure();

    /** Gives up every call that has not ended: it ends with an error. Does not wait for that. */
    void abort(String why);

    /** Completes calls that have ended by what the other side tells afterwards. */
    default void join(List<Call> calls) {}

    /** The newest steps of the engine behind it, oldest first; none where that cannot be known. */
    default List<StepRecord> steps() {
        return List.of();
    }

    /** Connections that had to be opened while requests were due. */
    int openedLate();

    @Override
    void close();
}
