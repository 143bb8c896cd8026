package io.roseinfer.backend.cuda;

import java.util.List;
import java.util.stream.IntStream;

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

    private record Range(int maxRows, StepKernels kernels) {}

    /** What {@code kernels/test/time … tune} found, for a GPT-2 of 124M parameters on an H200. */
    private static final List<Range> HOPPER = List.of(
            upTo(2, tile(8, 1, 12), tile(8, 1, 12), tile(8, 1, 12), tile(8, 4, 12), tile(8, 1, 4), 9, false),
            upTo(8, tile(8, 1, 12), tile(8, 4, 3), tile(8, 1, 12), tile(8, 8, 6), tile(8, 1, 4), 12, false),
            upTo(16, tile(16, 1, 12), tile(16, 2, 6), tile(16, 1, 12), tile(16, 4, 12), tile(16, 1, 4), 10, false),
            upTo(24, tile(16, 1, 12), tile(16, 1, 12), tile(16, 1, 12), tile(16, 4, 8), tile(32, 1, 3), 12, false),
            upTo(32, tile(16, 1, 12), tile(16, 1, 12), tile(16, 1, 12), tile(16, 4, 8), tile(32, 1, 3), 12, true),
            upTo(48, tile(32, 1, 12), tile(32, 1, 12), tile(16, 1, 8), tile(32, 8, 3), tile(64, 1, 3), 10, false),
            upTo(64, tile(32, 1, 12), tile(32, 2, 6), tile(16, 1, 8), tile(32, 8, 3), tile(64, 1, 3), 8, true),
            upTo(96, tile(16, 1, 8), tile(16, 1, 12), tile(32, 1, 8), tile(32, 4, 8), tile(128, 1, 5), 4, true),
            upTo(128, tile(32, 1, 8), tile(16, 1, 12), tile(32, 1, 8), tile(64, 4, 6), tile(128, 1, 5), 5, false),
            upTo(192, tile(32, 1, 8), tile(32, 1, 12), tile(32, 1, 6), tile(64, 2, 12), tile(128, 1, 5), 5, false),
            upTo(256, tile(32, 1, 6), tile(32, 1, 12), tile(32, 1, 6), tile(32, 1, 12), tile(128, 1, 5), 5, false),
            upTo(352, tile(64, 1, 6), tile(64, 1, 12), tile(64, 1, 6), tile(64, 2, 6), tile(128, 1, 5), 5, false),
            upTo(640, tile(64, 1, 6), tile(64, 1, 12), tile(128, 1, 4), tile(64, 1, 12), tile(128, 1, 5), 5, false),
            upTo(1200, tile(64, 1, 6), tile(64, 1, 6), tile(128, 1, 3), tile(64, 1, 6), tile(128, 1, 5), 5, false),
            upTo(1400, tile(128, 1, 3), tile(64, 1, 6), tile(128, 1, 3), tile(64, 1, 6), tile(128, 1, 5), 5, false),
            upTo(3000, tile(128, 1, 3), tile(64, 1, 6), tile(128, 1, 3), tile(128, 1, 4), tile(128, 1, 5), 5, false),
            upTo(
                    Integer.MAX_VALUE,
                    tile(128, 1, 3),
                    tile(128, 1, 3),
                    tile(128, 1, 3),
                    tile(128, 1, 3),
                    tile(128, 1, 5),
                    5,
                    false));

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
        for (Range range : HOPPER) {
            if (rows <= range.maxRows()) {
                return range.kernels();
            }
        }
        throw new IllegalArgumentException("no kernels for " + rows + " rows");
    }

    /** The most tokens of each range that one choice serves, but for the last range, which has no end. */
    static IntStream rangeEnds() {
        return HOPPER.stream().mapToInt(Range::maxRows).limit(HOPPER.size() - 1L);
    }

    private static Range upTo(
            int maxRows,
            GemmPlan qkv,
            GemmPlan attentionOutput,
            GemmPlan mlpInner,
            GemmPlan mlpOutput,
            GemmPlan head,
            int stages,
            boolean held) {
        return new Range(
                maxRows,
                new StepKernels(
                        qkv, attentionOutput, mlpInner, mlpOutput, head, true, true, Attention.DECODE, stages, held));
    }

    private static GemmPlan tile(int batch, int cluster, int maxStages) {
        return new GemmPlan(batch, cluster, maxStages);
    }

    /** The choice on Hopper for steps of so many tokens, of which so many are sampled from: GEMMs do not care whose the tokens are. */
    static StepKernels prefill(int tokens, int samples, boolean someSingles) {
        StepKernels gemms = decode(tokens);
        StepKernels sampling = decode(samples);
        return new StepKernels(
                gemms.qkv(),
                gemms.attentionOutput(),
                gemms.mlpInner(),
                gemms.mlpOutput(),
                sampling.head(),
                true,
                true,
                someSingles ? Attention.MIXED : Attention.PREFILL,
                sampling.attentionStages(),
                sampling.attentionHeld());
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
