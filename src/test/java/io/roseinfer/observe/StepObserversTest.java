package io.roseinfer.observe;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.metrics.WritableStep;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class StepObserversTest {
    @Test
    void nested_observers_are_called_in_order() {
        List<String> calls = new ArrayList<>();
        StepObserver inner = StepObserver.all(
                List.of((event, step) -> calls.add("b " + event), (event, step) -> calls.add("c " + event)));
        StepObserver all = StepObserver.all(List.of(
                (event, step) -> calls.add("a " + event),
                StepObserver.all(List.of(inner, StepObserver.all(List.of()))),
                (event, step) -> calls.add("d " + event)));
        all.on(StepEvent.APPLIED, new WritableStep());
        assertThat(calls).containsExactly("a APPLIED", "b APPLIED", "c APPLIED", "d APPLIED");
    }
}
