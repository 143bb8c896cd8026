package io.roseinfer.bench;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.bench.load.Workload;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.SpecBuilder;
import io.roseinfer.scheduler.SchedulerOptions;
import java.util.Optional;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;

/** Engines on a simulated model of token ids below {@value #VOCABULARY}, and workloads for them. */
public final class Sim {
    static final int VOCABULARY = 1000;
    static final int BLOCK_SIZE = 4;

    private Sim() {}

    public static EngineOptions options(boolean prefixCache) {
        return EngineOptions.defaults()
                .withScheduler(
                        SchedulerOptions.builder().prefixCache(prefixCache).build())
                .withBlockSize(BLOCK_SIZE)
                .withKvBlocks(200);
    }

    static SimRunner runner(EngineOptions options, LongConsumer onStep) {
        ModelSpec spec = SpecBuilder.named("sim")
                .vocabulary(VOCABULARY)
                .endOfText(VOCABULARY - 1)
                .build();
        SimOptions sim = SimOptions.defaults().withOnStep(onStep);
        return new SimRunner(spec, EngineLimits.runnerLimits(options, spec), sim);
    }

    public static Engine engine(EngineOptions options, LongConsumer onStep, Clock clock) {
        return Engine.open(runner(options, onStep), Optional.empty(), options, clock);
    }

    /** Requests of {@code promptTokens} tokens each, all different, for {@code newTokens} tokens each. */
    public static Workload workload(int requests, int promptTokens, int newTokens) {
        return new Workload(IntStream.range(0, requests)
                .mapToObj(i -> IntStream.range(0, promptTokens)
                        .map(token -> (31 * i + token) % (VOCABULARY - 1))
                        .toArray())
                .map(ids -> GenerationRequest.ofTokens(ids)
                        .withMaxNewTokens(newTokens)
                        .withIgnoreEndOfText(true))
                .toList());
    }
}
