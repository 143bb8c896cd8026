package io.roseinfer.observe;

import io.roseinfer.metrics.StepRecord;
import java.util.List;
import java.util.stream.Stream;

/** Step observers that are called in order. Those among them that call several are replaced by these. */
final class StepObservers implements StepObserver {
    private final StepObserver[] each;

    StepObservers(List<? extends StepObserver> observers) {
        each = observers.stream()
                .flatMap(observer ->
                        observer instanceof StepObservers several ? Stream.of(several.each) : Stream.of(observer))
                .toArray(StepObserver[]::new);
    }

    @Override
    public void on(StepEvent event, StepRecord step) {
        for (StepObserver observer : each) {
            observer.on(event, step);
        }
    }
}
