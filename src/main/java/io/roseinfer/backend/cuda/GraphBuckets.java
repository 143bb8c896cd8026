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
 * CUDA graphs captured per size, sampling mode and buffer: decode steps by rows, single prompts by tokens. Smaller steps are padded
 * with empty rows, or with tokens outside of any row. A replay packs its inputs in the layout of the captured step, whose addresses
 * are fixed in the graph.
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

    /** Returns buckets for decode steps of up to {@code maxRows}; none for 0. */
    static GraphBuckets ofBatches(int maxRows) {
        return new GraphBuckets(sizes(1, maxRows, GraphBuckets::rowsToNext));
    }

    /**
     * Returns buckets for prompts of 2 to {@code maxTokens} tokens. All prompts of a bucket have the bucket's kernels, so results are
     * bit-identical with and without a graph: sizes are multiples of tile heights, and the ends of the plans' ranges.
     */
    static GraphBuckets ofPrompts(int maxTokens, TilePlans plans) {
        IntStream ends = plans.rangeEnds().filter(end -> end > 1 && end < maxTokens);
        IntStream multiples =
                Arrays.stream(sizes(8, maxTokens, GraphBuckets::tokensToNext)).filter(size -> size > 1);
        return new GraphBuckets(
                IntStream.concat(ends, multiples).sorted().distinct().toArray());
    }

    /** Returns sizes from {@code first} on, always including {@code largest}. */
    private static int[] sizes(int first, int largest, IntUnaryOperator toNext) {
        IntStream smaller = IntStream.iterate(first, size -> size < largest, size -> size + toNext.applyAsInt(size));
        return IntStream.concat(smaller, IntStream.of(largest).filter(size -> size > 0))
                .toArray();
    }

    /** Returns the distance to the next size: small if few rows. */
    private static int rowsToNext(int rows) {
        if (rows < 8) {
            return rows < 2 ? 1 : rows < 4 ? 2 : 4;
        }
        return rows < 64 ? 8 : rows < 1024 ? 32 : 128;
    }

    /** Returns the usual tile height for {@code tokens}; at least {@link PromptTile#ROWS} where prompts have its tiles. */
    private static int tokensToNext(int tokens) {
        if (tokens < 256) {
            return tokens < 32 ? 8 : tokens < 96 ? 16 : 32;
        }
        return tokens < 512 ? 64 : PromptTile.ROWS;
    }

    int[] sizes() {
        return sizes.clone();
    }

    /** Returns the smallest bucket for {@code size} rows or tokens, or 0. */
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
        Check.that(bucket(size) == size, "no bucket has the size of this graph");
        String rows = step.choice() == Choice.DRAW ? " drawn rows" : " rows";
        String name = "graph of " + layout.rows() + rows + (size > layout.rows() ? ", " + size + " tokens" : "");
        StepGraph graph = StepGraph.capture(stream, name, () -> forward.run(step));
        graphs[graphIndex(indexOf(size), step.choice(), step.buffer())] = new Captured(step, graph);
    }

    /** Returns the graph for {@code size} rows or tokens, or null. */
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
