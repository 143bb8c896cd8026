package io.roseinfer.backend.cuda;

import io.roseinfer.backend.cuda.StepKernels.Attention;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Chooses the kernels of a step from what the model, the device and the step are.
 *
 * <p>The kernels differ from each other in the order they add in. Where results must not depend on the batch, every step runs
 * those of one order: on Hopper {@link StepKernels#invariant}, elsewhere the generic GEMMs and one attention kernel.
 *
 * @param plans the tiles on Hopper
 * @param blockSize tokens of a KV block as the kernels see it
 * @param hopper whether the device runs the kernels of sm_90a
 * @param batchInvariant whether a row's bits may not depend on what else is in its step
 */
record KernelChoice(TilePlans plans, ModelShape shape, int blockSize, boolean hopper, boolean batchInvariant) {
    private static final int HEAD_SIZE = 64;
    private static final int BLOCK_SIZE = 16;

    /**
     * The kernels for a step.
     *
     * @param decodeRows rows that bring one token
     */
    public StepKernels of(int tokens, int rows, int samples, int decodeRows) {
        if (shape.type() == ElementType.F32 || !hopper) {
            return StepKernels.generic(attentionAnywhere());
        }
        StepKernels chosen =
                onHopper(tokens, rows, samples, decodeRows).normalizing(shape.fusesNorm(), shape.fusesHeadNorm());
        return hasSpecialAttention() ? chosen : chosen.with(gqaAttention(rows, decodeRows));
    }

    /** Returns whether the GEMMs of every step apply the norms of a block themselves, so that no kernel writes normalized tokens. */
    public boolean fusesNorms() {
        return hopper && shape.type() != ElementType.F32 && shape.fusesNorm();
    }

    /**
     * The kernels of prompts for every row, if they know the model's heads: they give a token the same bits in every step, and are
     * faster than the generic kernel for rows of one token too, since that walks each context key by key.
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
        if (batchInvariant || decodeRows == 0 || blockSize != BLOCK_SIZE) {
            return Attention.PREFILL_GQA;
        }
        return decodeRows == rows ? Attention.DECODE_GQA : Attention.MIXED_GQA;
    }

    private StepKernels onHopper(int tokens, int rows, int samples, int decodeRows) {
        if (batchInvariant) {
            return StepKernels.invariant(plans, tokens, samples, invariantAttention(rows, decodeRows), decodeRows);
        }
        boolean decodeKernel = blockSize == BLOCK_SIZE;
        if (tokens == rows) {
            StepKernels decode = StepKernels.decode(plans, rows);
            return decodeKernel ? decode : decode.with(Attention.PREFILL);
        }
        return StepKernels.prefill(plans, tokens, Math.max(samples, 1), decodeKernel && decodeRows > 0);
    }

    /** Whether the attention kernels for one shape of model are for this one: they know one size of heads, each with its own keys. */
    private boolean hasSpecialAttention() {
        return shape.type() != ElementType.F32
                && shape.headPad() == HEAD_SIZE
                && shape.kvHeads() == shape.heads()
                && !shape.fp8KvCache()
                && !shape.hasWindows();
    }

    /** All kernels that steps of one prompt have, up to so many tokens. */
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
