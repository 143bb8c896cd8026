package io.roseinfer.bench.report.html;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/** Where the latencies of a run went, as bars and as tables; nothing where the server did not say. */
final class PartsSection {
    private static final double WIDTH = 640;
    private static final double LEFT = 110;
    private static final double RIGHT = 14;
    private static final double ROW = 34;
    private static final int STYLES = 6;
    private static final int SLOWEST = 10;

    private static final Map<String, String> COLUMNS = columns();

    private PartsSection() {}

    private static Map<String, String> columns() {
        Map<String, String> columns = new LinkedHashMap<>();
        columns.put("all", "mean");
        columns.put("median", "around p50");
        columns.put("tail", "p98 and up");
        return columns;
    }

    /** What the section's words mean. */
    static Map<String, String> definitions() {
        Map<String, String> words = new LinkedHashMap<>();
        words.put("Dispatch", "from when a request was to be sent until it was: the client was late, or held it back");
        words.put("Send", "until the server had received the last byte of the body");
        words.put("Parse", "until the request was understood");
        words.put("Tokenize", "until the prompt was token ids, and in the engine's queue");
        words.put("Queue", "until the request was admitted");
        words.put("Prefill", "until the step that ends the prompt was back from the device");
        words.put("Sample", "until the engine had the token");
        words.put("Hand-over", "until the thread that answers had it");
        words.put("Write", "until the socket had its event");
        words.put("Read", "until the client had read it: the network, and the client's own turn");
        words.put(
                "Residual",
                "what is left if stamps are missing or out of order: a client may read an event before the server's write has returned");
        words.put(
                "Decode, prompts",
                "of a gap between two tokens: steps that only decoded, and steps with prompt tokens");
        words.put("Between", "of a gap: the engine outside of steps");
        words.put(
                "Delivery",
                "of a gap: how much later than the engine the client had this token than the one before; below 0 if it caught up");
        words.put(
                "Mean, around p50, p98 and up",
                "of the parts: means over all samples, over the fifth around the median, and over those from the 98th percentile up");
        words.put(
                "By percentile",
                "means of the parts over slices of the samples, the shortest first; a part that grows to the right makes the tail");
        return words;
    }

    /** Whether a results file's own part has what the section shows. */
    static boolean shows(JsonNode own) {
        return own.path("ttft_parts").isObject();
    }

    static String markup(String name, JsonNode own) {
        if (!shows(own)) {
            return "";
        }
        StringBuilder out =
                new StringBuilder("<h2>Where the time went: " + Markup.text(name) + "</h2>\n<div class=\"charts\">\n");
        out.append(bars("Time to first token, from the intended time", own.path("ttft_parts")));
        out.append(PartsByRank.svg("Time to first token by percentile", "requests", own.path("ttft_parts")));
        out.append(bars("Time between tokens", own.path("itl_parts")));
        out.append(PartsByRank.svg("Time between tokens by percentile", "gaps", own.path("itl_parts")));
        out.append("</div>\n");
        table(out, own.path("ttft_parts"));
        table(out, own.path("itl_parts"));
        slowest(out, own.path("requests"), own.path("ttft_parts").path("all"));
        gaps(out, own);
        return out.toString();
    }

    /** A bar for each column, of the parts that take time. */
    private static String bars(String title, JsonNode parts) {
        if (!parts.isObject()) {
            return "";
        }
        double longest = COLUMNS.keySet().stream()
                .mapToDouble(column -> sum(parts.path(column)))
                .reduce(1e-9, Math::max);
        double bottom = 8 + ROW * COLUMNS.size();
        StringBuilder out =
                new StringBuilder("<figure><figcaption>" + Markup.text(title) + "</figcaption><svg viewBox=\"0 0 640 "
                        + Markup.at(bottom + 24) + "\" role=\"img\" aria-label=\"" + Markup.text(title) + "\">");
        int row = 0;
        for (Map.Entry<String, String> column : COLUMNS.entrySet()) {
            double y = 8 + ROW * row++;
            double x = LEFT;
            out.append("<text class=\"tick\" text-anchor=\"end\" x=\"" + (LEFT - 8) + "\" y=\"" + (y + ROW / 2 + 2)
                    + "\">" + column.getValue() + "</text>");
            int style = 0;
            for (Map.Entry<String, JsonNode> part : parts.path(column.getKey()).properties()) {
                double width = Math.max(0, part.getValue().asDouble()) / longest * (WIDTH - LEFT - RIGHT);
                out.append("<rect class=\"" + colour("b", style) + "\" x=\"" + Markup.at(x) + "\" y=\"" + Markup.at(y)
                        + "\" width=\"" + Markup.at(width) + "\" height=\"" + (ROW - 10) + "\"/>");
                x += width;
                style++;
            }
        }
        for (double tick : Chart.even(longest)) {
            out.append("<text class=\"tick\" text-anchor=\"middle\" x=\""
                    + Markup.at(LEFT + tick / longest * (WIDTH - LEFT - RIGHT)) + "\" y=\"" + Markup.at(bottom + 14)
                    + "\">"
                    + Markup.tick(tick) + "</text>");
        }
        out.append("</svg><p class=\"legend\">ms: ");
        int style = 0;
        for (Map.Entry<String, JsonNode> part : parts.path("all").properties()) {
            out.append("<span><i class=\"" + colour("k", style++) + "\"></i>" + Markup.text(word(part.getKey()))
                    + "</span> ");
        }
        return out.append("</p></figure>\n").toString();
    }

