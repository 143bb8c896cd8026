package io.roseinfer.backend.cuda;

import java.util.List;

/**
 * The tile of each matrix of a step and the attention kernel of rows that bring one token: one line of {@link TilePlans}.
 *
 * @param decodeAttention attention of rows of one token
 */
record TilePlan(
        GemmPlan qkv,
        DecodeAttention decodeAttention,
        GemmPlan attentionOutput,
        GemmPlan mlpInner,
        GemmPlan mlpOutput,
        GemmPlan head) {
    /** The generic GEMMs on every matrix, and no attention kernel for rows of one token. */
    static final TilePlan GENERIC = new TilePlan(
            GemmPlan.GENERIC,
            new DecodeAttention(DecodeAttention.Kernel.DECODE, 0),
            GemmPlan.GENERIC,
            GemmPlan.GENERIC,
            GemmPlan.GENERIC,
            GemmPlan.GENERIC);

    /**
     * How rows of one token are attended to.
     *
     * @param stages KV blocks that a thread block has in flight, in shared memory
     */
    public record DecodeAttention(Kernel kernel, int stages) {
        private static final int KV_BLOCK_BYTES = 4096;

        /** The kernels for rows of one token; {@code name} less the element type. */
        public enum Kernel {
            DECODE("attention_decode", 128, 4, 56),
            /** The decode kernel with two more KV blocks in flight, in registers. */
            DECODE_REGS("attention_decode_regs", 64, 4, 56),
            /** Gives the bits of the prefill kernel. */
            DECODE_INVARIANT("attention_decode_invariant", 128, 8, 32);

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

    /** The same with the head and the attention of another line. */
    TilePlan sampling(TilePlan head, TilePlan attention) {
        return new TilePlan(qkv, attention.decodeAttention, attentionOutput, mlpInner, mlpOutput, head.head);
    }

    /** The tiles of all matrices, in the order of a step. */
    public List<GemmPlan> matrices() {
        return List.of(qkv, attentionOutput, mlpInner, mlpOutput, head);
    }
}
