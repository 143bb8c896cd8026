package io.roseinfer.backend.cuda;

import java.util.List;

/** A line of {@link TilePlans}: the GEMM tile of each matrix in a step, and the attention kernel of decode rows. */
record TilePlan(
        GemmPlan qkv,
        DecodeAttention decodeAttention,
        GemmPlan attentionOutput,
        GemmPlan mlpInner,
        GemmPlan mlpOutput,
        GemmPlan head) {
    /** Generic GEMMs for every matrix, without a decode attention kernel. */
    static final TilePlan GENERIC = new TilePlan(
            GemmPlan.GENERIC,
            new DecodeAttention(DecodeAttention.Kernel.DECODE, 0),
            GemmPlan.GENERIC,
            GemmPlan.GENERIC,
            GemmPlan.GENERIC,
            GemmPlan.GENERIC);

    /**
     * Attention of decode rows.
     *
     * @param stages KV blocks in flight per thread block, in shared memory
     */
    public record DecodeAttention(Kernel kernel, int stages) {
        private static final int KV_BLOCK_BYTES = 4096;

        /** The MHA kernels for decode rows. */
        public enum Kernel {
            DECODE("attention_decode", 128, 4, 56),
            /** {@link #DECODE} with two more KV blocks in flight, in registers. */
            DECODE_REGS("attention_decode_regs", 64, 4, 56),
            /** Bit-identical to the prefill kernel. */
            DECODE_INVARIANT("attention_decode_invariant", 128, 8, 32);

            /** Kernel name without the element type. */
            public final String kernel;

            public final int threads;
            final int minStages;
            final int maxStages;

            Kernel(String kernel, int threads, int minStages, int maxStages) {
                this.kernel = kernel;
                this.threads = threads;
                this.minStages = minStages;
                this.maxStages = maxStages;
            }
        }

        public int sharedBytes() {
            return stages * KV_BLOCK_BYTES;
        }
    }

    /** Returns this plan with the head and the attention of other plans. */
    TilePlan sampling(TilePlan head, TilePlan attention) {
        return new TilePlan(qkv, attention.decodeAttention, attentionOutput, mlpInner, mlpOutput, head.head);
    }

    /** Returns whether a matrix is multiplied by the prompt GEMM. */
    public boolean usesPromptTiles() {
        return matrices().contains(GemmPlan.PROMPT);
    }

    /** Returns the tiles of all matrices, in step order. */
    public List<GemmPlan> matrices() {
        return List.of(qkv, attentionOutput, mlpInner, mlpOutput, head);
    }
}
