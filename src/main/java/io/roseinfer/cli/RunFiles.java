package io.roseinfer.cli;

import io.roseinfer.bench.RunResult;
import io.roseinfer.bench.WarmUp;
import io.roseinfer.bench.report.BenchResult;
import io.roseinfer.bench.report.ResultFile;
import io.roseinfer.bench.report.TimelineTrace;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;

/** The files of the streaming benchmark: its results and its timeline. */
final class RunFiles implements AutoCloseable {
    private final IncrementalFile<RunResult> results;
    private final IncrementalFile<RunResult> timeline;
    private Optional<WarmUp> warmUp = Optional.empty();

    /**
     * @param report makes the content of the result file
     */
    RunFiles(
            Optional<ResultFile> results,
            Optional<ResultFile> timeline,
            BiFunction<Optional<WarmUp>, List<RunResult>, BenchResult> report) {
        this.results = new IncrementalFile<>(results, (file, runs) -> file.write(report.apply(warmUp, runs)));
        this.timeline =
                new IncrementalFile<>(timeline, (file, runs) -> file.write(out -> TimelineTrace.write(out, runs)));
    }

    void warmedUp(WarmUp value) {
        warmUp = Optional.of(value);
    }

    void add(RunResult run) {
        results.add(run);
        timeline.add(run);
    }

    @Override
    public void close() {
        try (timeline) {
            results.close();
        }
    }
}
