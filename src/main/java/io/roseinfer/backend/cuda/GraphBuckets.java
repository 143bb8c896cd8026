package io.roseinfer.backend.cuda;

import io.roseinfer.backend.cuda.ForwardPass.Choice;
import io.roseinfer.backend.cuda.ForwardPass.Step;
import io.roseinfer.backend.cuda.driver.CudaStream;
import io.roseinfer.backend.cuda.driver.StepGraph;
import io.roseinfer.base.Check;
import java.util.Arrays;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Steps of one kind captured as graphs, one per size, choice of tokens and turn: decode steps by their rows, prompts of one row by
 * their tokens. A smaller step fills its bucket up with empty rows, or with tokens of no row. Each graph keeps the step that it was
 * captured with, and a replay packs its inputs by that step's layout, so the addresses that are baked into the graph hold.
 */
final class GraphBuckets {
    private static final int BUFFERS = 2;

    /** A step and its graph. */
    record Captured(Step step, StepGraph graph) {}

    private final int[] sizes;
    private final @Nullable Captured[] graphs;

    private GraphBuckets(int[] sizes) {
        this.sizes = sizes;
        this.graphs = new Captured[sizes.length * Choice.values().length * BUFFERS];
    }

    /** Graphs of decode steps, of up to so many rows; none for 0. */
    static GraphBuckets ofBatches(int maxRows) {
        return new GraphBuckets(sizes(1, maxRows, GraphBuckets::rowsToNext));
    }

    /**
     * Graphs of prompts, of 2 and up to so many tokens; none for less. A bucket has the kernels of all prompts in it, so they have the same bits with a
     * graph and without, and hardly more tiles: its sizes are multiples of what GEMM tiles are high, and the ends of the ranges
     * that the kernels are chosen by.
     */
    static GraphBuckets ofPrompts(int maxTokens, TilePlans plans) {
        IntStream ends = plans.rangeEnds().filter(end -> end > 1 && end < maxTokens);
        IntStream multiples =
                Arrays.stream(sizes(8, maxTokens, GraphBuckets::tokensToNext)).filter(size -> size > 1);
        return new GraphBuckets(
                IntStream.concat(ends, multiples).sorted().distinct().toArray());
    }

    /** Sizes from the first on, the largest always among them. */
    private static int[] sizes(int first, int largest, IntUnaryOperator toNext) {
        IntStream smaller = IntStream.iterate(first, size -> size < largest, size -> size + toNext.applyAsInt(size));
        return IntStream.concat(smaller, IntStream.of(largest).filter(size -> size > 0))
                .toArray();
    }

    /** Close together where a row more or less counts. */
    private static int rowsToNext(int rows) {
        if (rows < 8) {
            return rows < 2 ? 1 : rows < 4 ? 2 : 4;
        }
        return rows < 64 ? 8 : rows < 1024 ? 32 : 128;
    }

    /** The height of most tiles that so many tokens are computed in. */
    private static int tokensToNext(int tokens) {
        return tokens < 32 ? 8 : tokens < 96 ? 16 : tokens < 256 ? 32 : 64;
    }

    int[] sizes() {
        return sizes.clone();
    }

    /** The smallest bucket that holds so many rows or tokens; 0 if there is none. */
    int bucket(int size) {
        int index = indexOf(size);
        return index < sizes.length ? sizes[index] : 0;
    }

    private int indexOf(int size) {
        int index = 0;
        while (index < sizes.length && sizes[index] < size) {
            index++;
        }
        return index;
    }

    private static int graphIndex(int index, Choice choice, int buffer) {
        return (index * Choice.values().length + choice.ordinal()) * BUFFERS + buffer;
    }

    void capture(Step step, CudaStream stream, ForwardPass forward) {
        StepLayout layout = step.layout();
        int size = layout.tokens();
        Check.that(bucket(size) == size, "a graph of a size that is no bucket");
        String rows = step.choice() == Choice.DRAW ? " drawn rows" : " rows";
        String name = "graph of " + layout.rows() + rows + (size > layout.rows() ? ", " + size + " tokens" : "");
        StepGraph graph = StepGraph.capture(stream, name, () -> forward.run(step));
        graphs[graphIndex(indexOf(size), step.choice(), step.buffer())] = new Captured(step, graph);
    }

    /** The graph of so many rows or tokens, or null if there is none. */
    @Nullable
    Captured find(int size, Choice choice, int buffer) {
        int index = indexOf(size);
        return index < sizes.length ? graphs[graphIndex(index, choice, buffer)] : null;
    }

    void close() {
        for (Captured captured : graphs) {
            if (captured != null) {
                captured.graph().close();
            }
        }
    }
}
