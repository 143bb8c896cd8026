package io.roseinfer.bench.replay;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.RunValidity;
import io.roseinfer.bench.load.Arrivals;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.load.RandomPrompts;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.SpecBuilder;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.policy.Drafter;
import io.roseinfer.scheduler.policy.PolicyRequest;
import java.util.List;
import java.util.OptionalDouble;

/** Simulated servers and loads for tests. */
public final class SimulatedRuns {
    static final int PROMPT = 48;
    static final int OUTPUT = 12;

    private static final ModelSpec SPEC =
            SpecBuilder.named("sim").vocabulary(1000).context(512).build();

    private SimulatedRuns() {}

    /** Returns a server with at most eight rows per step and without a prefix cache. */
    public static SimulatedServer server(StepTimes times, long seed) {
        return server(times, SchedulerOptions.builder().maxBatchSize(8).prefixCache(false), Integer.MAX_VALUE, seed);
    }

    /** Returns a server like {@link #server(StepTimes, long)} that drafts token 0 each time, which is almost never right. */
    public static SimulatedServer drafting(StepTimes times, long seed) {
        Drafter drafter = new Drafter() {
            @Override
            public int maxTokens() {
                return 2;
            }

            @Override
            public Drafts newDrafts(PolicyRequest request) {
                return (tokens, max, into) -> {
                    into[0] = 0;
                    return 1;
                };
            }
        };
        SchedulerOptions.Builder options =
                SchedulerOptions.builder().maxBatchSize(8).prefixCache(false).drafter(drafter);
        return server(times, options, Integer.MAX_VALUE, seed);
    }

    static SimulatedServer server(StepTimes times, SchedulerOptions.Builder scheduler, int maxConcurrency, long seed) {
        return server(times, scheduler, maxConcurrency, 1, seed);
    }

    static SimulatedServer server(
            StepTimes times, SchedulerOptions.Builder scheduler, int maxConcurrency, int inFlight, long seed) {
        EngineOptions options = EngineOptions.defaults().withScheduler(scheduler.build());
        return server(
                times, options, maxConcurrency, SimOptions.defaults().ofShapes().withMaxInFlight(inFlight), seed);
    }

    static SimulatedServer server(
            StepTimes times, EngineOptions options, int maxConcurrency, SimOptions sim, long seed) {
        return new SimulatedServer(
                SimulatedServer.Engines.one(
                        () -> new SimRunner(SPEC, EngineLimits.runnerLimits(options, SPEC), sim), options),
                engine -> times,
                maxConcurrency,
                seed);
    }

    /** Returns a load with Poisson arrivals at {@code rate} requests/s. */
    public static OfferedLoad load(int requests, double rate, long seed) {
        return OfferedLoad.of(
                new RandomPrompts(PROMPT, OUTPUT, 0.5, 0, 256, seed).requests(requests), new Arrivals(rate, 1, seed));
    }

    /** Returns a run as a valid recording. */
    public static RecordedRun recorded(LoadResult run) {
        return new RecordedRun(
                "run",
                List.of(),
                run,
                0,
                new RunValidity(List.of(), List.of(), List.of(), OptionalDouble.empty()),
                RecordedModel.NONE,
                "");
    }

    /** Returns costs of 2 ms per step and 0.1 ms per token. */
    public static CostTable costs() {
        return CostTable.linear(2e6, 1e5, 100);
    }
}
