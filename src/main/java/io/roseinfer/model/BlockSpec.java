package io.roseinfer.model;

/**
 * The shape and the constants of one transformer block.
 *
 * @param norm the norm in front of the attention, and in front of the MLP
 * @param positions how the attention learns where a token stands
 * @param residual how the two halves of the block are added to the residual stream
 */
public record BlockSpec(Attention attention, Mlp mlp, Norm norm, Positions positions, Residual residual) {

    /** The same block with another attention. */
    public BlockSpec withAttention(Attention other) {
        return new BlockSpec(other, mlp, norm, positions, residual);
    }

    /** The same block with other positions. */
    public BlockSpec withPositions(Positions other) {
        return new BlockSpec(attention, mlp, norm, other, residual);
    }

    /**
     * Causal attention. Query head h reads the keys and values of key-value head h / (heads / kvHeads).
     *
     * @param heads query heads
     * @param kvHeads heads of keys and values; divides {@code heads}
     * @param headSize width of one head; {@code heads × headSize} need not be the width of the residual stream
     * @param scale what a query times a key is multiplied by
     * @param window most tokens that a query sees, itself included and the newest first; {@link #UNLIMITED} if it sees all
     * @param softCap c, where a scaled score s becomes c·tanh(s / c); infinite where scores stay as they are
     * @param qkNorms whether every head of queries and of keys is normalised before the positions are applied
     */
    public record Attention(
            int heads, int kvHeads, int headSize, float scale, int window, float softCap, boolean qkNorms) {
        /** The window of attention that sees every token of the sequence. */
        public static final int UNLIMITED = Integer.MAX_VALUE;

        /** Attention to every token, as many heads of keys and values as of queries, no caps and no norms. */
        public static Attention plain(int heads, int headSize, float scale) {
            return new Attention(heads, heads, headSize, scale, UNLIMITED, Float.POSITIVE_INFINITY, false);
        }

        /** The same attention to at most {@code window} tokens. */
        public Attention withWindow(int tokens) {
            return new Attention(heads, kvHeads, headSize, scale, tokens, softCap, qkNorms);
        }

        /** The same attention with heads of queries and of keys normalised. */
        public Attention withQkNorms() {
            return new Attention(heads, kvHeads, headSize, scale, window, softCap, true);
        }

        /** Width of the queries of one token, and of what the heads attended to. */
        public int queryWidth() {
            return heads * headSize;
        }

        /** Width of the keys of one token, and of its values. */
        public int kvWidth() {
            return kvHeads * headSize;
        }

        /** Width of the queries, keys and values of one token side by side. */
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
        /** Outputs of the matrix into the MLP, those of the gate included. */
        public int outputs() {
            return gated ? 2 * inner : inner;
        }
    }

    /**
     * A normalisation over the residual stream, with a gain per element.
     *
     * @param epsilon added to the variance, or the mean square, under the root
     */
    public record Norm(Kind kind, float epsilon) {
        /** The divisor of a row, and whether its mean is subtracted first. */
        public enum Kind {
            /** (x - mean(x)) / √(variance(x) + ε) · gain + bias. */
            LAYER,
            /** x / √(mean(x²) + ε) · gain. */
            RMS
        }

        public static Norm layer(float epsilon) {
            return new Norm(Kind.LAYER, epsilon);
        }

        public static Norm rms(float epsilon) {
            return new Norm(Kind.RMS, epsilon);
        }
    }

    /** How attention and MLP are added to the residual stream x. */
    public enum Residual {
        /** x += attention(norm(x)), then x += mlp(norm(x)). */
        SEQUENTIAL,
        /** x += attention(norm(x)) + mlp(norm'(x)), both of the same x. */
        PARALLEL,
        /** As {@link #SEQUENTIAL}, with a norm of its own over what is added. */
        POST_NORM
    }
}
