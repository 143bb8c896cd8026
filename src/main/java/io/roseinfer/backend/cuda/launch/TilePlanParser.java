package io.roseinfer.backend.cuda.launch;

import io.roseinfer.backend.cuda.launch.TilePlan.SingleAttention;
import io.roseinfer.backend.cuda.launch.TilePlans.Line;
import io.roseinfer.base.RoseException.BackendUnavailable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads {@code kernels/contract/plans.csv}; the file says what its columns mean. */
final class TilePlanParser {
    private static final String HEADER = "plan,rows,qkv,attention,attention output,mlp inner,mlp output,head";
    private static final List<String> NAMES = List.of(HEADER.split(","));
    private static final Pattern ROWS = Pattern.compile("(\\d{1,9})-(\\d{1,9})?");
    private static final Pattern TILE = Pattern.compile("(\\d{1,4}):(\\d{1,4}):(\\d{1,4})");
    private static final Pattern ATTENTION = Pattern.compile("([a-z_]+):(\\d{1,4})");

    private TilePlanParser() {}

    /** Reads a table; see {@link TilePlans#load}. */
    static TilePlans parse(List<String> lines) {
        List<Line> fastest = new ArrayList<>();
        List<Line> invariant = new ArrayList<>();
        boolean begun = false;
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            if (line.isBlank() || line.startsWith("#")) {
                continue;
            }
            Parser parser = new Parser(i + 1, line);
            if (!begun) {
                parser.require(line.equals(HEADER), "the first line must be " + HEADER);
                begun = true;
                continue;
            }
            switch (parser.cells[0]) {
                case "fastest" -> fastest.add(parser.line(fastest, false));
                case "invariant" -> invariant.add(parser.line(invariant, true));
                default ->
                    throw parser.refusal("the plan is \"" + parser.cells[0] + "\"; fastest or invariant is expected");
            }
        }
        requireEnd("fastest", fastest, lines.size());
        requireEnd("invariant", invariant, lines.size());
        return new TilePlans(fastest, invariant);
    }

    private static void requireEnd(String plan, List<Line> lines, int end) {
        int last = lines.isEmpty() ? 0 : lines.getLast().lastRow();
        if (last != Integer.MAX_VALUE) {
            int number = lines.isEmpty() ? end : lines.getLast().number();
            throw Contract.refusal(
                    TilePlans.FILE,
                    number,
                    "the plan " + plan + " covers no rows from " + (last + 1) + " on; end it with a line for "
                            + (last + 1) + "-");
        }
    }

    /** One line. */
    private record Parser(int number, String[] cells) {
        Parser(int number, String line) {
            this(number, line.split(",", -1));
        }

        Line line(List<Line> before, boolean invariant) {
            require(
                    cells.length == NAMES.size(),
                    cells.length + " columns; " + NAMES.size() + " are expected: " + HEADER);
            Matcher rows = match(ROWS, cells[1], "rows", "FIRST-LAST or FIRST-");
            int first = Integer.parseInt(rows.group(1));
            int last = rows.group(2) == null ? Integer.MAX_VALUE : Integer.parseInt(rows.group(2));
            int expected = before.isEmpty() ? 1 : before.getLast().lastRow() + 1;
            require(expected > 0, "rows " + cells[1] + " follow a line without an end");
            require(
                    first >= expected,
                    "rows " + cells[1] + " overlap the line before, which ends at " + (expected - 1));
            require(
                    first == expected,
                    "no line covers the rows " + expected + " to " + (first - 1) + " before rows " + cells[1]);
            require(last >= first, "rows " + cells[1] + " end before they begin");
            TilePlan plan = new TilePlan(
                    tile(2, false),
                    attention(invariant),
                    tile(4, false),
                    tile(5, false),
                    tile(6, false),
                    tile(7, true));
            if (invariant) {
                requireOneOrder(
                        plan, before.isEmpty() ? plan : before.getFirst().plan());
            }
            return new Line(number, first, last, plan);
        }

        private GemmPlan tile(int column, boolean head) {
            Matcher tile = match(TILE, cells[column], NAMES.get(column), "BATCH:CLUSTER:STAGES");
            GemmPlan plan = new GemmPlan(
                    Integer.parseInt(tile.group(1)), Integer.parseInt(tile.group(2)), Integer.parseInt(tile.group(3)));
            plan.misfit(head).ifPresent(why -> {
                throw refusal(cells[column] + " for " + NAMES.get(column) + ": " + why);
            });
            return plan;
        }

        private SingleAttention attention(boolean invariant) {
            Matcher cell = match(ATTENTION, cells[3], "attention", "KERNEL:STAGES");
            SingleAttention.Kernel kernel = Arrays.stream(SingleAttention.Kernel.values())
                    .filter(known -> cell.group(1).equals(known.name().toLowerCase(Locale.ROOT)))
                    .filter(known -> invariant == (known == SingleAttention.Kernel.PREFILL_SINGLE))
                    .findFirst()
                    .orElseThrow(() -> refusal("the attention kernel is \"" + cell.group(1) + "\"; "
                            + (invariant ? "prefill_single is" : "decode and decode_held are")
                            + " allowed in this plan"));
            int stages = Integer.parseInt(cell.group(2));
            require(
                    stages >= kernel.minStages && stages <= kernel.maxStages,
                    cells[3] + " has " + stages + " stages; the kernel takes " + kernel.minStages + " to "
                            + kernel.maxStages);
            return new SingleAttention(kernel, stages);
        }

        private void requireOneOrder(TilePlan plan, TilePlan first) {
            List<GemmPlan> tiles = plan.matrices();
            List<GemmPlan> wanted = first.matrices();
            for (int i = 0; i < tiles.size(); i++) {
                GemmPlan tile = tiles.get(i);
                require(
                        tile.batch() <= 64 && tile.cluster() == wanted.get(i).cluster(),
                        tile.text()
                                + " sums in another order than the first line of the plan; a tile of at most 64 rows"
                                + " and a cluster of " + wanted.get(i).cluster() + " is allowed");
            }
        }

        private Matcher match(Pattern pattern, String cell, String column, String expected) {
            Matcher matcher = pattern.matcher(cell);
            require(matcher.matches(), "the column " + column + " is \"" + cell + "\"; " + expected + " is expected");
            return matcher;
        }

        private void require(boolean condition, String message) {
            if (!condition) {
                throw refusal(message);
            }
        }

        private BackendUnavailable refusal(String message) {
            return Contract.refusal(TilePlans.FILE, number, message);
        }
    }
}
