package io.roseinfer.bench.replay;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.EngineTarget;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.LoadRun;
import io.roseinfer.bench.load.Arrivals;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.load.RandomPrompts;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.SpecBuilder;
import io.roseinfer.observe.Observers;
import io.roseinfer.scheduler.SchedulerOptions;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * Compares simulated time with the engine's threads: one load on several engines whose runners park for the cost of each step. The
 * devices of both take the same time, so a difference is an error of the simulated loop, queue, routing or client.
 *
 * <pre>
 * tools/run-test-class ParkedFleet [REQUESTS]
 * </pre>
 *
 * <p>Use an idle machine: threads that wake late are an error of the measurement.
 */
public final class ParkedFleet {
    private static final double STEP_NANOS = 20e6;
    private static final double TOKEN_NANOS = 50e3;
    private static final int BATCH = 16;
    private static final int PROMPT = 96;
    private static final int OUTPUT = 32;
    private static final long SEED = 7;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double NANOS_PER_MILLI = 1e6;

    private static final ModelSpec SPEC =
            SpecBuilder.named("sim").vocabulary(1000).context(512).build();

    private static final EngineOptions OPTIONS = EngineOptions.defaults()
            .withMaxInflightRequests(100_000)
            .withScheduler(SchedulerOptions.builder()
                    .maxBatchSize(BATCH)
                    .chunkedPrefill(true)
                    .prefillMaxTokens(512)
                    .prefixCache(false)
                    .build());

    private ParkedFleet() {}

    private static ModelRunner simulated(SimOptions options) {
        return new SimRunner(SPEC, EngineLimits.runnerLimits(OPTIONS, SPEC), options);
    }

    /** Returns a simulated runner whose steps take their cost in real time, one after another. */
    private static ModelRunner parked(SimOptions options) {
        ModelRunner device = simulated(options);
        Queue<Long> endNanos = new ArrayDeque<>();
        long[] lastNanos = {System.nanoTime()};
        return (ModelRunner) Proxy.newProxyInstance(
                ModelRunner.class.getClassLoader(), new Class<?>[] {ModelRunner.class}, (self, method, arguments) -> {
                    switch (method.getName()) {
                        case "submit", "submitPass" -> {
                            int tokens = ((StepInputs) arguments[0]).tokens();
                            long free = Math.max(0, lastNanos[0] - System.nanoTime());
                            lastNanos[0] = System.nanoTime() + free + Math.round(STEP_NANOS + TOKEN_NANOS * tokens);
                            endNanos.add(lastNanos[0]);
                        }
                        case "await" -> parkUntil(endNanos.remove());
                        default -> {
                            // Takes no time.
                        }
                    }
                    try {
                        return method.invoke(device, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    /** Waits regardless of an unpark permit of the engine. */
    private static void parkUntil(long nanos) {
        for (long left = nanos - System.nanoTime(); left > 0; left = nanos - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    private static LoadResult onThreads(int engines, SimOptions sim, RoutingPolicy routing, OfferedLoad load) {
        List<ModelRunner> runners =
                IntStream.range(0, engines).mapToObj(i -> parked(sim)).toList();
        GenerationRequest template = GenerationRequest.ofTokens(0).withIgnoreEndOfText(true);
        try (Engine engine = Engine.open(runners, Optional.empty(), OPTIONS, routing, Clock.system(), Observers.NONE);
                EngineTarget target = new EngineTarget(engine, template, true, Clock.system())) {
            return new LoadRun(target, LoadRun.UNBOUNDED, Duration.ofMinutes(1), Clock.system()).run(load);
        } finally {
            runners.forEach(ModelRunner::close);
        }
    }

    private static LoadResult inSimulatedTime(int engines, SimOptions sim, RoutingPolicy routing, OfferedLoad load) {
        StepTimes times = new StepTimes(CostTable.linear(STEP_NANOS, TOKEN_NANOS, 0), Pace.EVEN, HostTimes.NONE);
        SimulatedServer.Engines fleet = new SimulatedServer.Engines(
                engines, engine -> simulated(sim.ofShapes()), OPTIONS, routing, FleetPlan.NONE);
        return new SimulatedServer(fleet, engine -> times, LoadRun.UNBOUNDED, SEED).run(load);
    }

    private static double tpotNanos(CallResult call) {
        return (call.latencyNanos() - call.ttftNanos().orElseThrow()) / (call.tokens() - 1);
    }

    public static void main(String... args) {
        int requests = args.length > 0 ? Integer.parseInt(args[0]) : 1500;
        // Requests per second of one engine: each step decodes a full batch and computes the prompts that replace ended
        // requests.
        double endsPerStep = (double) BATCH / OUTPUT;
        double stepNanos = STEP_NANOS + TOKEN_NANOS * (BATCH + endsPerStep * PROMPT);
        double capacity = endsPerStep / stepNanos * NANOS_PER_SECOND;
        Map<String, Supplier<RoutingPolicy>> routing =
                new TreeMap<>(Map.of("pull", RoutingPolicy::pull, "vllm", RoutingPolicy::vllm));
        System.out.println(
                "| engines, routing, steps in flight, load | TTFT p50, p90, p99 in ms | TPOT p50, p90, p99 |");
        System.out.println("|---|---|---|");
        for (int engines : new int[] {4, 8}) {
            for (String name : routing.keySet()) {
                for (int inFlight : new int[] {1, 2}) {
                    for (double load : new double[] {0.6, 0.85}) {
                        SimOptions sim =
                                SimOptions.defaults().withReadBack(false).withMaxInFlight(inFlight);
                        OfferedLoad offered = OfferedLoad.of(
                                new RandomPrompts(PROMPT, OUTPUT, 0.5, 0, 256, SEED).requests(requests),
                                new Arrivals(load * capacity * engines, 1, SEED));
                        LoadResult real =
                                onThreads(engines, sim, routing.get(name).get(), offered);
                        LoadResult predicted =
                                inSimulatedTime(engines, sim, routing.get(name).get(), offered);
                        System.out.printf("| %d, %s, %d, %.0f %% |", engines, name, inFlight, 100 * load);
                        cells(real, predicted, call -> call.ttftNanos().orElseThrow());
                        cells(real, predicted, ParkedFleet::tpotNanos);
                        System.out.println();
                    }
                }
            }
        }
    }

    /** Prints percentiles on threads, and by how many percent those in simulated time differ. */
    private static void cells(LoadResult real, LoadResult predicted, ToDoubleFunction<CallResult> value) {
        for (double share : new double[] {0.5, 0.9, 0.99}) {
            double measured = percentile(real, share, value);
            System.out.printf(" %.2f: %+.1f", measured, 100 * (percentile(predicted, share, value) / measured - 1));
        }
        System.out.print(" |");
    }

    private static double percentile(LoadResult run, double share, ToDoubleFunction<CallResult> value) {
        double[] sorted = run.calls().stream().mapToDouble(value).sorted().toArray();
        return sorted[(int) Math.round(share * (sorted.length - 1))] / NANOS_PER_MILLI;
    }
}
