package io.roseinfer.bench;

import io.roseinfer.backend.StepProfiler;
import io.roseinfer.base.Clock;
import io.roseinfer.bench.RunListener.Phase;
import io.roseinfer.bench.load.SubmitSchedule;
import io.roseinfer.bench.load.Workload;
import io.roseinfer.engine.Engine;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Runs one workload several times: warm-ups first, then the runs that count. Every run has an engine of its own, so none finds
 * the prefix cache, the queue or the KV pool of the one before; the loaded model and the compiled code are what warm-ups warm.
 */
public final class StreamingBenchmark {
    private final Supplier<Engine> engines;
    private final Workload workload;
    private final SubmitSchedule schedule;
    private final Clock clock;
    private final RunListener listener;
    private Optional<StepProfiler> profiler = Optional.empty();

    /**
     * @param engines opens an idle engine that stamps with {@code clock}
     */
    public StreamingBenchmark(
            Supplier<Engine> engines, Workload workload, SubmitSchedule schedule, Clock clock, RunListener listener) {
        this.engines = engines;
        this.workload = workload;
        this.schedule = schedule;
        this.clock = clock;
        this.listener = listener;
    }

    /** Adds to every run what the engines' runner tells of its operators; returns this benchmark. */
    public StreamingBenchmark withProfiler(StepProfiler value) {
        profiler = Optional.of(value);
        return this;
    }

    /**
     * Runs everything and returns the measured runs.
     *
     * @throws io.roseinfer.base.RoseException if a request fails for any reason but overload: what is left would be a benchmark
     *     of something else
     */
    public List<RunResult> run(int warmups, int repeats) {
        repeat(Phase.WARMUP, warmups);
        return repeat(Phase.MEASURED, repeats);
    }

    private List<RunResult> repeat(Phase phase, int times) {
        List<RunResult> results = new ArrayList<>();
        for (int number = 1; number <= times; number++) {
            listener.started(phase, number, times, workload.requests().size());
            RunResult result = runOnce();
            listener.finished(phase, result);
            results.add(result);
        }
        return results;
    }

    private RunResult runOnce() {
        profiler.ifPresent(StepProfiler::clear);
        RunResult result;
        try (Engine engine = engines.get()) {
            result = new StreamingRun(engine, workload, schedule, clock, Pacer.precise(clock), listener).run();
        }
        return profiler.map(StepProfiler::steps).map(result::withProfile).orElse(result);
    }
}
