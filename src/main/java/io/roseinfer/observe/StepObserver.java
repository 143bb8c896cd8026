package io.roseinfer.observe;

import io.roseinfer.metrics.StepRecord;
import java.util.List;

/** Watches the steps of one engine, on the thread that runs them. */
@FunctionalInterface
public interface StepObserver {
    /**
     * Called at each event. It runs within the step, so it should be quick, allocate nothing, and throw nothing.
     *
     * @param step has the facts that are known at this event: times up to and including it, and what is computed from
     *     {@link StepEvent#PLANNED} on. It is reused for a later step after {@link StepEvent#APPLIED}. At the events of turns and
     *     deliveries it has no facts
     */
    void on(StepEvent event, StepRecord step);

    /** Returns an observer that calls several, in their order, and allocates nothing. */
    static StepObserver all(List<? extends StepObserver> observers) {
        StepObserver[] each = observers.toArray(StepObserver[]::new);
        return (event, step) -> {
            for (StepObserver observer : each) {
                observer.on(event, step);
            }
        };
    }
}
