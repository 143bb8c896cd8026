package io.roseinfer.bench;

import io.roseinfer.backend.StepProfiler;
import io.roseinfer.base.Clock;
import io.roseinfer.bench.RunListener.Phase;
import io.roseinfer.bench.http.EngineTarget;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.LoadRun;
import io.roseinfer.bench.http.Target;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.metrics.RequestLatency;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.concurrent.CancellationException;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Runs a load several times: warm-ups, then measured runs. Every run has a new engine, so prefix cache, queue and KV pool start empty;
 * runs share only the loaded model and compiled code.
 */
public final class StreamingBenchmark {
    /** Effectively unlimited: an in-process engine may compute a prompt for a long time. */
    private static final Duration PATIENCE = Duration.ofDays(365);

    private static final long MAX_WARM_UP_NANOS = 3_000_000_000L;

    /** Relative difference of median latencies below which two runs are equally fast. */
    private static final double STEADY_DIFFERENCE = 0.05;

    /** Share of a run's time that the JIT compilers of a warm JVM do not exceed. */
    private static final double STEADY_COMPILATION = 0.05;

    private final Supplier<Engine> engines;
    private final OfferedLoad load;
    private final GenerationRequest template;
    private final Clock clock;
    private final RunListener listener;
    private Optional<StepProfiler> profiler = Optional.empty();

    /**
     * @param engines opens an idle engine with {@code clock} as its clock
     * @param template template of all requests; prompt and length are replaced
     */
    public StreamingBenchmark(
            Supplier<Engine> engines, OfferedLoad load, GenerationRequest template, Clock clock, RunListener listener) {
        this.engines = engines;
        this.load = load;
        this.template = template;
        this.clock = clock;
        this.listener = listener;
    }

    /** Adds operator times to every run; returns this benchmark. */
    public StreamingBenchmark withProfiler(StepProfiler value) {
        profiler = Optional.of(value);
        return this;
    }

    /** The warm-up and the measured runs. */
    public record Runs(WarmUp warmUp, List<RunResult> measured) {
        public Runs {
            measured = List.copyOf(measured);
        }
    }

    /**
     * Runs warm-ups and measured runs.
     *
     * @param warmups number of warm-up runs; if empty, they continue until two successive runs are equally fast and the JIT compilers nearly
     *     idle, for at most three seconds and the rest of a running step
     * @throws io.roseinfer.base.RoseException if a request fails for any reason but overload, as the remaining requests would be a
     *     different load
     */
    public Runs run(OptionalInt warmups, int repeats) {
        WarmUp warmUp = warmups.isPresent() ? warmUp(warmups.getAsInt()) : warmUp();
        listener.warmedUp(warmUp);
        List<RunResult> measured = new ArrayList<>();
        for (int number = 1; number <= repeats; number++) {
            listener.started(Phase.MEASURED, number, repeats, load.size());
            RunResult result = runOnce(target -> new LoadRun(target, LoadRun.UNBOUNDED, PATIENCE, clock));
            listener.finished(Phase.MEASURED, result);
            measured.add(result);
        }
        return new Runs(warmUp, measured);
    }

    private WarmUp warmUp(int runs) {
        long startNanos = clock.nanos();
        for (int number = 1; number <= runs; number++) {
            listener.started(Phase.WARMUP, number, runs, load.size());
            listener.finished(Phase.WARMUP, warmUpRun(Long.MAX_VALUE));
        }
        return new WarmUp(runs, secondsSince(startNanos), Optional.empty(), OptionalDouble.empty());
    }

    private WarmUp warmUp() {
        long startNanos = clock.nanos();
        long endNanos = startNanos + MAX_WARM_UP_NANOS;
        int runs = 0;
        double latencyMillis = 0;
        OptionalDouble difference = OptionalDouble.empty();
        boolean isSteady = false;
        while (!isSteady && clock.nanos() < endNanos) {
            RunResult run = warmUpRun(endNanos - clock.nanos());
            runs++;
            if (clock.nanos() < endNanos) {
                double previousMillis = latencyMillis;
                latencyMillis = run.millis(RequestLatency.LATENCY).p50();
                difference = relative(previousMillis, latencyMillis);
                isSteady = difference.orElse(1) < STEADY_DIFFERENCE && isCompiled(run.load());
            }
        }
        return new WarmUp(runs, secondsSince(startNanos), Optional.of(isSteady), difference);
    }

    private static boolean isCompiled(LoadResult run) {
        return run.cost().compileMillis() <= STEADY_COMPILATION * 1e3 * run.seconds();
    }

    /** Returns the relative difference of two values; empty if the first is 0. */
    private static OptionalDouble relative(double from, double to) {
        return from > 0 ? OptionalDouble.of(Math.abs(to - from) / from) : OptionalDouble.empty();
    }

    private RunResult warmUpRun(long limitNanos) {
        return runOnce(target -> LoadRun.warmUp(target, PATIENCE, clock, limitNanos));
    }

    private double secondsSince(long startNanos) {
        return (clock.nanos() - startNanos) / 1e9;
    }

    private RunResult runOnce(Function<Target, LoadRun> runs) {
        profiler.ifPresent(StepProfiler::clear);
        try (Engine engine = engines.get();
                EngineTarget target = new EngineTarget(engine, template, true, clock)) {
            LoadResult result = runs.apply(target).run(load, listener::requestEnded);
            if (Thread.currentThread().isInterrupted()) {
                throw new CancellationException("interrupted; the running requests were cancelled");
            }
            return new RunResult(
                    result,
                    target.submittedNanos(),
                    engine.stats(),
                    profiler.map(StepProfiler::steps).orElse(List.of()));
        }
    }
}
