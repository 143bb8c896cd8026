package io.roseinfer.backend.cuda;

import io.roseinfer.backend.cuda.TilePlan.DecodeAttention;

/**
 * Which kernels a step is made of.
 *
 * @param fusedNorm whether GEMMs normalise what they read by themselves; else a kernel does it for them
 * @param fusedHeadNorm whether the head does too, where every token is sampled from
 */
record StepKernels(TilePlan tiles, boolean fusedNorm, boolean fusedHeadNorm, Attention attention) {
    /** Which attention kernels run. */
    public enum Attention {
        /** Any head size, block size and type. */
        GENERIC,
        /** Every row brings one token; heads of keys and values that several heads of queries share are read once for all. */
        DECODE_GQA,
        /** Rows bring many; heads of keys and values may be shared. */
        PREFILL_GQA,
        /** Rows of one token as {@link #DECODE_GQA}, the others as {@link #PREFILL_GQA}. */
        MIXED_GQA,
        /** Every row brings one token. */
        DECODE,
        /** Rows bring many. */
        PREFILL,
        /** Rows of one token by the decode kernel, the others by the prefill kernel. */
        MIXED,
        /** Every row brings one token, and gets the bits of the prefill kernel. */
        DECODE_INVARIANT,
        /** Rows of one token by a kernel of their own, the others by the prefill kernel; both give the same bits. */
        MIXED_INVARIANT;

        /** Whether the prefill kernel runs too, or alone. */
        public boolean prefills() {
            return this == PREFILL || this == MIXED || this == MIXED_INVARIANT;
        }
    }

    static StepKernels generic(Attention attention) {
        return new StepKernels(TilePlan.GENERIC, false, false, attention);
    }

    /** The same with other attention kernels. */
    public StepKernels with(Attention other) {
        return new StepKernels(tiles, fusedNorm, fusedHeadNorm, other);
    }

    /** The same without norms that this model's GEMMs cannot take by themselves. */
    StepKernels normalizing(boolean fused, boolean fusedHead) {
        return new StepKernels(tiles, fusedNorm && fused, fusedHeadNorm && fusedHead, attention);
    }

    /** The measured choice on Hopper for so many rows that bring one token each. */
    public static StepKernels decode(TilePlans plans, int rows) {
        return new StepKernels(plans.fastest(rows), true, true, Attention.DECODE);
    }

    /** The choice on Hopper for steps of so many tokens, of which so many are sampled from: GEMMs do not care whose the tokens are. */
    public static StepKernels prefill(TilePlans plans, int tokens, int samples, boolean someDecodeRows) {
        TilePlan sampling = plans.fastest(samples);
        return new StepKernels(
                plans.fastest(tokens).sampling(sampling, sampling),
                true,
                true,
                someDecodeRows ? Attention.MIXED : Attention.PREFILL);
    }

    /**
     * The choice on Hopper that gives a token's row the same bits in every step: prompt, chunk of a prompt or generated token,
     * alone or among others. Tiles of up to 64 rows add in one order if their cluster does not change, so only their height may
     * follow the step; the head always reads rows that a kernel has normalised, and attention adds in the prefill kernel's order.
     *
     * @param attention one of {@link Attention#PREFILL}, {@link Attention#DECODE_INVARIANT} and {@link Attention#MIXED_INVARIANT}
     * @param decodeRows rows that bring one token
     */
    public static StepKernels invariant(TilePlans plans, int tokens, int samples, Attention attention, int decodeRows) {
        TilePlan tiles = plans.invariant(tokens).sampling(plans.invariant(samples), plans.invariant(decodeRows));
        return new StepKernels(tiles, true, false, attention);
    }

    /** How rows of one token are attended to where not all rows go to one attention kernel. */
    public DecodeAttention decodeAttention() {
        return tiles.decodeAttention();
    }
}
