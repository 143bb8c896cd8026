package io.roseinfer.bench;

import io.roseinfer.backend.StepProfiler;
import io.roseinfer.base.Clock;
import io.roseinfer.bench.RunListener.Phase;
import io.roseinfer.bench.http.EngineTarget;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.LoadRun;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.GenerationRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.function.Supplier;

/**
 * Runs one load several times: warm-ups first, then the runs that count. Every run has an engine of its own, so none finds
 * the prefix cache, the queue or the KV pool of the one before; the loaded model and the compiled code are what warm-ups warm.
 */
public final class StreamingBenchmark {
    /** An engine in this process may compute a prompt for long. */
    private static final Duration PATIENCE = Duration.ofDays(365);

    private final Supplier<Engine> engines;
    private final OfferedLoad load;
    private final GenerationRequest template;
    private final Clock clock;
    private final RunListener listener;
    private Optional<StepProfiler> profiler = Optional.empty();

    /**
     * @param engines opens an idle engine that stamps with {@code clock}
     * @param template what every request is like but for its prompt and length
     */
    public StreamingBenchmark(
            Supplier<Engine> engines, OfferedLoad load, GenerationRequest template, Clock clock, RunListener listener) {
        this.engines = engines;
        this.load = load;
        this.template = template;
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
            listener.started(phase, number, times, load.requests().size());
            RunResult result = runOnce();
            listener.finished(phase, result);
            results.add(result);
        }
        return results;
    }

    private RunResult runOnce() {
        profiler.ifPresent(StepProfiler::clear);
        try (Engine engine = engines.get();
                EngineTarget target = new EngineTarget(engine, template, true, clock)) {
            LoadResult result =
                    new LoadRun(target, LoadRun.UNBOUNDED, PATIENCE, clock).run(load, listener::requestEnded);
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
