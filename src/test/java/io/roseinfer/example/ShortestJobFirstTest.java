package io.roseinfer.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.OnlineScheduler;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.family.Families;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.SchedulerOptions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** An experiment on the simulated device, with nothing but public types. */
class ShortestJobFirstTest {

    @Test
    void shortest_waiting_job_runs_first() {
        SchedulerOptions options = SchedulerOptions.builder()
                .maxBatchSize(1)
                .maxActiveRequests(1)
                .admission(new ShortestJobFirst())
                .build();
        EngineOptions engine = EngineOptions.defaults().withScheduler(options);
        ModelSpec spec = Families.shape("gpt2").orElseThrow();
        try (SimRunner device = new SimRunner(spec, EngineLimits.runnerLimits(engine, spec), SimOptions.defaults())) {
            OnlineScheduler scheduler = new OnlineScheduler(device, options);
            scheduler.enqueue(new int[] {1, 2, 3}, 30, SamplingParams.greedy(), 0, true);
            scheduler.enqueue(new int[] {1}, 3, SamplingParams.greedy(), 0, true);
            scheduler.enqueue(new int[20], 1, SamplingParams.greedy(), 0, true);
            List<Long> finished = new ArrayList<>();
            while (scheduler.hasUnfinished()) {
                scheduler.step();
                for (long id : scheduler.popFinishedIds()) {
                    finished.add(id);
                }
            }
            assertThat(finished).containsExactly(1L, 2L, 0L);
        }
    }
}
