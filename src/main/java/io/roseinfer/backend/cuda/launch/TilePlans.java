package io.roseinfer.backend.cuda.launch;

import io.roseinfer.backend.cuda.memory.ElementType;
import io.roseinfer.base.RoseException.BackendUnavailable;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The table of tile plans, {@code kernels/contract/plans.csv}, which the harness of the kernels reads too. A table that does not
 * fit the kernels is refused with a message that names its line.
 *
 * @param fastest by rows of one token each, or the tokens of prompts; ascending, from 1 on, without a gap
 * @param invariant likewise; every line sums in the same order
 */
public record TilePlans(List<Line> fastest, List<Line> invariant) {
    static final String FILE = "plans.csv";

    /** The kernels that compute each matrix, one or the other as the model is, by column of the table: their names begin so. */
    private static final List<List<String>> EPILOGUES = List.of(
            List.of("qkv", "rotated"),
            List.of("residual"),
            List.of("activation", "gated"),
            List.of("residual"),
            List.of("head"));

    /**
     * A line of the table.
     *
     * @param number in the file, from 1
     */
    record Line(int number, int firstRow, int lastRow, TilePlan plan) {}

    public TilePlans {
        fastest = List.copyOf(fastest);
        invariant = List.copyOf(invariant);
    }

    /**
     * The table of this build.
     *
     * @throws BackendUnavailable if it is no table of tile plans
     */
    public static TilePlans load() {
        return TilePlanParser.parse(Contract.lines(FILE));
    }

    /** The fastest plan for so many rows of one token, or so many tokens of prompts. */
    TilePlan fastest(int rows) {
        return find(fastest, rows);
    }

    /** The plan for so many rows that gives a row the same bits whatever their number. */
    TilePlan invariant(int rows) {
        return find(invariant, rows);
    }

    private static TilePlan find(List<Line> lines, int rows) {
        for (Line line : lines) {
            if (rows <= line.lastRow()) {
                return line.plan();
            }
        }
        throw new AssertionError("the last line has no end");
    }

    /** The last rows of each line of either plan, but for those without an end. */
    public IntStream rangeEnds() {
        return Stream.of(fastest, invariant)
                .flatMap(List::stream)
                .mapToInt(Line::lastRow)
                .filter(last -> last != Integer.MAX_VALUE)
                .distinct()
                .sorted();
    }

    /**
     * Refuses a table that names a tile or an attention kernel that was not compiled.
     *
     * @param kernels the names of all kernels for Hopper
     */
    public void requireKernels(Set<String> kernels, ElementType type) {
        for (Line line : Stream.concat(fastest.stream(), invariant.stream()).toList()) {
            TilePlan plan = line.plan();
            List<GemmPlan> tiles = plan.matrices();
            for (int i = 0; i < tiles.size(); i++) {
                for (String epilogue : EPILOGUES.get(i)) {
                    String family = "gemm_" + epilogue + "_" + type.suffix() + "_";
                    requireKernel(
                            line, tiles.get(i).text(), family, tiles.get(i).suffix(), kernels);
                }
            }
            String attention = plan.single().kernel().kernel;
            requireKernel(line, attention, attention + "_", type.suffix(), kernels);
        }
    }

    private static void requireKernel(Line line, String cell, String family, String suffix, Set<String> kernels) {
        if (kernels.contains(family + suffix)) {
            return;
        }
        Set<String> others = new TreeSet<>(kernels);
        others.removeIf(kernel -> !kernel.startsWith(family));
        throw Contract.refusal(
                FILE,
                line.number(),
                cell + " needs the kernel " + family + suffix + ", which was not compiled; there "
                        + (others.isEmpty() ? "is none of its kind" : "are " + String.join(", ", others)));
    }
}
