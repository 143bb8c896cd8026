package io.roseinfer.observe;

import io.roseinfer.metrics.StepRecord;
import io.roseinfer.scheduler.ExtensionFailure;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Step observers that are called in order. Composite observers are replaced by their elements. An observer of some
 * events is not called at others.
 */
final class StepObservers implements StepObserver {
    private final List<StepObserver> each;
    /** The observers of each event, by its ordinal. */
    private final StepObserver[][] byEvent;

    StepObservers(List<? extends StepObserver> observers) {
        each = observers.stream()
                .flatMap(observer -> observer instanceof StepObservers several
                        ? several.each.stream()
                        : Stream.<StepObserver>of(observer))
                .toList();
        byEvent = new StepObserver[StepEvent.values().length][];
        for (StepEvent event : StepEvent.values()) {
            byEvent[event.ordinal()] = of(event);
        }
    }

    private StepObserver[] of(StepEvent event) {
        List<StepObserver> called = new ArrayList<>();
        for (StepObserver observer : each) {
            if (!(observer instanceof SelectiveObserver selective)) {
                called.add(observer);
            } else if (selective.events().contains(event)) {
                called.add(selective.observer());
            }
        }
        return called.toArray(StepObserver[]::new);
    }

    @Override
    public void on(StepEvent event, StepRecord step) {
        for (StepObserver observer : byEvent[event.ordinal()]) {
            try {
                observer.on(event, step);
            } catch (RuntimeException thrown) {
                throw ExtensionFailure.ofObserver(observer, thrown);
            }
        }
    }
}
