package io.roseinfer.observe;

import io.roseinfer.metrics.StepRecord;
import java.util.Set;

/**
 * A step observer that is called at some events only.
 *
 * @param events the events
 * @param observer called at them
 */
record SelectiveObserver(Set<StepEvent> events, StepObserver observer) implements StepObserver {
    SelectiveObserver {
        events = Set.copyOf(events);
    }

    @Override
    public void on(StepEvent event, StepRecord step) {
        if (events.contains(event)) {
            observer.on(event, step);
        }
    }
}
