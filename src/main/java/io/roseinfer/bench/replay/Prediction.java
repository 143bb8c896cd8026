package io.roseinfer.bench.replay;

import io.roseinfer.bench.http.LatencyTable;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.report.ReplayOf;
import io.roseinfer.bench.report.ReplayOf.Row;
import io.roseinfer.metrics.Distribution;
import java.util.ArrayList;
import java.util.Formatter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * Comparison of a recorded run with its replays: percentiles 50, 90 and 99 of TTFT, TPOT, ITL and latency in the recording, in the replay
 * with recorded settings, and in the replay with changed settings. The first two differ by the replay's error, which is in-sample if
 * the step costs are fitted to the recording; the last two are both replayed, so they differ only by the change.
 *
 * @param rows a row for each percentile that all runs have
 */
public record Prediction(List<Row> rows) {
    private static final List<Double> PERCENTILES = List.of(50.0, 90.0, 99.0);

    public Prediction {
        rows = List.copyOf(rows);
    }

    /**
     * Compares runs of the same requests by their completed requests.
     *
     * @param replayed the replay with recorded settings
     * @param changed the replay with changed settings, if any
     */
    public static Prediction of(LoadResult recorded, LoadResult replayed, Optional<LoadResult> changed) {
        Map<String, Distribution> before = LatencyTable.fromSent(recorded);
        Map<String, Distribution> again = LatencyTable.fromSent(replayed);
        Optional<Map<String, Distribution>> after = changed.map(LatencyTable::fromSent);
        List<Row> rows = new ArrayList<>();
        before.forEach((metric, values) -> {
            Distribution others = samples(again, metric);
            Optional<Distribution> last = after.map(table -> samples(table, metric));
            if (values.size() > 0
                    && others.size() > 0
                    && last.map(v -> v.size() > 0).orElse(true)) {
                for (double percentile : PERCENTILES) {
                    OptionalDouble changedMillis = last.map(v -> OptionalDouble.of(v.percentile(percentile)))
                            .orElseGet(OptionalDouble::empty);
                    rows.add(new Row(
                            metric,
                            percentile,
                            values.percentile(percentile),
                            others.percentile(percentile),
                            changedMillis));
                }
            }
        });
        return new Prediction(rows);
    }

    /**
     * Returns the comparison for the results of the last run.
     *
     * @param changes arguments that replaced recorded ones
     * @param settingsKnown whether the replay has the recorded engine's settings
     * @param isInSample whether the step costs of the replay with recorded settings are fitted to the recorded run
     * @param extrapolated the replays whose times are extrapolated, as in {@link ReplayOf}
     */
    public ReplayOf replayOf(
            RecordedRun recorded,
            List<String> changes,
            boolean settingsKnown,
            boolean isInSample,
            List<String> extrapolated) {
        return new ReplayOf(
                recorded.name(),
                recorded.command(),
                recorded.verdict().isValid(),
                recorded.verdict().reasons(),
                settingsKnown,
                Optional.of(isInSample),
                changes,
                extrapolated,
                rows);
    }

    private static Distribution samples(Map<String, Distribution> table, String metric) {
        return table.getOrDefault(metric, Distribution.of());
    }

    /** Returns the table, with the last two columns only if settings were changed. Every line ends with a newline. */
    public static String text(ReplayOf of) {
        String replayed = of.settingsKnown() ? "baseline" : "replayed";
        boolean changed = !of.changes().isEmpty();
        Formatter out = new Formatter(Locale.ROOT);
        String columns = "%-10s %12s %12s %10s" + (changed ? " %12s %10s" : "") + "\n";
        out.format(columns, of.headings().toArray());
        for (Row row : of.rows()) {
            out.format(
                    "%-10s %12.3f %12.3f %10s",
                    row.metric().toUpperCase(Locale.ROOT) + " p" + Math.round(row.percentile()),
                    row.recordedMillis(),
                    row.replayedMillis(),
                    percent(row.error()));
            row.changedMillis()
                    .ifPresent(millis -> out.format(
                            " %12.3f %10s", millis, percent(row.change().orElse(0))));
            out.format("\n");
        }
        out.format(
                "%s: %s%s\n",
                of.errorName(),
                of.settingsKnown()
                        ? "baseline, replayed with the recorded settings, against recorded"
                        : "replayed against recorded; the server's settings are unknown, so the replay has the engine flags"
                                + " given here and defaults for the others",
                of.inSample().orElse(false)
                        ? "; the step costs are fitted to the recorded run, so it is no error of a prediction"
                        : "");
        if (changed) {
            out.format("change: changed against %s, both replayed\n", replayed);
        }
        return out.toString();
    }

    /** Formats a share as a signed percentage; a dash if it is undefined. */
    private static String percent(double share) {
        return Double.isFinite(share) ? String.format(Locale.ROOT, "%+.1f%%", 100 * share) : "-";
    }
}
