package io.roseinfer.backend.cpu;

import io.roseinfer.backend.RunnerLimits;
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
    /** Queries, keys and values, [token][3·width]. */
    final float[] qkv;
    /** Joined heads, in row tiles. */
    final float[] attended;
    /** The MLP's inner activations, in row tiles. */
    final float[] inner;
    /** The residual stream of the tokens that are sampled from, [sample][width]. */
    final float[] last;
    /** [row][vocabulary]. */
    final float[] logits;

    Scratch(ModelSpec spec, RunnerLimits limits) {
        int tokens = Math.min(TOKENS, limits.maxTokens());
        int logitRows = Math.min(LOGIT_ROWS, limits.maxRows());
        int width = spec.width();
        residual = new float[tokens * width];
        normed = new float[mostRows(limits) * width];
        qkv = new float[tokens * 3 * width];
        attended = new float[tokens * width];
        inner = new float[tokens * spec.innerWidth()];
        last = new float[limits.maxRows() * width];
        logits = new float[Math.multiplyExact(logitRows, spec.vocabularySize())];
    }

    /** The most rows any product of a runner with these limits has. */
    static int mostRows(RunnerLimits limits) {
        return Math.max(Math.min(TOKENS, limits.maxTokens()), Math.min(LOGIT_ROWS, limits.maxRows()));
    }

    static long bytes(ModelSpec spec, RunnerLimits limits) {
        long tokens = Math.min(TOKENS, limits.maxTokens());
        long width = spec.width();
        long activations = tokens * (5 * width + spec.innerWidth()) + (mostRows(limits) + limits.maxRows()) * width;
        return 4 * (activations + (long) Math.min(LOGIT_ROWS, limits.maxRows()) * spec.vocabularySize());
    }
}
