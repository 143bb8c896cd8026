package io.roseinfer.backend.cuda;

import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.cuda.StepKernels.Attention;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Chooses the kernels of a step by model, device and step.
 *
 * <p>Kernels differ in their order of additions. Batch invariance needs kernels of one order in every step: on Hopper
 * {@link StepKernels#invariant}, elsewhere the generic GEMMs and one attention kernel.
 *
 * @param plans the tiles on Hopper
 * @param blockSize tokens per KV page
 * @param hopper whether the device runs the sm_90a kernels
 * @param batchInvariant whether results must be bit-identical in any batch
 */
record KernelChoice(TilePlans plans, ModelShape shape, int blockSize, boolean hopper, boolean batchInvariant) {
    private static final int HEAD_SIZE = 64;

    /** Maximum tokens whose keys and values are widened for the prompts of a step. */
    private static final int MAX_WIDE_TOKENS = 65_536;

    private static final int BLOCK_SIZE = 16;

    /**
     * Returns the kernels of a step.
     *
     * @param decodeRows rows of one token
     */
    public StepKernels of(int tokens, int rows, int samples, int decodeRows) {
        if (shape.type() == ElementType.F32 || !hopper) {
            return StepKernels.generic(attentionAnywhere());
        }
        StepKernels chosen =
                onHopper(tokens, rows, samples, decodeRows).normalizing(shape.fusesNorm(), shape.fusesHeadNorm());
        return hasSpecialAttention() ? chosen : chosen.with(gqaAttention(rows, decodeRows));
    }

    /**
     * Returns the kernels of a step whose prompts have more pages than {@link #widePages}.
     *
     * @param decodeRows rows of one token
     */
    public StepKernels ofLongPrompts(int tokens, int rows, int samples, int decodeRows) {
        return of(tokens, rows, samples, decodeRows).with(Attention.PREFILL_GQA);
    }

    /**
     * Returns the pages of an fp8 KV cache that {@code attention_prefill_wgmma_widen} has room for, in the type of activations; 0 if
     * prompts read the KV pool itself.
     */
    public int widePages(RunnerLimits limits) {
        if (!prefillsByWgmma() || !shape.fp8KvCache()) {
            return 0;
        }
        long tokens = (long) limits.maxRows() * shape.spec().contextLength();
        return Math.ceilDiv((int) Math.min(tokens, MAX_WIDE_TOKENS), BLOCK_SIZE);
    }

    /** Returns whether every step fuses the norms of blocks into GEMMs, so that no kernel writes normalized tokens. */
    public boolean fusesNorms() {
        return hopper && shape.type() != ElementType.F32 && shape.fusesNorm();
    }

    /**
     * Returns the attention of other devices and f32: a prefill kernel for all rows if it supports the heads. It is batch-invariant, and
     * faster than the generic kernel even for decode rows.
     */
    private Attention attentionAnywhere() {
        if (hasSpecialAttention()) {
            return Attention.PREFILL;
        }
        return GqaAttention.supports(shape) ? Attention.PREFILL_GQA : Attention.GENERIC;
    }

    private Attention gqaAttention(int rows, int decodeRows) {
        if (!GqaAttention.supports(shape)) {
            return Attention.GENERIC;
        }
        if (batchInvariant || blockSize != BLOCK_SIZE) {
            return Attention.PREFILL_GQA;
        }
        if (decodeRows == rows) {
            return shape.qkNorms() ? Attention.DECODE_GQA_ROPE : Attention.DECODE_GQA;
        }
        if (decodeRows > 0) {
            return Attention.MIXED_GQA;
        }
        return Attention.PREFILL_WGMMA;
    }

    /** Returns whether prompts use {@code attention_prefill_wgmma}. */
    public boolean prefillsByWgmma() {
        return hopper && !batchInvariant && blockSize == BLOCK_SIZE && GqaAttention.supports(shape);
    }

    private StepKernels onHopper(int tokens, int rows, int samples, int decodeRows) {
        if (batchInvariant) {
            return StepKernels.invariant(plans, tokens, samples, invariantAttention(rows, decodeRows), decodeRows);
        }
        boolean fastPages = blockSize == BLOCK_SIZE;
        if (tokens == rows) {
            StepKernels decode = StepKernels.decode(plans, rows);
            return fastPages ? decode : decode.with(Attention.PREFILL);
        }
        Attention attention = decodeRows > 0 ? Attention.MIXED : Attention.PREFILL_WGMMA;
        return StepKernels.prefill(plans, tokens, Math.max(samples, 1), fastPages ? attention : Attention.PREFILL);
    }

    /** Returns whether the MHA attention kernels support the model. */
    private boolean hasSpecialAttention() {
        return shape.type() != ElementType.F32
                && shape.headPad() == HEAD_SIZE
                && shape.kvHeads() == shape.heads()
                && !shape.fp8KvCache()
                && !shape.hasWindows();
    }

    /** Returns all kernels of single-prompt steps up to {@code maxTokens}. */
    public Set<StepKernels> ofPrompts(int maxTokens) {
        Set<StepKernels> all = new LinkedHashSet<>();
        for (int tokens = 2; tokens <= maxTokens; tokens++) {
            all.add(of(tokens, 1, 1, 0));
        }
        return all;
    }

    private Attention invariantAttention(int rows, int decodeRows) {
        if (blockSize != BLOCK_SIZE || decodeRows == 0) {
            return Attention.PREFILL;
        }
        return decodeRows == rows ? Attention.DECODE_INVARIANT : Attention.MIXED_INVARIANT;
    }
}
