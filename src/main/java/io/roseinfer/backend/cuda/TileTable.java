package io.roseinfer.backend.cuda;

import io.roseinfer.backend.cuda.TilePlan.DecodeAttention;
import io.roseinfer.backend.cuda.TilePlans.Line;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The tile plans of {@code kernels/contract/plans.csv}, which defines its columns and is also read by the kernels' harness. Ranges
 * ascend without gaps.
 *
 * @param fastest by layer size
 * @param int8 the fastest for int8 weights
 * @param invariant batch-invariant plans
 */
record TileTable(List<Size> fastest, List<Size> int8, List<Size> invariant) {
    private static final String FILE = "plans.csv";
    private static final long MILLION = 1_000_000;

    /**
     * The lines for a range of layer sizes.
     *
     * @param firstMillion minimum weights in a layer's matrices, in whole millions
     * @param lastMillion maximum weights, in whole millions
     */
    record Size(int firstMillion, int lastMillion, List<Line> lines) {}

    TileTable {
        fastest = List.copyOf(fastest);
        int8 = List.copyOf(int8);
        invariant = List.copyOf(invariant);
    }

    /** Returns the table of this build. */
    static TileTable load() {
        Map<String, Map<String, List<Line>>> plans = new LinkedHashMap<>();
        Contract.lines(FILE).stream()
                .skip(1)
                .map(line -> line.split(",", -1))
                .forEach(cells -> plans.computeIfAbsent(cells[0], plan -> new LinkedHashMap<>())
                        .computeIfAbsent(cells[1], layer -> new ArrayList<>())
                        .add(line(cells)));
        return new TileTable(
                sizes(plans.getOrDefault("fastest", Map.of())),
                sizes(plans.getOrDefault("int8", Map.of())),
                sizes(plans.getOrDefault("invariant", Map.of())));
    }

    private static List<Size> sizes(Map<String, List<Line>> plan) {
        return plan.entrySet().stream()
                .map(size -> new Size(first(size.getKey()), last(size.getKey()), List.copyOf(size.getValue())))
                .toList();
    }

    private static Line line(String[] cells) {
        String[] attention = cells[4].split(":", -1);
        return new Line(
                first(cells[2]),
                last(cells[2]),
                new TilePlan(
                        tile(cells[3]),
                        new DecodeAttention(
                                DecodeAttention.Kernel.valueOf(attention[0].toUpperCase(Locale.ROOT)),
                                Integer.parseInt(attention[1])),
                        tile(cells[5]),
                        tile(cells[6]),
                        tile(cells[7]),
                        tile(cells[8])));
    }

    private static GemmPlan tile(String cell) {
        if (cell.equals("prompt")) {
            return GemmPlan.PROMPT;
        }
        String[] parts = cell.split(":", -1);
        return new GemmPlan(Integer.parseInt(parts[0]), Integer.parseInt(parts[1]), Integer.parseInt(parts[2]));
    }

    private static int first(String range) {
        return Integer.parseInt(range.substring(0, range.indexOf('-')));
    }

    private static int last(String range) {
        String last = range.substring(range.indexOf('-') + 1);
        return last.isEmpty() ? Integer.MAX_VALUE : Integer.parseInt(last);
    }

    /**
     * Returns the plans of a model.
     *
     * @param layerWeights weights in a layer's matrices on one device
     * @param weights their type
     */
    TilePlans of(long layerWeights, ElementType weights) {
        List<Size> quickest = weights == ElementType.INT8 ? int8 : fastest;
        return new TilePlans(find(quickest, layerWeights), find(invariant, layerWeights));
    }

    private static List<Line> find(List<Size> sizes, long layerWeights) {
        for (Size size : sizes) {
            if (layerWeights / MILLION <= size.lastMillion()) {
                return size.lines();
            }
        }
        return sizes.getLast().lines();
    }
}
