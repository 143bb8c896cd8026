package io.roseinfer.bench.report.html;

import io.roseinfer.bench.report.ReplayOf;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The section of a replay: the recorded run, the replay with its settings and error, and the replay with changed settings. */
final class ReplaySection {
    private ReplaySection() {}

    static List<Block> blocks(String name, ReplayOf of) {
        boolean inSample = of.inSample().orElse(false);
        boolean changed = !of.changes().isEmpty();
        List<Block> blocks = new ArrayList<>();
        blocks.add(Block.Heading.of(name + " against " + of.name()));
        if (!of.valid()) {
            blocks.add(new Block.Verdict(Block.Tone.WARN)
                    .strong("The recorded run is invalid")
                    .text(", and so are errors against it" + (changed ? " and changes replayed from it" : "") + ": "
                            + String.join("; ", of.reasons())));
        }
        if (changed) {
            blocks.add(Block.Terms.code(Map.of("Changed", String.join(" ", of.changes()))));
        }
        if (!of.extrapolated().isEmpty()) {
            blocks.add(
                    new Block.Verdict(Block.Tone.WARN)
                            .strong("~ Extrapolated")
                            .text(
                                    ": over 5 % of the simulated time is in steps outside the recorded range; these columns are not validated"));
        }
        blocks.add(new Block.Table(
                of.headings(), of.rows().stream().map(ReplaySection::row).toList()));
        blocks.add(new Block.Paragraph((of.settingsKnown()
                        ? "Baseline: replayed with the recorded settings; its error is relative to the recording."
                        : "The server's settings are unknown: the replay has the given engine flags and defaults for"
                                + " the others; its error is relative to the recording.")
                + (inSample
                        ? " The step costs are fitted to the recorded run, so the error is in-sample: no error of a prediction."
                        : "")
                + (changed ? " The change is relative to that replay." : "")));
        return blocks;
    }

    private static List<String> row(ReplayOf.Row row) {
        List<String> cells = new ArrayList<>(List.of(
                row.metric().toUpperCase(Locale.ROOT) + " p" + Markup.tick(row.percentile()),
                Markup.number(row.recordedMillis()),
                Markup.number(row.replayedMillis()),
                percent(row.error())));
        row.changedMillis().ifPresent(millis -> {
            cells.add(Markup.number(millis));
            cells.add(percent(row.change().orElse(0)));
        });
        return cells;
    }

    private static String percent(double share) {
        return Double.isFinite(share) ? String.format(Locale.ROOT, "%+.1f %%", 100 * share) : "–";
    }
}
