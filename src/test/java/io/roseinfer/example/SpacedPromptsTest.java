package io.roseinfer.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.load.Arrivals;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.load.RandomPrompts;
import io.roseinfer.bench.replay.CostTable;
import io.roseinfer.bench.replay.FleetPlan;
import io.roseinfer.bench.replay.HostTimes;
import io.roseinfer.bench.replay.Pace;
import io.roseinfer.bench.replay.SimulatedServer;
import io.roseinfer.bench.replay.StepTimes;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.family.Families;
import io.roseinfer.scheduler.SchedulerOptions;
import java.util.List;
import org.junit.jupiter.api.Test;

class SpacedPromptsTest {
    private static final int BETWEEN = 3;

    /** Runs the policy on two engines in simulated time. */
    private static LoadResult run() {
        ModelSpec spec = Families.shape("gpt2").orElseThrow();
        EngineOptions options = EngineOptions.defaults()
                .withScheduler(SchedulerOptions.builder()
                        .maxBatchSize(16)
                        .chunkedPrefill(true)
                        .step(new SpacedPrompts(Integer.toString(BETWEEN)))
                        .build());
        SimulatedServer server = new SimulatedServer(
                new SimulatedServer.Engines(
                        2,
                        engine -> new SimRunner(
                                spec,
                                EngineLimits.runnerLimits(options, spec),
                                SimOptions.defaults().ofShapes()),
                        options,
                        RoutingPolicy.roundRobin(),
                        FleetPlan.NONE),
                engine -> new StepTimes(CostTable.linear(2e6, 1e5, 0), Pace.EVEN, HostTimes.NONE),
                Integer.MAX_VALUE,
                0);
        return server.run(
                OfferedLoad.of(new RandomPrompts(48, 24, 0.5, 0, 256, 1).requests(200), new Arrivals(100, 1, 1)));
    }

    @Test
    void each_engine_decodes_alone_between_its_own_prompts() {
        LoadResult result = run();
        assertThat(result.completed()).hasSize(200);
        for (int engine = 0; engine < 2; engine++) {
            int decoded = BETWEEN;
            for (StepRecord step : ofEngine(result, engine)) {
                boolean mixed = step.get(Fact.PREFILL_TOKENS) > 0 && step.get(Fact.DECODE_ROWS) > 0;
                assertThat(mixed && decoded < BETWEEN)
                        .as("engine %d, step %d after %d", engine, step.get(Fact.STEP), decoded)
                        .isFalse();
                decoded = step.get(Fact.PREFILL_TOKENS) > 0 ? 0 : decoded + 1;
            }
        }
    }

    private static List<StepRecord> ofEngine(LoadResult result, int engine) {
        return result.steps().stream()
                .filter(step -> step.get(Fact.ENGINE) == engine)
                .toList();
    }
}
