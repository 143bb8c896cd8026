package io.roseinfer.backend.cuda;

/**
 * Which kernels a step is made of.
 *
 * @param fusedNorm whether GEMMs normalise what they read by themselves; else a kernel does it for them
 * @param fusedHeadNorm whether the head does too, where every token is sampled from
 * @param attentionStages KV blocks that the kernel for rows of one token holds in shared memory at a time
 * @param attentionHeld whether the decode kernel holds two more in registers
 */
record StepKernels(
        GemmPlan qkv,
        GemmPlan attentionOutput,
        GemmPlan mlpInner,
        GemmPlan mlpOutput,
        GemmPlan head,
        boolean fusedNorm,
        boolean fusedHeadNorm,
        Attention attention,
        int attentionStages,
        boolean attentionHeld) {
    /** Tokens from which the tallest tile of the invariant choice pays. */
    private static final int MANY_TOKENS = 256;

    /** Which attention kernels run. */
    enum Attention {
        /** Any head size, block size and type. */
        GENERIC,
        /** Every row brings one token. */
        DECODE,
        /** Rows bring many. */
        PREFILL,
        /** Rows of one token by the decode kernel, the others by the prefill kernel. */
        MIXED,
        /** Every row brings one token, and gets the bits of the prefill kernel. */
        SINGLE,
        /** Rows of one token by a kernel of their own, the others by the prefill kernel; both give the same bits. */
        SINGLE_MIXED;

        /** Whether the prefill kernel runs too, or alone. */
        boolean prefills() {
            return this == PREFILL || this == MIXED || this == SINGLE_MIXED;
        }
    }

    static StepKernels generic(Attention attention) {
        GemmPlan any = GemmPlan.GENERIC;
        return new StepKernels(any, any, any, any, any, false, false, attention, 0, false);
    }

    /** The same with other attention kernels. */
    StepKernels with(Attention other) {
        return new StepKernels(
                qkv,
                attentionOutput,
                mlpInner,
                mlpOutput,
                head,
                fusedNorm,
                fusedHeadNorm,
                other,
                attentionStages,
                attentionHeld);
    }

    /** The measured choice on Hopper for so many rows that bring one token each. */
    static StepKernels decode(int rows) {
        if (rows <= 2) {
            return decode(tile(8, 1, 12), tile(8, 1, 12), tile(8, 1, 12), tile(8, 4, 12), tile(8, 1, 4), 9, false);
        }
        if (rows <= 8) {
            return decode(tile(8, 1, 12), tile(8, 4, 3), tile(8, 1, 12), tile(8, 8, 6), tile(8, 1, 4), 12, false);
        }
        if (rows <= 16) {
            return decode(tile(16, 1, 12), tile(16, 2, 6), tile(16, 1, 12), tile(16, 4, 12), tile(16, 1, 4), 10, false);
        }
        if (rows <= 32) {
            return decode(
                    tile(16, 1, 12), tile(16, 1, 12), tile(16, 1, 12), tile(16, 4, 8), tile(32, 1, 3), 12, rows > 24);
        }
        if (rows <= 48) {
            return decode(tile(32, 1, 12), tile(32, 1, 12), tile(16, 1, 8), tile(32, 8, 3), tile(64, 1, 3), 10, false);
        }
        if (rows <= 64) {
            return decode(tile(32, 1, 12), tile(32, 2, 6), tile(16, 1, 8), tile(32, 8, 3), tile(64, 1, 3), 8, true);
        }
        if (rows <= 96) {
            return decode(tile(16, 1, 8), tile(16, 1, 12), tile(32, 1, 8), tile(32, 4, 8), tile(128, 1, 5), 4, true);
        }
        if (rows <= 128) {
            return decode(tile(32, 1, 8), tile(16, 1, 12), tile(32, 1, 8), tile(64, 4, 6), tile(128, 1, 5), 5, false);
        }
        if (rows <= 192) {
            return decode(tile(32, 1, 8), tile(32, 1, 12), tile(32, 1, 6), tile(64, 2, 12), tile(128, 1, 5), 5, false);
        }
        if (rows <= 256) {
            return decode(tile(32, 1, 6), tile(32, 1, 12), tile(32, 1, 6), tile(32, 1, 12), tile(128, 1, 5), 5, false);
        }
        return decode(tile(64, 1, 6), tile(64, 1, 12), tile(128, 1, 4), tile(64, 1, 12), tile(128, 1, 5), 5, false);
    }

    private static GemmPlan tile(int batch, int cluster, int maxStages) {
        return new GemmPlan(batch, cluster, maxStages);
    }

    private static StepKernels decode(
            GemmPlan qkv,
            GemmPlan attentionOutput,
            GemmPlan mlpInner,
            GemmPlan mlpOutput,
            GemmPlan head,
            int stages,
            boolean held) {
        return new StepKernels(
                qkv, attentionOutput, mlpInner, mlpOutput, head, true, true, Attention.DECODE, stages, held);
    }

    /** The choice on Hopper for steps of many tokens, so many of which are sampled from. */
    static StepKernels prefill(int samples, boolean someSingles) {
        GemmPlan tall = tile(128, 1, 3);
        StepKernels decode = decode(samples);
        return new StepKernels(
                tall,
                tall,
                tall,
                tall,
                decode.head(),
                true,
                true,
                someSingles ? Attention.MIXED : Attention.PREFILL,
                decode.attentionStages(),
                decode.attentionHeld());
    }

    /**
     * The choice on Hopper that gives a token's row the same bits in every step: prompt, chunk of a prompt or generated token,
     * alone or among others. Tiles of up to 64 rows add in one order if their cluster does not change, so only their height may
     * follow the step; the head always reads rows that a kernel has normalised, and attention adds in the prefill kernel's order.
     *
     * @param attention one of {@link Attention#PREFILL}, {@link Attention#SINGLE} and {@link Attention#SINGLE_MIXED}
     * @param singles rows that bring one token
     */
    static StepKernels invariant(int tokens, int samples, Attention attention, int singles) {
        int narrow = tokens <= 8 ? 8 : tokens <= 16 ? 16 : 32;
        boolean many = tokens > MANY_TOKENS;
        GemmPlan whole = many ? tile(64, 1, 6) : tile(narrow, 1, 12);
        return new StepKernels(
                whole,
                whole,
                whole,
                tile(tokens <= 32 ? narrow : 64, 4, 8),
                tile(samples <= 8 ? 8 : samples <= 16 ? 16 : samples <= 32 ? 32 : 64, 1, 3),
                true,
                false,
                attention,
                singleStages(singles),
                false);
    }

    /** KV blocks in flight, which change no bits: so many that all rows still run at once. */
    private static int singleStages(int rows) {
        return rows <= 16 ? 24 : rows <= 32 ? 12 : rows <= 64 ? 9 : 8;
    }

    /** Threads of a block of that kernel. */
    int singleThreads() {
        return singleAttention().equals("attention_decode_held") ? 64 : 128;
    }

    /** The kernel for rows of one token where not all go to one attention kernel. */
    String singleAttention() {
        if (attention == Attention.SINGLE || attention == Attention.SINGLE_MIXED) {
            return "attention_prefill_single";
        }
        return attentionHeld ? "attention_decode_held" : "attention_decode";
    }
}
