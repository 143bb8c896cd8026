package io.roseinfer.backend.cuda;

import io.roseinfer.backend.cuda.TilePlans.Line;
import io.roseinfer.base.RoseException.BackendUnavailable;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The table of tile plans, {@code kernels/contract/plans.csv}, which the harness of the kernels reads too. A table that does not
 * fit the kernels is refused with a message that names its line.
 *
 * @param fastest by size of layer; ascending, from 0 on, without a gap
 * @param int8 the fastest for weights of one byte; likewise
 * @param invariant likewise
 */
record TileTable(List<Size> fastest, List<Size> int8, List<Size> invariant) {
    static final String FILE = "plans.csv";

    private static final long MILLION = 1_000_000;

    /** The kernels that compute each matrix, one or the other as the model is, by column of the table: their names begin so. */
    private static final List<List<String>> EPILOGUES = List.of(
            List.of("qkv", "rotated"),
            List.of("residual"),
            List.of("activation", "gated"),
            List.of("residual"),
            List.of("head"));

    /** Those that no model with weights of one byte has. */
    private static final Set<String> NOT_INT8 = Set.of("qkv", "activation");

    /**
     * The lines for layers of a size.
     *
     * @param firstMillion whole millions of weights in a layer's matrices
     * @param lastMillion the most of them
     */
    record Size(int firstMillion, int lastMillion, List<Line> lines) {}

    public TileTable {
        fastest = List.copyOf(fastest);
        int8 = List.copyOf(int8);
        invariant = List.copyOf(invariant);
    }

    /**
     * The table of this build.
     *
     * @throws BackendUnavailable if it is no table of tile plans
     */
    public static TileTable load() {
        return TilePlanParser.parse(Contract.lines(FILE));
    }

    /**
     * The plans of a model.
     *
     * @param layerWeights weights in the matrices of one of its layers, those of one device
     * @param weights their type
     */
    public TilePlans of(long layerWeights, ElementType weights) {
        return new TilePlans(find(fastest(weights), layerWeights), find(invariant, layerWeights));
    }

    private List<Size> fastest(ElementType weights) {
        return weights == ElementType.INT8 ? int8 : fastest;
    }

    private static List<Line> find(List<Size> sizes, long layerWeights) {
        for (Size size : sizes) {
            if (layerWeights / MILLION <= size.lastMillion()) {
                return size.lines();
            }
        }
        return sizes.getLast().lines();
    }

    /**
     * Refuses a table that names a tile or an attention kernel that was not compiled.
     *
     * @param kernels the names of all kernels for Hopper
     * @param weights the type of the matrices
     */
    public void requireKernels(Set<String> kernels, ElementType weights) {
        List<Line> lines = Stream.of(fastest(weights), invariant)
                .flatMap(List::stream)
                .flatMap(size -> size.lines().stream())
                .toList();
        for (Line line : lines) {
            TilePlan plan = line.plan();
            List<GemmPlan> tiles = plan.matrices();
            for (int i = 0; i < tiles.size(); i++) {
                for (String epilogue : EPILOGUES.get(i)) {
                    if (weights == ElementType.INT8 && NOT_INT8.contains(epilogue)) {
                        continue;
                    }
                    String family = "gemm_" + epilogue + "_" + weights.suffix() + "_";
                    requireKernel(
                            line, tiles.get(i).text(), family, tiles.get(i).suffix(), kernels);
                }
            }
            String attention = plan.single().kernel().kernel;
            requireKernel(
                    line, attention, attention + "_", weights.activations().suffix(), kernels);
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
