package io.roseinfer.observe;

import io.roseinfer.metrics.StepRecord;
import java.util.List;
import java.util.Set;

/**
 * Observes the steps of an engine, on the thread that runs them. Replicas run their steps on separate threads, so an
 * observer of several replicas must be thread-safe; {@link io.roseinfer.metrics.StepRecord.Fact#ENGINE} is the replica.
 */
@FunctionalInterface
public non-sealed interface StepObserver extends EngineObserver {
    /**
     * Called at each event, as part of the step: it should be fast, allocate no memory, and not call the engine. An exception
     * stops the engine with an error that names the observer.
     *
     * @param step the facts known at this event: times up to it, and from {@link StepEvent#PLANNED} on also the counts.
     *     Times are in nanoseconds of the engine's clock: {@link System#nanoTime}, or simulated time. The record is reused
     *     after {@link StepEvent#APPLIED}, so an observer copies what it keeps. It has no facts at events of iterations and deliveries
     */
    void on(StepEvent event, StepRecord step);

    /** Returns an observer that is called at some events only; among {@link #all several}, others cost it nothing. */
    static StepObserver only(Set<StepEvent> events, StepObserver observer) {
        return new SelectiveObserver(events, observer);
    }

    /** Returns an observer that calls several in order, without allocating memory. */
    static StepObserver all(List<? extends StepObserver> observers) {
        return new StepObservers(observers);
    }
}
