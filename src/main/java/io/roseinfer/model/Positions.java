package io.roseinfer.model;

/** How the attention of a block learns where a token stands. */
public sealed interface Positions {

    /** A row per position is added to the token's embedding, before the first block; the attention itself adds nothing. */
    record Learned() implements Positions {}

    /** The block looks at no position; causal order is all it knows. */
    record None() implements Positions {}

    /**
     * Rotary positions: of the first {@code rotarySize} elements of a head of queries or keys, i and i + rotarySize / 2 are turned
     * by position · theta^(-2i / rotarySize); the others pass.
     *
     * @param theta the base of the frequencies
     * @param rotarySize even, at most the size of a head
     */
    record Rope(double theta, int rotarySize, Scaling scaling) implements Positions {
        /** Rotary positions of a head's every element, at frequencies as they are. */
        public static Rope plain(double theta, int headSize) {
            return new Rope(theta, headSize, new Scaling.None());
        }
    }

    /** Scaling of the frequencies f of rotary positions, for contexts longer than those trained on. */
    sealed interface Scaling {

        /** Nothing. */
        record None() implements Scaling {}

        /** f / factor. */
        record Linear(double factor) implements Scaling {}

        /**
         * By wavelength w = 2π / f: f where w is less than originalContext / highFrequency, f / factor where it is more than
         * originalContext / lowFrequency, and in between (1 - s)·f / factor + s·f with
         * s = (originalContext / w - lowFrequency) / (highFrequency - lowFrequency).
         */
        record ByWavelength(double factor, double lowFrequency, double highFrequency, int originalContext)
                implements Scaling {}

        /**
         * YaRN: a ramp from f to f / factor over the dimensions that turn {@code betaFast} to {@code betaSlow} times within the
         * original context.
         *
         * @param attentionFactor what cosines and sines are multiplied by
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
