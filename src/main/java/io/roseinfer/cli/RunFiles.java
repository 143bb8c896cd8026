package io.roseinfer.cli;

import io.roseinfer.bench.ResultFile;
import io.roseinfer.bench.RunResult;
import io.roseinfer.bench.TimelineTrace;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;

/** The files of a benchmark, which hold the runs that are over: a run that fails takes none with it. */
final class RunFiles {
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
        results.ifPresent(file -> file.write(report.apply(runs)));
        timeline.ifPresent(file -> file.write(out -> TimelineTrace.write(out, runs)));
    }
}
