package io.roseinfer.bench.report.html;

import java.util.Locale;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/** A replay on the page: the recorded run, the replay with its settings and its error, and the replay with changed ones. */
final class ReplaySection {
    private ReplaySection() {}

    /** The section; nothing for a run that is no replay. */
    static String markup(String name, JsonNode of) {
        if (of.isMissingNode()) {
            return "";
        }
        boolean changed = !of.path("changes").isEmpty();
        boolean known = of.path("settings_known").asBoolean(true);
        StringBuilder out = new StringBuilder("<h2>" + Markup.text(name) + " against "
                + Markup.text(of.path("name").asString("")) + "</h2>\n");
        if (!of.path("valid").asBoolean(true)) {
            out.append(
                    "<section class=\"verdict warn\"><strong>The recorded run is invalid</strong>, so its figures do not"
                            + " count, nor errors against them: "
                            + Markup.text(words(of.path("reasons"), "; ")) + "</section>\n");
        }
        if (changed) {
            out.append("<dl><dt>Changed</dt><dd><code>" + Markup.text(words(of.path("changes"), " "))
                    + "</code></dd></dl>\n");
        }
        out.append("<div class=\"scroll\"><table><thead><tr><th>ms</th><th>recorded</th><th>"
                + (known ? "as it was" : "replayed") + "</th><th>error</th>"
                + (changed ? "<th>changed</th><th>change</th>" : "") + "</tr></thead><tbody>");
        for (JsonNode row : of.path("rows")) {
            row(out, row);
        }
        out.append("</tbody></table></div>\n<p>"
                        + (known
                                ? "As it was: replayed with the recorded settings; its error is against what was recorded."
                                : "The server's settings are not known: the replay has the engine flags that were given and defaults for"
                                        + " the others; its error is against what was recorded."))
                .append(changed ? " The change is against that replay." : "");
        return out.append("</p>\n").toString();
    }

    private static void row(StringBuilder out, JsonNode row) {
        double recorded = row.path("recorded_ms").asDouble();
        double replayed = row.path("replayed_ms").asDouble();
        out.append("<tr><th>" + row.path("metric").asString("").toUpperCase(Locale.ROOT) + " p"
                + Markup.tick(row.path("percentile").asDouble()) + "</th><td>" + Markup.number(recorded) + "</td>");
        cells(out, replayed, recorded);
        if (row.has("changed_ms")) {
            cells(out, row.path("changed_ms").asDouble(), replayed);
        }
        out.append("</tr>");
    }

    /** A value, and how far it is from another. */
    private static void cells(StringBuilder out, double value, double from) {
        double share = value / from - 1;
        out.append("<td>" + Markup.number(value) + "</td><td>"
                + (Double.isFinite(share) ? String.format(Locale.ROOT, "%+.1f %%", 100 * share) : "–") + "</td>");
    }

    private static String words(JsonNode list, String between) {
        return list.valueStream().map(word -> word.asString("")).collect(Collectors.joining(between));
    }
}
