package io.roseinfer.model;

/**
 * The shape and the constants of one transformer block.
 *
 * @param norm the norm before the attention, and the one before the MLP
 * @param positions the position encoding
 * @param residual how the outputs of attention and MLP are added to the residual stream
 */
public record BlockSpec(Attention attention, Mlp mlp, Norm norm, Positions positions, Residual residual) {

    /** Returns the same block with another attention. */
    public BlockSpec withAttention(Attention other) {
        return new BlockSpec(other, mlp, norm, positions, residual);
    }

    /** Returns the same block with another position encoding. */
    public BlockSpec withPositions(Positions other) {
        return new BlockSpec(attention, mlp, norm, other, residual);
    }

    /**
     * Causal attention. Query head h uses KV head h / (heads / kvHeads).
     *
     * @param heads query heads
     * @param kvHeads KV heads; divides {@code heads}
     * @param headSize width of one head; {@code heads × headSize} may differ from the width of the residual stream
     * @param scale factor of the product of query and key
     * @param window maximum tokens that a query attends to, itself included and the newest first; {@link #UNLIMITED}
     *     for all
     * @param softCap c, which maps a scaled score s to c·tanh(s / c); infinite without a cap
     * @param qkNorms whether every query head and key head is normalized before the positions are applied
     */
    public record Attention(
            int heads, int kvHeads, int headSize, float scale, int window, float softCap, boolean qkNorms) {
        /** The window of attention to all tokens of the sequence. */
        public static final int UNLIMITED = Integer.MAX_VALUE;

        /** Returns attention to all tokens, with as many KV heads as query heads, without a cap and norms. */
        public static Attention plain(int heads, int headSize, float scale) {
            return new Attention(heads, heads, headSize, scale, UNLIMITED, Float.POSITIVE_INFINITY, false);
        }

        /** Returns the same attention limited to a window. */
        public Attention withWindow(int tokens) {
            return new Attention(heads, kvHeads, headSize, scale, tokens, softCap, qkNorms);
        }

        /** Returns the same attention with QK norm. */
        public Attention withQkNorms() {
            return new Attention(heads, kvHeads, headSize, scale, window, softCap, true);
        }

        /** Returns the width of the queries of one token, which is also the width of the attention's output. */
        public int queryWidth() {
            return heads * headSize;
        }

        /** Returns the width of the keys of one token, which is also the width of its values. */
        public int kvWidth() {
            return kvHeads * headSize;
        }

        /** Returns the width of the concatenated queries, keys and values of one token. */
        public int qkvWidth() {
            return queryWidth() + 2 * kvWidth();
        }
    }

    /**
     * The two or three matrices after the attention: {@code down(activation(up(x)))}, or with a gate
     * {@code down(activation(gate(x)) · up(x))}.
     *
     * @param inner width between the matrices
     */
    public record Mlp(int inner, Activation activation, boolean gated) {
        /** Returns the outputs of the up projection, including the gate's. */
        public int outputs() {
            return gated ? 2 * inner : inner;
        }
    }

    /**
     * A normalization over the residual stream, with a weight per element.
     *
     * @param epsilon added to the variance, or the mean square, under the root
     */
    public record Norm(Kind kind, float epsilon) {
        /** The kind of norm. */
        public enum Kind {
            /** (x - mean(x)) / √(variance(x) + ε) · weight + bias. */
            LAYER,
            /** x / √(mean(x²) + ε) · weight. */
            RMS
        }

        public static Norm layer(float epsilon) {
            return new Norm(Kind.LAYER, epsilon);
        }

        public static Norm rms(float epsilon) {
            return new Norm(Kind.RMS, epsilon);
        }
    }

    /** The order in which attention and MLP are added to the residual stream x. */
    public enum Residual {
        /** x += attention(norm(x)), then x += mlp(norm(x)). */
        SEQUENTIAL,
        /** x += attention(norm(x)) + mlp(norm'(x)), both of the same x. */
        PARALLEL,
        /** {@link #SEQUENTIAL}, with another norm over each output before it is added. */
        POST_NORM
    }
}
