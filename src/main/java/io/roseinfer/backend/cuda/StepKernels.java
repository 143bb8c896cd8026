package io.roseinfer.backend.cuda;

import io.roseinfer.backend.cuda.TilePlan.DecodeAttention;

/**
 * The kernels of a step.
 *
 * @param sampledTiles the tiles of the last block after attention in a step that does not sample every token: its matrices multiply
 *     sampled tokens only
 * @param fusedNorm whether norms are fused into GEMMs; else a kernel normalizes
 * @param fusedHeadNorm whether the head fuses its norm if every token is sampled
 */
record StepKernels(
        TilePlan tiles, TilePlan sampledTiles, boolean fusedNorm, boolean fusedHeadNorm, Attention attention) {
    /** The attention kernels of a step. */
    public enum Attention {
        /** Any head size, block size and type. */
        GENERIC,
        /** Decode rows only, by the GQA decode kernel. */
        DECODE_GQA,
        /** Decode rows only, by the GQA decode kernel that also applies QK norm and RoPE; in blocks without QK norm as {@link #DECODE_GQA}. */
        DECODE_GQA_ROPE,
        /** All rows by the GQA prefill kernel. */
        PREFILL_GQA,
        /** All rows by Hopper's prefill kernel, MHA and GQA. */
        PREFILL_WGMMA,
        /** Decode rows as {@link #DECODE_GQA}, others as {@link #PREFILL_WGMMA}. */
        MIXED_GQA,
        /** Decode rows only, by the MHA decode kernel. */
        DECODE,
        /** All rows by the MHA prefill kernel. */
        PREFILL,
        /** Decode rows as {@link #DECODE}, others as {@link #PREFILL_WGMMA}. */
        MIXED,
        /** Decode rows only, bit-identical to the prefill kernel. */
        DECODE_INVARIANT,
        /** Decode rows as {@link #DECODE_INVARIANT}, others as {@link #PREFILL}: bit-identical. */
        MIXED_INVARIANT
    }

    static StepKernels generic(Attention attention) {
        return new StepKernels(TilePlan.GENERIC, TilePlan.GENERIC, false, false, attention);
    }

    /** Returns these kernels with other attention. */
    public StepKernels with(Attention other) {
        return new StepKernels(tiles, sampledTiles, fusedNorm, fusedHeadNorm, other);
    }

    /** Returns these kernels with norms fused only as far as the model allows. */
    StepKernels normalizing(boolean fused, boolean fusedHead) {
        return new StepKernels(tiles, sampledTiles, fusedNorm && fused, fusedHeadNorm && fusedHead, attention);
    }

    /** Returns the tuned kernels on Hopper for {@code rows} decode rows. */
    public static StepKernels decode(TilePlans plans, int rows) {
        TilePlan tiles = plans.fastest(rows);
        return new StepKernels(tiles, tiles, true, true, Attention.DECODE);
    }

    /** Returns the tuned kernels on Hopper for a step with prompts; GEMMs depend only on the token and sample counts. */
    public static StepKernels prefill(TilePlans plans, int tokens, int samples, Attention attention) {
        TilePlan sampling = plans.fastest(samples);
        return new StepKernels(plans.fastest(tokens).sampling(sampling, sampling), sampling, true, true, attention);
    }

    /**
     * Returns the batch-invariant kernels on Hopper: a token's row is bit-identical in every step, as prompt, chunk or generated token.
     * Tiles of up to 64 rows share one order of additions if the cluster size is fixed, so only their height follows the step. The head
     * always reads separately normalized rows, and attention adds in the prefill kernel's order.
     *
     * @param attention one of {@link Attention#PREFILL}, {@link Attention#DECODE_INVARIANT} and {@link Attention#MIXED_INVARIANT}
     * @param decodeRows rows of one token
     */
    public static StepKernels invariant(TilePlans plans, int tokens, int samples, Attention attention, int decodeRows) {
        TilePlan sampling = plans.invariant(samples);
        TilePlan tiles = plans.invariant(tokens).sampling(sampling, plans.invariant(decodeRows));
        return new StepKernels(tiles, sampling, true, false, attention);
    }

    /** Returns the MHA attention of decode rows. */
    public DecodeAttention decodeAttention() {
        return tiles.decodeAttention();
    }
}
