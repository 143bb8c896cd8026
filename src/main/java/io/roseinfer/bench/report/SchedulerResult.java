package io.roseinfer.bench.report;

import io.roseinfer.bench.SchedulerBenchmark.Mode;
import io.roseinfer.bench.SchedulerRun;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The results of {@code bench scheduler}.
 *
 * @param schema 1; raised by changes that break readers
 * @param settings as in {@link StreamingResult}
 * @param environment the environment of the measurement
 * @param mode online, offline or naive
 * @param overRuns the metrics of {@link SchedulerReport} in order; for every mode prefill_s, decode_s, total_s, prefill_tok_s,
 *     decode_tok_s, completion_tok_s, total_tok_s, ttft_ms, tpot_ms and latency_ms; a latency is the median over a run's requests
 * @param runs the completed measured runs in order
 */
public record SchedulerResult(
        int schema,
        Map<String, @Nullable Object> settings,
        Environment environment,
        Mode mode,
        Map<String, AcrossRuns> overRuns,
        List<SchedulerRun> runs)
        implements BenchResult {
    /** Returns the results of at least one run. */
    public static SchedulerResult of(
            Map<String, @Nullable Object> settings, Environment environment, Mode mode, List<SchedulerRun> runs) {
        return new SchedulerResult(
                ResultKind.SCHEDULER.schema(),
                settings,
                environment,
                mode,
                SchedulerReport.overRuns(runs),
                List.copyOf(runs));
    }

    @Override
    public List<Map<String, String>> table() {
        List<Map<String, String>> table = new ArrayList<>();
        for (int run = 0; run < runs.size(); run++) {
            for (SchedulerRun.RequestTimes request : runs.get(run).requests()) {
                Map<String, String> row = new LinkedHashMap<>();
                row.put("run", Integer.toString(run + 1));
                row.put("prompt_tokens", Integer.toString(request.promptTokens()));
                row.put("tokens", Integer.toString(request.completionTokens()));
                row.put("ttft_ms", CsvReport.millis((double) request.ttftNanos()));
                row.put("latency_ms", CsvReport.millis((double) request.latencyNanos()));
                table.add(row);
            }
        }
        return table;
    }
}
