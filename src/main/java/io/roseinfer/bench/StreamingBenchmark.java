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
 * Runs a load several times: warm-ups, then measured runs. Every run has a new engine, so prefix cache, queue and KV pool start empty;
 * runs share only the loaded model and compiled code.
 */
public final class StreamingBenchmark {
    /** Effectively unlimited: an in-process engine may compute a prompt for a long time. */
    private static final Duration PATIENCE = Duration.ofDays(365);

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

    /**
     * Runs warm-ups and measured runs, and returns the latter.
     *
     * @throws io.roseinfer.base.RoseException if a request fails for any reason but overload, as the remaining requests would be a
     *     different load
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
