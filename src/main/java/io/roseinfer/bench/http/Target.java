package io.roseinfer.bench.http;

import io.roseinfer.bench.load.OfferedRequest;
import io.roseinfer.metrics.StepRecord;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** The target of a load: a server or an engine. */
public sealed interface Target extends AutoCloseable permits HttpTarget, EngineTarget {
    /** Prepares requests and connections before the measurement; the index of a request is the id of its call. */
    void prepare(List<OfferedRequest> requests, int maxAtOnce);

    /** Prepares the request of a call again, because its prompt is complete now. */
    void prepare(Call call);

    /**
     * Sends the prepared request of a call without waiting for the response. Failures of the target end the call with an error and are never
     * thrown.
     *
     * @param ended called once, on any thread, when the call has ended
     */
    void send(Call call, Consumer<Call> ended);

    /** Returns the time of the last data from the target, by the run's clock. */
    long lastArrivalNanos();

    /** Returns whether all responses are complete, so that remaining calls only wait for reader threads; false if unknown. */
    default boolean isAnswered() {
        return false;
    }

    /** Returns a fatal failure, such as the death of a reader thread; empty if there is none. */
    Optional<Throwable> failure();

    /** Ends all remaining calls with an error, without waiting for them. */
    void abort(String why);

    /** Adds data to ended calls that the target provides only afterwards. */
    default void join(List<Call> calls) {}

    /** Returns the newest steps of the target's engines, oldest first; empty if unknown. */
    default List<StepRecord> steps() {
        return List.of();
    }

    /** Returns the number of connections opened while requests were scheduled. */
    int openedLate();

    @Override
    void close();
}
