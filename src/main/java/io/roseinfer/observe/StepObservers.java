package io.roseinfer.observe;

import io.roseinfer.metrics.StepRecord;
import java.util.Arrays;
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
        byEvent = Arrays.stream(StepEvent.values())
                .map(event ->
                        each.stream().flatMap(observer -> of(observer, event)).toArray(StepObserver[]::new))
                .toArray(StepObserver[][]::new);
    }

    private static Stream<StepObserver> of(StepObserver observer, StepEvent event) {
        if (observer instanceof SelectiveObserver selective) {
            return selective.events().contains(event) ? Stream.of(selective.observer()) : Stream.empty();
        }
        return Stream.of(observer);
    }

    @Override
    public void on(StepEvent event, StepRecord step) {
        for (StepObserver observer : byEvent[event.ordinal()]) {
            observer.on(event, step);
        }
    }
}
