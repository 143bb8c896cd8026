package io.roseinfer.bench.report;

import io.roseinfer.base.RoseException.BadInput;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/**
 * Results as a table of comma-separated values (RFC 4180), the names in the first line.
 *
 * <pre>
 * bench serve, replay    a line for each request: id, prompt_tokens, tokens, due_ms, sent_ms, end_ms since the start, ttft_ms, tpot_ms,
 *                        e2el_ms, error
 * bench streaming        the same, of every run; run is its number
 * bench sweep            a line for each point: the varied flags, the figures, failed, invalid (why, or empty)
 * bench ab               a line for each arm of each pair: pair, seed, arm, and the figures
 * bench model            a line for each point; of an object with parts a column for each, as in step_ms_median
 * bench scheduler        the same of the cost of a step; with a mode a line for each request of each run
 * </pre>
 */
public final class CsvReport {
    private static final double NANOS_PER_MILLI = 1e6;

    private final List<Map<String, String>> rows = new ArrayList<>();

    private CsvReport() {}

    /**
     * The table of a results file's content.
     *
     * @throws BadInput if it is of a kind that has none
     */
    public static String of(JsonNode document) {
        CsvReport csv = new CsvReport();
        JsonNode own = document.path("roseinfer");
        switch (own.path("kind").asString("")) {
            case "serve" -> own.path("requests").forEach(csv::served);
            case "sweep" -> own.path("points").forEach(csv::point);
            case "ab" -> {
                int number = 0;
                for (JsonNode pair : own.path("pairs")) {
                    csv.arm(number, "a", pair);
                    csv.arm(number, "b", pair);
                    number++;
                }
            }
            default -> {
                if (document.path("points").isArray()) {
                    document.path("points").forEach(csv::flat);
                } else if (document.has("mode")) {
                    csv.driven(document);
                } else {
                    csv.streamed(document);
                }
            }
        }
        return csv.text();
    }

    private void served(JsonNode request) {
        double sent = request.path("sent_ns").asDouble();
        double end = request.path("last_choice_ns").asDouble();
        Map<String, String> row = new LinkedHashMap<>();
        row.put("id", request.path("id").asString(""));
        row.put("prompt_tokens", request.path("prompt_tokens").asString(""));
        JsonNode counts = request.path("event_tokens");
        int tokens = counts.isEmpty()
                ? request.path("usage").path(1).asInt(0)
                : counts.valueStream().mapToInt(JsonNode::intValue).sum();
        row.put("tokens", Integer.toString(tokens));
        row.put("due_ms", millis(request.path("due_ns").asDouble()));
        times(row, sent, end, tokens, request.path("event_ns"));
        row.put("error", request.path("error").asString(""));
        rows.add(row);
    }

    private static void times(Map<String, String> row, double sent, double end, int tokens, JsonNode stamps) {
        row.put("sent_ms", millis(sent));
        row.put("end_ms", millis(end));
        boolean any = !stamps.isEmpty();
        double first = any ? stamps.get(0).asDouble() : 0;
        double last = any ? stamps.get(stamps.size() - 1).asDouble() : 0;
        row.put("ttft_ms", any ? millis(first - sent) : "");
        row.put("tpot_ms", any && tokens > 1 ? millis((last - first) / (tokens - 1)) : "");
        row.put("e2el_ms", any ? millis(end - sent) : "");
    }

    private void flat(JsonNode point) {
        Map<String, String> row = new LinkedHashMap<>();
        point.forEachEntry((name, value) -> {
            if (value.isObject()) {
                value.forEachEntry((part, number) -> row.put(name + "_" + part, number.asString("")));
            } else if (!value.isArray()) {
                row.put(name, value.asString(""));
            }
        });
        rows.add(row);
    }

    private void driven(JsonNode document) {
        int number = 1;
        for (JsonNode run : document.path("runs")) {
            for (JsonNode request : run.path("requests")) {
                Map<String, String> row = new LinkedHashMap<>();
                row.put("run", Integer.toString(number));
                row.put("prompt_tokens", request.path("prompt_tokens").asString(""));
                row.put("tokens", request.path("completion_tokens").asString(""));
                row.put("ttft_ms", millis(request.path("ttft_ns").asDouble()));
                row.put("latency_ms", millis(request.path("latency_ns").asDouble()));
                rows.add(row);
            }
            number++;
        }
    }

    private void streamed(JsonNode document) {
        if (!document.path("runs").path(0).path("requests").isArray()) {
            throw new BadInput("these results have neither requests nor points, so there is no table of them; bench"
                    + " streaming, serve, sweep and ab write some that do");
        }
        int number = 1;
        for (JsonNode run : document.path("runs")) {
            for (JsonNode request : run.path("requests")) {
                Map<String, String> row = new LinkedHashMap<>();
                row.put("run", Integer.toString(number));
                row.put("id", request.path("id").asString(""));
                row.put("prompt_tokens", request.path("prompt_tokens").asString(""));
                JsonNode stamps = request.path("token_ns");
                row.put("tokens", Integer.toString(stamps.size()));
                double sent = request.path("submit_start_ns").asDouble();
                times(row, sent, request.path("finish_ns").asDouble(), stamps.size(), stamps);
                rows.add(row);
            }
            number++;
        }
    }

    private void point(JsonNode point) {
        Map<String, String> row = new LinkedHashMap<>();
        point.path("flags").forEachEntry((name, value) -> row.put(name, value.asString("")));
        figures(row, point.path("figures"));
        row.put("failed", point.path("failed").asString(""));
        row.put(
                "invalid",
                String.join(
                        "; ",
                        point.path("reasons")
                                .valueStream()
                                .map(reason -> reason.asString(""))
                                .toList()));
        rows.add(row);
    }

    private void arm(int number, String arm, JsonNode pair) {
        Map<String, String> row = new LinkedHashMap<>();
        row.put("pair", Integer.toString(number));
        row.put("seed", pair.path("seed").asString(""));
        row.put("arm", arm);
        figures(row, pair.path(arm));
        rows.add(row);
    }

    private static void figures(Map<String, String> row, JsonNode figures) {
        figures.forEachEntry((name, value) -> row.put(name, value.asString("")));
    }

    private static String millis(double nanos) {
        return String.format(Locale.ROOT, "%.6f", nanos / NANOS_PER_MILLI);
    }

    private String text() {
        Set<String> names = new LinkedHashSet<>();
        rows.forEach(row -> names.addAll(row.keySet()));
        StringBuilder out = new StringBuilder();
        line(out, List.copyOf(names));
        rows.forEach(row ->
                line(out, names.stream().map(name -> row.getOrDefault(name, "")).toList()));
        return out.toString();
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