    /** One of six colours; the parts behind the sixth have them again, paler. */
    static String colour(String kind, int style) {
        return kind + style % STYLES + (style < STYLES ? "" : " pale");
    }

    private static double sum(JsonNode column) {
        return column.valueStream()
                .mapToDouble(value -> Math.max(0, value.asDouble()))
                .sum();
    }

    /** A part's name as the page writes it. */
    static String word(String part) {
        return part.replace('_', '-');
    }

    private static void table(StringBuilder out, JsonNode parts) {
        if (!parts.isObject()) {
            return;
        }
        out.append("<div class=\"scroll\"><table><thead><tr><th>ms</th>");
        COLUMNS.values().forEach(column -> out.append("<th>" + column + "</th>"));
        out.append("</tr></thead><tbody>");
        for (String part : parts.path("all").propertyNames()) {
            out.append("<tr><th>" + Markup.text(word(part)) + "</th>");
            boolean absent = COLUMNS.keySet().stream()
                    .allMatch(column -> parts.path(column).path(part).asDouble() == 0);
            COLUMNS.keySet()
                    .forEach(column -> out.append(
                            absent
                                    ? "<td>–</td>"
                                    : String.format(
                                            Locale.ROOT,
                                            "<td>%.3f</td>",
                                            parts.path(column).path(part).asDouble())));
            out.append("</tr>");
        }
        out.append("</tbody></table></div>\n");
    }

    /** The requests whose first token took longest, and the parts that any of them spent time on. */
    private static void slowest(StringBuilder out, JsonNode requests, JsonNode names) {
        List<JsonNode> slowest = requests.valueStream()
                .filter(request -> request.path("ttft_parts").isObject())
                .sorted(Comparator.comparingDouble((JsonNode request) -> -whole(request.path("ttft_parts"))))
                .limit(SLOWEST)
                .toList();
        if (slowest.isEmpty()) {
            return;
        }
        List<String> parts = names.propertyNames().stream()
                .filter(part -> slowest.stream()
                        .anyMatch(
                                request -> request.path("ttft_parts").path(part).asDouble() != 0))
                .toList();
        out.append(
                "<div class=\"scroll\"><table><thead><tr><th>slowest first tokens</th><th>prompt tokens</th><th>ms</th>");
        parts.forEach(part -> out.append("<th>" + Markup.text(word(part)) + "</th>"));
        out.append("</tr></thead><tbody>");
        for (JsonNode request : slowest) {
            int tokens = request.path("prompt_tokens").asInt();
            JsonNode of = request.path("ttft_parts");
            out.append("<tr><th>request " + request.path("id").asInt() + "</th><td>" + (tokens < 0 ? "text" : tokens)
                    + "</td><td>" + Markup.number(whole(of)) + "</td>");
            parts.forEach(
                    part -> out.append("<td>" + Markup.number(of.path(part).asDouble()) + "</td>"));
            out.append("</tr>");
        }
        out.append("</tbody></table></div>\n");
    }

    private static double whole(JsonNode parts) {
        return parts.valueStream().mapToDouble(JsonNode::asDouble).sum();
    }

    private static void gaps(StringBuilder out, JsonNode own) {
        JsonNode gaps = own.path("longest_gaps");
        if (gaps.isEmpty()) {
            return;
        }
        int without = own.path("gaps_without_steps").asInt(0);
        if (without > 0) {
            out.append("<p>" + Markup.number(without)
                    + " gaps are not in the breakdown: an engine remembers only its newest steps.</p>\n");
        }
        out.append(
                "<div class=\"scroll\"><table><thead><tr><th>longest gaps</th><th>ms</th><th>waited for step</th><th>of ms</th>"
                        + "<th>rows</th><th>prompt tokens</th></tr></thead><tbody>");
        for (JsonNode gap : gaps) {
            out.append("<tr><th>request " + gap.path("request").asInt() + ", token "
                    + gap.path("token").asInt() + "</th><td>"
                    + Markup.number(gap.path("ms").asDouble()) + "</td><td>"
                    + (gap.has("step")
                            ? gap.path("step").asLong() + "</td><td>"
                                    + Markup.number(gap.path("step_ms").asDouble()) + "</td><td>"
                                    + gap.path("rows").asInt() + "</td><td>"
                                    + gap.path("prefill_tokens").asInt()
                            : "–</td><td>–</td><td>–</td><td>–")
                    + "</td></tr>");
        }
        out.append("</tbody></table></div>\n");
    }
}
