package io.roseinfer.bench.report;

import io.roseinfer.metrics.TokenTimes;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Formats results as comma-separated values (RFC 4180) with a header line.
 *
 * <pre>
 * bench serve, replay    a row per request: id, prompt_tokens, tokens, due_ms, sent_ms, end_ms since the start, ttft_ms, tpot_ms,
 *                        e2el_ms, error; if known admitted_ms, engine, cached_tokens, tenant, slo, priority, deadline_ms, max_tokens,
 *                        predicted_tokens, conversation, turn, and the run's extrapolated_share
 * bench streaming        the same for every run; run is its number
 * bench sweep            a row per point: the varied flags, the metrics, failed, invalid (the reason, or empty)
 * bench ab               a row per arm and pair: pair, seed, arm, its flags, the metrics, and the verdict on all pairs
 *                        both: a further row for each tenant and class, with its metrics; tenant and slo name it, and are empty in rows over
 *                        all requests
 *                        of serve, replay, sweep and ab, simulated is true or false; validation compares predictions by the step costs
 *                        with real runs, and is empty for measured runs
 * bench model            a row per point; objects have a column for each member, as in step_ms_median
 * bench scheduler        the same for the time per step; with a mode, a row per request and run
 * </pre>
 */
public final class CsvReport {
    private static final double NANOS_PER_MILLI = 1e6;

    private CsvReport() {}

    /** Formats results. */
    public static String of(BenchResult result) {
        List<Map<String, String>> table = result.table();
        Set<String> names = new LinkedHashSet<>();
        table.forEach(row -> names.addAll(row.keySet()));
        StringBuilder out = new StringBuilder();
        line(out, List.copyOf(names));
        table.forEach(row ->
                line(out, names.stream().map(name -> row.getOrDefault(name, "")).toList()));
        return out.toString();
    }

    /** Adds the columns that separate a run in simulated time, or its request, from a measured one. */
    public static void simulation(Map<String, String> row, Environment environment) {
        row.put("simulated", Boolean.toString(environment.simulated().isPresent()));
        row.put("validation", environment.validation());
    }

    /** Adds the columns for a request's times, given in nanoseconds since the start. */
    static void times(Map<String, String> row, long sentNanos, long endNanos, TokenTimes tokens) {
        row.put("sent_ms", millis((double) sentNanos));
        row.put("end_ms", millis((double) endNanos));
        row.put("ttft_ms", millis(tokens.ttftNanos(sentNanos)));
        row.put("tpot_ms", millis(tokens.tpotNanos()));
        row.put("e2el_ms", tokens.nanos().length > 0 ? millis((double) (endNanos - sentNanos)) : "");
    }

    /**
     * Returns the rows of a run's metrics: one over all requests, then one for each tenant and class. Metrics of groups are named as in
     * {@code p99_ttft_ms{tenant=a}}.
     *
     * @param keys columns that identify the run
     * @param others further columns of the run
     */
    public static List<Map<String, String>> rows(
            Map<String, String> keys, Map<String, Double> metrics, Map<String, String> others) {
        Map<String, Map<String, String>> rows = new LinkedHashMap<>();
        boolean hasGroups = metrics.keySet().stream().anyMatch(name -> name.endsWith("}"));
        metrics.forEach((name, value) -> {
            String[] parts = name.split("[{}=]");
            String group = parts.length == 3 ? parts[1] + "=" + parts[2] : "";
            Map<String, String> row = rows.computeIfAbsent(group, key -> {
                Map<String, String> start = new LinkedHashMap<>(keys);
                if (hasGroups) {
                    start.put("tenant", "");
                    start.put("slo", "");
                }
                if (parts.length == 3) {
                    start.put(parts[1], parts[2]);
                }
                return start;
            });
            row.put(parts[0], value.toString());
        });
        rows.values().forEach(row -> row.putAll(others));
        return rows.isEmpty()
                ? List.of(Stream.concat(keys.entrySet().stream(), others.entrySet().stream())
                        .collect(Collectors.toMap(
                                Map.Entry::getKey, Map.Entry::getValue, (a, b) -> b, LinkedHashMap::new)))
                : List.copyOf(rows.values());
    }

    static String millis(double nanos) {
        return String.format(Locale.ROOT, "%.6f", nanos / NANOS_PER_MILLI);
    }

    private static String millis(OptionalDouble nanos) {
        return nanos.isPresent() ? millis(nanos.getAsDouble()) : "";
    }

    private static void line(StringBuilder out, List<String> cells) {
        out.append(cells.stream().map(CsvReport::quoted).collect(Collectors.joining(",")))
                .append("\r\n");
    }

    private static String quoted(String cell) {
        return cell.chars().anyMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r')
                ? '"' + cell.replace("\"", "\"\"") + '"'
                : cell;
    }
}
