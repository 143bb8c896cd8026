package io.roseinfer.cli;

import io.roseinfer.bench.RunResult;
import io.roseinfer.bench.report.ResultFile;
import io.roseinfer.bench.report.TimelineTrace;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;

/**
 * The files of a benchmark, which hold the runs that are over: a run that fails takes none with it. A pipe gets its one document
 * when all is over, as a reader cannot tell a second one from the rest of the first.
 */
final class RunFiles implements AutoCloseable {
    private final Optional<ResultFile> results;
    private final Optional<ResultFile> timeline;
    private final Function<List<RunResult>, JsonNode> report;
    private final List<RunResult> runs = new ArrayList<>();

    /**
     * @param report the results as JSON
     */
    RunFiles(Optional<ResultFile> results, Optional<ResultFile> timeline, Function<List<RunResult>, JsonNode> report) {
        this.results = results;
        this.timeline = timeline;
        this.report = report;
    }

    /** Writes the files anew, with another run. */
    void add(RunResult run) {
        runs.add(run);
        write(false);
    }

    /** Writes the pipes, if there is a run to tell of. */
    @Override
    public void close() {
        if (!runs.isEmpty()) {
            write(true);
        }
    }

    private void write(boolean streams) {
        results.filter(file -> file.isStream() == streams).ifPresent(file -> file.write(report.apply(runs)));
        timeline.filter(file -> file.isStream() == streams)
                .ifPresent(file -> file.write(out -> TimelineTrace.write(out, runs)));
    }
}
