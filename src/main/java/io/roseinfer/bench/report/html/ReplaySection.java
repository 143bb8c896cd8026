package io.roseinfer.bench.report.html;

import io.roseinfer.bench.report.ReplayOf;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A replay on the page: the recorded run, the replay with its settings and its error, and the replay with changed ones. */
final class ReplaySection {
    private ReplaySection() {}

    static List<Block> blocks(String name, ReplayOf of) {
        boolean changed = !of.changes().isEmpty();
        List<Block> blocks = new ArrayList<>();
        blocks.add(Block.Heading.of(name + " against " + of.name()));
        if (!of.valid()) {
            blocks.add(new Block.Verdict(Block.Tone.WARN)
                    .strong("The recorded run is invalid")
                    .text(", so its figures do not count, nor errors against them: "
                            + String.join("; ", of.reasons())));
        }
        if (changed) {
            blocks.add(Block.Terms.code(Map.of("Changed", String.join(" ", of.changes()))));
        }
        List<String> head =
                new ArrayList<>(List.of("ms", "recorded", of.settingsKnown() ? "as it was" : "replayed", "error"));
        if (changed) {
            head.addAll(List.of("changed", "change"));
        }
        blocks.add(
                new Block.Table(head, of.rows().stream().map(ReplaySection::row).toList()));
        blocks.add(new Block.Paragraph((of.settingsKnown()
                        ? "As it was: replayed with the recorded settings; its error is against what was recorded."
                        : "The server's settings are not known: the replay has the engine flags that were given and defaults for"
                                + " the others; its error is against what was recorded.")
                + (changed ? " The change is against that replay." : "")));
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
