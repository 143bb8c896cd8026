package io.roseinfer.backend.cpu;

import io.roseinfer.backend.Operator;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.cpu.ModelWeights.Layer;
import io.roseinfer.backend.cpu.ModelWeights.Linear;
import io.roseinfer.backend.cpu.kernel.KvPool;
import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import io.roseinfer.model.ModelSpec;
import java.util.List;
import java.util.function.Function;

/**
 * Estimates bytes read and operations per operator from a step's shape: weights once per tile of tokens, a row's visible keys and values
 * once, and 4·c·queryWidth operations per layer for a query that sees c tokens. Other operators are negligible.
 */
final class StepWork {
    private static final List<Operator> LAYER_PRODUCTS =
            List.of(Operator.QKV, Operator.ATTENTION_OUTPUT, Operator.MLP_INNER, Operator.MLP_OUTPUT);

    private final long[] bytesPerTile = new long[Operator.values().length];
    private final long[] flopsPerToken = new long[Operator.values().length];
    private final long kvBytesPerToken;
    private final long flopsPerScore;
    /** The window of every layer. */
    private final int[] windows;

    StepWork(ModelSpec spec, ModelWeights weights) {
        kvBytesPerToken = KvPool.blockBytes(
                1, spec.attention().kvHeads(), spec.attention().headSize(), 1);
        flopsPerScore = 4L * spec.attention().queryWidth();
        windows = spec.blocks().stream()
                .mapToInt(block -> block.attention().window())
                .toArray();
        layers(weights, Operator.QKV, Layer::qkv);
        layers(weights, Operator.ATTENTION_OUTPUT, Layer::attentionOutput);
        layers(weights, Operator.MLP_INNER, Layer::mlpInner);
        layers(weights, Operator.MLP_OUTPUT, Layer::mlpOutput);
        product(Operator.LOGITS, weights.head());
    }

    private void layers(ModelWeights weights, Operator operator, Function<Layer, Linear> linear) {
        weights.layers().forEach(layer -> product(operator, linear.apply(layer).matrix()));
    }

    private void product(Operator operator, PackedMatrix matrix) {
        bytesPerTile[operator.ordinal()] += matrix.panelBytes();
        flopsPerToken[operator.ordinal()] += 2L * matrix.inputs() * matrix.outputs();
    }

    /** Writes a step's bytes and operations to {@code bytes[from + operator]} and {@code flops[from + operator]}. */
    void of(StepInputs step, long[] bytes, long[] flops, int from) {
        for (int i = 0; i < LAYER_PRODUCTS.size(); i++) {
            product(LAYER_PRODUCTS.get(i), step.tokens(), Scratch.TOKENS, bytes, flops, from);
        }
        product(Operator.LOGITS, step.samples(), Scratch.LOGIT_ROWS, bytes, flops, from);
        long contexts = 0;
        long scores = 0;
        for (int row = 0; row < step.rows(); row++) {
            long length = step.contextLength(row);
            long before = length - (step.rowStart(row + 1) - step.rowStart(row));
            for (int window : windows) {
                contexts += length - Math.max(0, before + 1 - window);
                scores += scores(length, window) - scores(before, window);
            }
        }
        bytes[from + Operator.ATTENTION.ordinal()] = contexts * kvBytesPerToken;
        flops[from + Operator.ATTENTION.ordinal()] = scores * flopsPerScore;
    }

    /** Returns the (query, visible key) pairs of a sequence of {@code length} tokens. */
    private static long scores(long length, int window) {
        long growing = Math.min(length, window);
        return growing * (growing + 1) / 2 + (length - growing) * window;
    }

    /** Returns the operations of a step's matmuls. */
    long productFlops(StepInputs step) {
        long perToken = 0;
        for (int i = 0; i < LAYER_PRODUCTS.size(); i++) {
            perToken += flopsPerToken[LAYER_PRODUCTS.get(i).ordinal()];
        }
        return step.tokens() * perToken + step.samples() * flopsPerToken[Operator.LOGITS.ordinal()];
    }

    private void product(Operator operator, long rows, int rowsPerTile, long[] bytes, long[] flops, int from) {
        bytes[from + operator.ordinal()] = Math.ceilDiv(rows, rowsPerTile) * bytesPerTile[operator.ordinal()];
        flops[from + operator.ordinal()] = rows * flopsPerToken[operator.ordinal()];
    }
}
