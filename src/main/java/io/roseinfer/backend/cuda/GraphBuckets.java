package io.roseinfer.backend.cuda;

import io.roseinfer.backend.cuda.ForwardPass.Choice;
import io.roseinfer.backend.cuda.ForwardPass.Step;
import io.roseinfer.base.Check;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decode steps captured as graphs, one per batch size, choice of tokens and turn. A smaller batch fills its bucket up with empty
 * rows. What a graph was captured for is kept beside it, and the inputs of its replay are laid out by that, so a graph never runs
 * over anything but what it assumed.
 */
final class GraphBuckets {
    private static final int TURNS = 2;

    /** A step and its graph. */
    record Captured(Step step, StepGraph graph) {}

    private final int[] sizes;
    private final @Nullable Captured[] graphs;

    GraphBuckets(int maxRows) {
        this.sizes = sizes(maxRows);
        this.graphs = new Captured[sizes.length * Choice.values().length * TURNS];
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
        int index = indexOf(rows);
        return index < sizes.length ? sizes[index] : 0;
    }

    private int indexOf(int rows) {
        int index = 0;
        while (index < sizes.length && sizes[index] < rows) {
            index++;
        }
        return index;
    }

    private static int place(int index, Choice choice, int turn) {
        return (index * Choice.values().length + choice.ordinal()) * TURNS + turn;
    }

    void capture(Step step, CudaStream stream, ForwardPass forward) {
        int rows = step.layout().rows();
        Check.that(bucket(rows) == rows, "a graph of a batch size that is no bucket");
        String name = "graph of " + rows + (step.choice() == Choice.DRAW ? " drawn rows" : " rows");
        StepGraph graph = StepGraph.capture(stream, name, () -> forward.run(step));
        graphs[place(indexOf(rows), step.choice(), step.turn())] = new Captured(step, graph);
    }

    /** The graph that decodes so many rows, or null if there is none. */
    @Nullable
    Captured find(int rows, Choice choice, int turn) {
        int index = indexOf(rows);
        return index < sizes.length ? graphs[place(index, choice, turn)] : null;
    }

    void close() {
        for (Captured captured : graphs) {
            if (captured != null) {
                captured.graph().close();
            }
        }
    }
}
