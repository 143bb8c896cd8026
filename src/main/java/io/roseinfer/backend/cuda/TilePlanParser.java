package io.roseinfer.backend.cuda;

import io.roseinfer.backend.cuda.TilePlan.SingleAttention;
import io.roseinfer.backend.cuda.TilePlans.Line;
import io.roseinfer.backend.cuda.TileTable.Size;
import io.roseinfer.base.RoseException.BackendUnavailable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads {@code kernels/contract/plans.csv}; the file says what its columns mean. */
final class TilePlanParser {
    private static final String HEADER = "plan,layer,rows,qkv,attention,attention output,mlp inner,mlp output,head";
    private static final List<String> NAMES = List.of(HEADER.split(","));
    private static final int LAYER = NAMES.indexOf("layer");
    private static final int ROWS = NAMES.indexOf("rows");
    /** The columns of {@link TilePlan#matrices}. */
    private static final List<Integer> MATRICES = List.of(3, 5, 6, 7, 8);

    private static final int ATTENTION_CELL = NAMES.indexOf("attention");
    private static final Pattern RANGE = Pattern.compile("(\\d{1,9})-(\\d{1,9})?");
    private static final Pattern TILE = Pattern.compile("(\\d{1,4}):(\\d{1,4}):(\\d{1,4})");
    private static final Pattern ATTENTION = Pattern.compile("([a-z_]+):(\\d{1,4})");

    private TilePlanParser() {}

    /** Reads a table; see {@link TileTable#load}. */
    static TileTable parse(List<String> lines) {
        Sizes fastest = new Sizes("fastest");
        Sizes int8 = new Sizes("int8");
        Sizes invariant = new Sizes("invariant");
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
                case "fastest" -> fastest.add(parser);
                case "int8" -> int8.add(parser);
                case "invariant" -> invariant.add(parser);
                default ->
                    throw parser.refusal(
                            "the plan is \"" + parser.cells[0] + "\"; fastest, int8 or invariant is expected");
            }
        }
        return new TileTable(fastest.all(lines.size()), int8.all(lines.size()), invariant.all(lines.size()));
    }

    /** The lines of one plan as they are read, by size of layer. */
    private static final class Sizes {
        private final String plan;
        private final List<Size> ended = new ArrayList<>();
        private final List<Line> lines = new ArrayList<>(); // of the size that is being read
        private Range size = new Range(0, -1);

        Sizes(String plan) {
            this.plan = plan;
        }

        void add(Parser parser) {
            Range next = parser.range(LAYER);
            if (!lines.isEmpty() && next.first() != size.first()) {
                end(lines.getLast().number());
            }
            if (lines.isEmpty()) {
                parser.requireNext(LAYER, next, size.last() + 1);
                size = next;
            }
            parser.require(
                    next.equals(size),
                    "layers of " + parser.cells[LAYER] + " begin as the line before and end elsewhere");
            lines.add(parser.line(lines, plan));
        }

        /** Ends the size that is being read; {@code number} is the line to blame if it does not cover all rows. */
        private void end(int number) {
            int last = lines.isEmpty() ? 0 : lines.getLast().lastRow();
            if (last != Integer.MAX_VALUE) {
                throw Contract.refusal(
                        TileTable.FILE,
                        number,
                        "the plan " + plan + " covers no rows from " + (last + 1) + " on; end it with a line for "
                                + (last + 1) + "-");
            }
            ended.add(new Size(size.first(), size.last(), List.copyOf(lines)));
            lines.clear();
        }

        List<Size> all(int lastLine) {
            int number = lines.isEmpty() ? lastLine : lines.getLast().number();
            end(number);
            if (size.last() != Integer.MAX_VALUE) {
                throw Contract.refusal(
                        TileTable.FILE,
                        number,
                        "the plan " + plan + " covers no layers from " + (size.last() + 1L)
                                + " million weights on; end it" + " with lines for " + (size.last() + 1L) + "-");
            }
            return ended;
        }
    }

    /** FIRST-LAST, or FIRST- for all from there on. */
    private record Range(int first, int last) {}

    /** One line. */
    private record Parser(int number, String[] cells) {
        Parser(int number, String line) {
            this(number, line.split(",", -1));
        }

        /** The range in a column, of a line with all its columns. */
        Range range(int column) {
            require(
                    cells.length == NAMES.size(),
                    cells.length + " columns; " + NAMES.size() + " are expected: " + HEADER);
            Matcher range = match(RANGE, cells[column], NAMES.get(column), "FIRST-LAST or FIRST-");
            int last = range.group(2) == null ? Integer.MAX_VALUE : Integer.parseInt(range.group(2));
            return new Range(Integer.parseInt(range.group(1)), last);
        }

        /** Requires that a range begins where those before it have ended. */
        void requireNext(int column, Range range, int expected) {
            String text = NAMES.get(column) + " " + cells[column];
            require(expected >= 0, text + " follow a line without an end");
            require(range.first() >= expected, text + " overlap the line before, which ends at " + (expected - 1));
            require(
                    range.first() == expected,
                    "no line covers the " + NAMES.get(column) + " " + expected + " to " + (range.first() - 1)
                            + " before " + text);
            require(range.last() >= range.first(), text + " end before they begin");
        }

        Line line(List<Line> before, String of) {
            boolean invariant = of.equals("invariant");
            ElementType weights = of.equals("int8") ? ElementType.INT8 : ElementType.F16;
            Range rows = range(ROWS);
            requireNext(ROWS, rows, before.isEmpty() ? 1 : before.getLast().lastRow() + 1);
            TilePlan plan = new TilePlan(
                    tile(3, false, weights),
                    attention(invariant),
                    tile(5, false, weights),
                    tile(6, false, weights),
                    tile(7, false, weights),
                    tile(8, true, weights));
            if (invariant) {
                requireOneOrder(
                        plan, before.isEmpty() ? plan : before.getFirst().plan());
                requireFitsInt8(plan);
            }
            return new Line(number, rows.first(), rows.last(), plan);
        }

        private GemmPlan tile(int column, boolean head, ElementType weights) {
            Matcher tile = match(TILE, cells[column], NAMES.get(column), "BATCH:CLUSTER:STAGES");
            GemmPlan plan = new GemmPlan(
                    Integer.parseInt(tile.group(1)), Integer.parseInt(tile.group(2)), Integer.parseInt(tile.group(3)));
            requireFits(plan, column, head, weights);
            return plan;
        }

        private void requireFits(GemmPlan plan, int column, boolean head, ElementType weights) {
            plan.misfit(head, weights).ifPresent(why -> {
                throw refusal(cells[column] + " for " + NAMES.get(column) + ": " + why);
            });
        }

        /** The invariant plan is for weights of one byte too, whose stages are larger. */
        private void requireFitsInt8(TilePlan plan) {
            List<GemmPlan> tiles = plan.matrices();
            for (int i = 0; i < tiles.size(); i++) {
                requireFits(tiles.get(i), MATRICES.get(i), i == tiles.size() - 1, ElementType.INT8);
            }
        }

        private SingleAttention attention(boolean invariant) {
            Matcher cell = match(ATTENTION, cells[ATTENTION_CELL], "attention", "KERNEL:STAGES");
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
                    cells[ATTENTION_CELL] + " has " + stages + " stages; the kernel takes " + kernel.minStages + " to "
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
            return Contract.refusal(TileTable.FILE, number, message);
        }
    }
}
