package io.roseinfer.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.OnlineScheduler;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.family.Families;
import io.roseinfer.observe.Observers;
import io.roseinfer.observe.StepEvent;
import io.roseinfer.observe.StepObserver;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.SchedulerOptions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class BoundedPromptsTest {

    @Test
    void no_step_has_more_tokens_than_the_bound_and_prompts_fill_it() {
        SchedulerOptions options = SchedulerOptions.builder()
                .maxBatchSize(4)
                .chunkedPrefill(true)
                .step(new BoundedPrompts("24"))
                .build();
        ModelSpec spec = Families.shape("gpt2").orElseThrow();
        List<Long> tokens = new ArrayList<>();
        StepObserver counting = (event, step) -> {
            if (event == StepEvent.PLANNED) {
                tokens.add(step.get(Fact.TOKENS));
            }
        };
        EngineOptions engine = EngineOptions.defaults().withScheduler(options);
        try (SimRunner device = new SimRunner(spec, EngineLimits.runnerLimits(engine, spec), SimOptions.defaults())) {
            OnlineScheduler scheduler =
                    new OnlineScheduler(device, options, System::nanoTime, 1, Observers.ofSteps(counting));
            for (int length : new int[] {100, 7, 60}) {
                scheduler.enqueue(new int[length], 5, SamplingParams.greedy(), 0, true);
            }
            while (scheduler.hasUnfinished()) {
                scheduler.step();
            }
        }
        assertThat(tokens)
                .allSatisfy(count -> assertThat(count).isLessThanOrEqualTo(24))
                .contains(24L);
    }
}
