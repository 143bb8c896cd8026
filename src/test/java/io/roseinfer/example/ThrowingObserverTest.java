package io.roseinfer.example;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.family.Families;
import io.roseinfer.observe.Observers;
import io.roseinfer.observe.RequestEvent;
import io.roseinfer.observe.RequestObserver;
import io.roseinfer.observe.StepEvent;
import io.roseinfer.observe.StepObserver;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** An observer that throws is named with its source line. Its package is not part of the engine. */
class ThrowingObserverTest {
    private record Bad() implements StepObserver, RequestObserver {
        @Override
        public void on(StepEvent event, StepRecord step) {
            throw new IllegalStateException("mine");
        }

        @Override
        public void on(RequestEvent event) {
            if (event instanceof RequestEvent.Admitted) {
                throw new IllegalStateException("mine");
            }
        }
    }

    private static void assertNamed(Observers observers) {
        EngineOptions options = EngineOptions.defaults().withKvBlocks(100);
        ModelSpec spec = Families.shape("gpt2").orElseThrow();
        SimRunner device = new SimRunner(spec, EngineLimits.runnerLimits(options, spec), SimOptions.defaults());
        try (Engine engine = Engine.open(device, Optional.empty(), options, Clock.system(), observers)) {
            assertThatThrownBy(() -> engine.generate(GenerationRequest.ofTokens(1, 2, 3)))
                    .isInstanceOf(EngineStopped.class)
                    .hasMessageMatching(".*the observer " + Bad.class.getName().replace("$", "\\$")
                            + " threw java.lang.IllegalStateException: mine"
                            + " at \\S+\\$Bad.on\\(ThrowingObserverTest.java:\\d+\\); fix it, or remove it.*");
        }
    }

    @Test
    void step_observer_that_throws_is_named() {
        assertNamed(Observers.ofSteps(new Bad()));
    }

    @Test
    void observer_of_some_events_that_throws_is_named() {
        assertNamed(Observers.ofSteps(StepObserver.only(Set.of(StepEvent.APPLIED), new Bad())));
    }

    @Test
    void request_observer_that_throws_is_named() {
        assertNamed(Observers.ofRequests(new Bad()));
    }
}
