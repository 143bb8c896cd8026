package io.roseinfer.backend.cuda;

import io.roseinfer.backend.cuda.ForwardPass.Choice;
import io.roseinfer.backend.cuda.ForwardPass.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Decode steps captured as graphs, one per batch size and turn. A smaller batch fills its bucket up with empty rows. What a graph
 * was captured for is kept beside it, and a step replays it only if it is that very step.
 */
final class GraphBuckets {
    private record Captured(Step step, StepGraph graph) {}

    private final int[] sizes;
    private final List<Captured> graphs = new ArrayList<>();

    GraphBuckets(int maxRows) {
        this.sizes = sizes(maxRows);
    }

    /** No graphs. */
    static GraphBuckets none() {
        return new GraphBuckets(0);
    }

    /** Batch sizes: close together where a row more or less counts, the largest batch always among them. */
    static int[] sizes(int maxRows) {
        List<Integer> sizes = new ArrayList<>();
        for (int size = 1; size < maxRows; size += step(size)) {
            sizes.add(size);
        }
        if (maxRows > 0) {
            sizes.add(maxRows);
        }
        return sizes.stream().mapToInt(Integer::intValue).toArray();
    }

    private static int step(int size) {
        if (size < 8) {
            return size < 2 ? 1 : size < 4 ? 2 : 4;
        }
        return size < 64 ? 8 : size < 256 ? 32 : 128;
    }

    int[] sizes() {
        return sizes.clone();
    }

    /** The smallest bucket that holds so many rows; 0 if there is none. */
    int bucket(int rows) {
        for (int size : sizes) {
            if (size >= rows) {
                return size;
            }
        }
        return 0;
    }

    void capture(Step step, CudaStream stream, ForwardPass forward) {
        String name = "graph of " + step.layout().rows() + " rows";
        graphs.add(new Captured(step, StepGraph.capture(stream, name, () -> forward.run(step))));
    }

    /** The graph of exactly this step. */
    Optional<StepGraph> find(Step step) {
        if (step.choice() == Choice.GREEDY) {
            for (Captured captured : graphs) {
                if (captured.step().equals(step)) {
                    return Optional.of(captured.graph());
                }
            }
        }
        return Optional.empty();
    }

    void close() {
        graphs.forEach(captured -> captured.graph().close());
        graphs.clear();
    }
}
