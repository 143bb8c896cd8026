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
    /** Input of the next product with INT4 weights, in tiles of {@link QuantizedRows}; empty where weights are others. */
    final int[] quantized;
    /** Queries, keys and values side by side, [token][qkvWidth]. */
    final float[] qkv;
    /** Joined heads, in row tiles; rows where they are yet to be quantized. */
    final float[] attended;
    /** The MLP's inner activations, likewise. */
    final float[] inner;
    /** The residual stream of the tokens that are sampled from, [sample][width]. */
    final float[] last;
    /** [row][vocabulary]. */
    final float[] logits;

    Scratch(ModelSpec spec, RunnerLimits limits, WeightFormat format) {
        int tokens = Math.min(TOKENS, limits.maxTokens());
        int logitRows = Math.min(LOGIT_ROWS, limits.maxRows());
        int width = spec.width();
        residual = new float[tokens * width];
        normed = new float[mostRows(limits) * width];
        quantized = new int[quantized(spec, tokens, format)];
        qkv = new float[tokens * spec.attention().qkvWidth()];
        attended = new float[tokens * spec.attention().queryWidth()];
        inner = new float[tokens * spec.mlp().inner()];
        last = new float[limits.maxRows() * width];
        logits = new float[Math.multiplyExact(logitRows, spec.vocabularySize())];
    }

    /** The most rows any product of a runner with these limits has. */
    static int mostRows(RunnerLimits limits) {
        return Math.max(Math.min(TOKENS, limits.maxTokens()), Math.min(LOGIT_ROWS, limits.maxRows()));
    }

    /** The most inputs a matrix of the blocks has. */
    static int mostInputs(ModelSpec spec) {
        return Math.max(spec.width(), Math.max(spec.attention().queryWidth(), spec.mlp().inner()));
    }

    private static int quantized(ModelSpec spec, int tokens, WeightFormat format) {
        int widest = mostInputs(spec);
        return format == WeightFormat.INT4 ? Math.multiplyExact(tokens, QuantizedRows.words(widest)) : 0;
    }

    static long bytes(ModelSpec spec, RunnerLimits limits, WeightFormat format) {
        int tokens = Math.min(TOKENS, limits.maxTokens());
        long width = spec.width();
        long perToken = width + spec.attention().qkvWidth() + spec.attention().queryWidth() + spec.mlp().inner();
        long activations = tokens * perToken + (mostRows(limits) + limits.maxRows()) * width;
        return 4L
                * (quantized(spec, tokens, format)
                        + activations
                        + (long) Math.min(LOGIT_ROWS, limits.maxRows()) * spec.vocabularySize());
    }
}
