package io.roseinfer.backend.cpu;

import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.cpu.kernel.MatmulInput;
import io.roseinfer.backend.cpu.kernel.QuantizedRows;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import io.roseinfer.model.ModelSpec;

/**
 * Activations of one tile of tokens, shared by the team. A step runs tile by tile, all layers of a tile before the next, which is exact
 * in causal order and bounds the memory.
 */
final class Scratch {
    /** Maximum tokens per tile. */
    static final int TOKENS = 256;

    /** Maximum rows of logits at a time. */
    static final int LOGIT_ROWS = 64;

    /** The residual stream, [token][width]. */
    final float[] residual;
    /** Normalized input of the next matmul, [token][width]. */
    final MatmulInput normed;
    /** Normalized input of the head, [row][width]; shares the memory of {@link #normed}. */
    final MatmulInput headInput;
    /** Queries, keys and values side by side, [token][qkvWidth]. */
    final float[] qkv;
    /** Attention output, [token][width]. */
    final MatmulInput attended;
    /** The MLP's inner activations, [token][innerWidth]. */
    final MatmulInput inner;
    /** The residual stream at sampled tokens, [sample][width]. */
    final float[] sampled;
    /** [row][vocabulary]. */
    final float[] logits;

    Scratch(ModelSpec spec, RunnerLimits limits, WeightFormat format) {
        ArrayPlan plan = plan(spec, limits, format);
        residual = plan.floats("residual");
        float[] norms = plan.floats("normed");
        int[] quantized = plan.ints("quantized");
        normed = input(format, norms, quantized);
        headInput = input(format.ofHead(), norms, quantized);
        qkv = plan.floats("qkv");
        attended = input(format, plan.floats("attended"), quantized);
        inner = input(format, plan.floats("inner"), quantized);
        sampled = plan.floats("sampled");
        logits = plan.floats("logits");
    }

    private static MatmulInput input(WeightFormat format, float[] floats, int[] quantized) {
        return format.quantizesInputs() ? new MatmulInput(floats, quantized) : new MatmulInput(floats);
    }

    /** Returns the plan of a runner's scratch arrays. */
    static ArrayPlan plan(ModelSpec spec, RunnerLimits limits, WeightFormat format) {
        long tokens = Math.min(TOKENS, limits.maxTokens());
        long width = spec.width();
        int logitRows = Math.min(LOGIT_ROWS, limits.maxSamples());
        long blockWords = format.quantizesInputs() ? tokens * QuantizedRows.words(maxInputs(spec)) : 0;
        long headWords = format.ofHead().quantizesInputs() ? (long) logitRows * QuantizedRows.words(spec.width()) : 0;
        return new ArrayPlan()
                .add("residual", tokens * width)
                .add("normed", maxRows(limits) * width)
                .add("quantized", Math.max(blockWords, headWords))
                .add("qkv", tokens * spec.attention().qkvWidth())
                .add("attended", tokens * spec.attention().queryWidth())
                .add("inner", tokens * spec.mlp().inner())
                .add("sampled", limits.maxSamples() * width)
                .add("logits", (long) logitRows * spec.vocabularySize());
    }

    /** Returns the maximum rows of any matmul. */
    static int maxRows(RunnerLimits limits) {
        return Math.max(Math.min(TOKENS, limits.maxTokens()), Math.min(LOGIT_ROWS, limits.maxSamples()));
    }

    /** Returns the maximum inputs of the blocks' matrices. */
    static int maxInputs(ModelSpec spec) {
        return Math.max(
                spec.width(), Math.max(spec.attention().queryWidth(), spec.mlp().inner()));
    }
}
