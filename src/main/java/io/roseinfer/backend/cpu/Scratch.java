package io.roseinfer.backend.cpu;

import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.cpu.kernel.QuantizedRows;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import io.roseinfer.model.ModelSpec;

/**
 * The activations of one tile of tokens, shared by the team. A step of any length runs through these in tiles, all layers for
 * one tile before the next; causal order makes that exact and keeps the memory small.
 */
final class Scratch {
    /** Most tokens that go through the layers together. */
    static final int TOKENS = 256;

    /** Most rows whose logits stand side by side. */
    static final int LOGIT_ROWS = 64;

    /** The residual stream, [token][width]. */
    final float[] residual;
    /** Normalised input of the next product, in row tiles. */
    final float[] normed;
    /** Input of the next product with INT4 weights, in tiles of {@link QuantizedRows}; empty with other weights. */
    final int[] quantized;
    /** Queries, keys and values side by side, [token][qkvWidth]. */
    final float[] qkv;
    /** Attention output, [token][width]: in row tiles, or row by row when INT4 quantizes it next. */
    final float[] attended;
    /** The MLP's inner activations, [token][innerWidth]: in row tiles, or row by row when INT4 quantizes them next. */
    final float[] inner;
    /** The residual stream of the tokens that are sampled from, [sample][width]. */
    final float[] last;
    /** [row][vocabulary]. */
    final float[] logits;

    Scratch(ModelSpec spec, RunnerLimits limits, WeightFormat format) {
        ArrayPlan plan = plan(spec, limits, format);
        residual = plan.floats("residual");
        normed = plan.floats("normed");
        quantized = plan.ints("quantized");
        qkv = plan.floats("qkv");
        attended = plan.floats("attended");
        inner = plan.floats("inner");
        last = plan.floats("last");
        logits = plan.floats("logits");
    }

    /** The arrays that such a runner's scratch will consist of. */
    static ArrayPlan plan(ModelSpec spec, RunnerLimits limits, WeightFormat format) {
        long tokens = Math.min(TOKENS, limits.maxTokens());
        long width = spec.width();
        int logitRows = Math.min(LOGIT_ROWS, limits.maxRows());
        return new ArrayPlan()
                .add("residual", tokens * width)
                .add("normed", mostRows(limits) * width)
                .add("quantized", format == WeightFormat.INT4 ? tokens * QuantizedRows.words(mostInputs(spec)) : 0)
                .add("qkv", tokens * spec.attention().qkvWidth())
                .add("attended", tokens * spec.attention().queryWidth())
                .add("inner", tokens * spec.mlp().inner())
                .add("last", limits.maxRows() * width)
                .add("logits", (long) logitRows * spec.vocabularySize());
    }

    /** The most rows any product of a runner with these limits has. */
    static int mostRows(RunnerLimits limits) {
        return Math.max(Math.min(TOKENS, limits.maxTokens()), Math.min(LOGIT_ROWS, limits.maxRows()));
    }

    /** The most inputs a matrix of the blocks has. */
    static int mostInputs(ModelSpec spec) {
        return Math.max(
                spec.width(), Math.max(spec.attention().queryWidth(), spec.mlp().inner()));
    }
}
