package io.roseinfer.observe;

import io.roseinfer.metrics.StepRecord;
import java.util.List;
import java.util.Set;

/** Observes the steps of one engine, on the thread that runs them. */
@FunctionalInterface
public interface StepObserver {
    /**
     * Called at each event, as part of the step: it should be fast and allocate no memory. An exception stops the engine
     * with an error that names the observer.
     *
     * @param step the facts known at this event: times up to it, and from {@link StepEvent#PLANNED} on also the counts.
     *     The record is reused after {@link StepEvent#APPLIED}. It has no facts at events of iterations and deliveries
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
