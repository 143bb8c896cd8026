package io.roseinfer.model;

/** The position encoding of a block. */
public sealed interface Positions {

    /** Learned position embeddings, added to the token embedding before the first block; the attention adds nothing. */
    record Learned() implements Positions {}

    /** No position encoding; only the causal order is known. */
    record None() implements Positions {}

    /**
     * Rotary position embeddings (RoPE). In the first {@code rotarySize} elements of a query or key head, elements i
     * and i + rotarySize / 2 are rotated by position · theta^(-2i / rotarySize); the others are unchanged.
     *
     * @param theta the base of the frequencies
     * @param rotarySize even, at most the size of a head
     */
    record Rope(double theta, int rotarySize, Scaling scaling) implements Positions {
        /** Returns RoPE over whole heads, with unscaled frequencies. */
        public static Rope plain(double theta, int headSize) {
            return new Rope(theta, headSize, new Scaling.None());
        }
    }

    /** Scaling of RoPE's frequencies f, for contexts longer than in training. */
    sealed interface Scaling {

        /** No scaling. */
        record None() implements Scaling {}

        /** f / factor. */
        record Linear(double factor) implements Scaling {}

        /**
         * Scaling by wavelength w = 2π / f: f if w is less than originalContext / highFrequency, and f / factor if it
         * is more than originalContext / lowFrequency. In between (1 - s)·f / factor + s·f with s = (originalContext /
         * w - lowFrequency) / (highFrequency - lowFrequency).
         */
        record ByWavelength(double factor, double lowFrequency, double highFrequency, int originalContext)
                implements Scaling {}

        /**
         * YaRN: a ramp from f to f / factor over the dimensions that rotate {@code betaFast} to {@code betaSlow} times
         * within the original context.
         *
         * @param attentionFactor factor of cosines and sines
         * @param truncate whether the ends of the ramp are rounded to whole dimensions
         */
        record Yarn(
                double factor,
                double betaFast,
                double betaSlow,
                int originalContext,
                double attentionFactor,
                boolean truncate)
                implements Scaling {}
    }
}
