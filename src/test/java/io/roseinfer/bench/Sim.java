package io.roseinfer.bench;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.load.OfferedRequest;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.Prompt;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.SpecBuilder;
import io.roseinfer.scheduler.SchedulerOptions;
import java.util.List;
import java.util.Optional;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;

/** Creates engines on a simulated model with token ids below {@value #VOCABULARY}, and workloads for them. */
public final class Sim {
    public static final int VOCABULARY = 1000;
    public static final int BLOCK_SIZE = 4;

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

    /** Returns a burst of requests with different prompts of {@code promptTokens} tokens. */
    public static OfferedLoad load(int requests, int promptTokens, int newTokens) {
        return new OfferedLoad(
                IntStream.range(0, requests)
                        .mapToObj(i -> IntStream.range(0, promptTokens)
                                .map(token -> (31 * i + token) % (VOCABULARY - 1))
                                .toArray())
                        .map(ids -> OfferedRequest.of(0, new Prompt.Tokens(ids), newTokens))
                        .toList(),
                OfferedLoad.Pacing.BURST);
    }

    /** Returns a greedy request that ignores end-of-text. */
    public static GenerationRequest template() {
        return GenerationRequest.ofTokens(0).withIgnoreEndOfText(true);
    }

    /** Returns the requests of {@link #load}. */
    static List<GenerationRequest> workload(int requests, int promptTokens, int newTokens) {
        return load(requests, promptTokens, newTokens).requests().stream()
                .map(request -> template().withPrompt(request.prompt()).withMaxNewTokens(request.outputTokens()))
                .toList();
    }
}
