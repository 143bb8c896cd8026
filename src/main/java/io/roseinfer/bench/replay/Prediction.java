package io.roseinfer.bench.replay;

import io.roseinfer.bench.http.LatencyTable;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.metrics.Percentiles;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Formatter;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * One run held against another of the same requests: for TTFT, TPOT, ITL and latency the 50th, 90th and 99th percentile of both.
 *
 * @param rows a line for each
 */
public record Prediction(List<Row> rows) {
    private static final List<Double> PERCENTILES = List.of(50.0, 90.0, 99.0);

    public Prediction {
        rows = List.copyOf(rows);
    }

    /**
     * A percentile of a metric.
     *
     * @param metric {@code ttft}, {@code tpot}, {@code itl} or {@code e2el}
     * @param percentile 0 to 100
     * @param recordedMillis in the run that was recorded
     * @param replayedMillis in the other one
     */
    public record Row(String metric, double percentile, double recordedMillis, double replayedMillis) {
        /** How far off the second is, as a share of the first. */
        public double error() {
            return replayedMillis / recordedMillis - 1;
        }
    }

    /** Compares the requests that both runs answered. */
    public static Prediction of(LoadResult recorded, LoadResult replayed) {
        Map<String, double[]> before = LatencyTable.fromSent(recorded);
        Map<String, double[]> after = LatencyTable.fromSent(replayed);
        List<Row> rows = new ArrayList<>();
        before.forEach((metric, values) -> {
            double[] others = after.getOrDefault(metric, new double[0]);
            if (values.length > 0 && others.length > 0) {
                for (double percentile : PERCENTILES) {
                    rows.add(new Row(metric, percentile, of(values, percentile), of(others, percentile)));
                }
            }
        });
        return new Prediction(rows);
    }

    private static double of(double[] values, double percentile) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return Percentiles.of(sorted, percentile);
    }

    /** The largest error of some metrics, as a share; 0 without a row. */
    public double worst(String... metrics) {
        return rows.stream()
                .filter(row -> Arrays.asList(metrics).contains(row.metric()))
                .mapToDouble(row -> Math.abs(row.error()))
                .max()
                .orElse(0);
    }

    /**
     * The table, every line ended by a newline.
     *
     * @param same whether the second run had the settings of the first, so that a difference is an error
     */
    public String text(boolean same) {
        Formatter out = new Formatter(Locale.ROOT);
        out.format("%-10s %12s %12s %10s\n", "ms", "recorded", "replayed", same ? "error" : "change");
        for (Row row : rows) {
            out.format(
                    "%-10s %12.3f %12.3f %+9.1f%%\n",
                    row.metric().toUpperCase(Locale.ROOT) + " p" + Math.round(row.percentile()),
                    row.recordedMillis(),
                    row.replayedMillis(),
                    100 * row.error());
        }
        return out.toString();
    }
}
