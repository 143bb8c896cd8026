package io.roseinfer.backend.cuda;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.cuda.driver.DriverStatus;
import io.roseinfer.base.Remedy;
import io.roseinfer.base.RoseException.InsufficientMemory;

/** Sizes the KV pool of a runner. */
final class KvSizing {
    /** Share of free memory left to graphs and the driver. */
    private static final double RESERVED = 0.08;

    /** Minimum tokens of a pool of default size: with fewer a model is of little use. */
    private static final int MIN_TOKENS = 2048;

    private static final Remedy LESS_SCRATCH = Remedy.of(
            "smaller steps need less: cut prompts with %s, and to fewer tokens with a smaller %s, or bound their length"
                    + " with %s",
            "chunked_prefill", "prefill_max_tokens", "max_model_len");

    private static final Remedy LESS_SCRATCH_OR_BLOCKS = Remedy.of(
            LESS_SCRATCH.words() + ", or use a smaller %s",
            "chunked_prefill",
            "prefill_max_tokens",
            "max_model_len",
            "kv_blocks");

    private KvSizing() {}

    /**
     * Returns the requested blocks, or by default twice what every row's full context needs, so that cached prefixes outlive their
     * requests, limited by memory.
     *
     * @param free device memory after the weights
     * @param scratch bytes of a step's buffers
     * @throws InsufficientMemory if too little is left; the message names the flags to change
     */
    public static KvGeometry geometry(ModelShape shape, RunnerLimits limits, long free, long scratch, String device) {
        long bytes = shape.spec().layers() * shape.layerBlockBytes(limits.blockSize());
        long perContext = Math.ceilDiv(shape.spec().contextLength(), limits.blockSize());
        long affordable = affordable(free - scratch, bytes);
        long wanted = limits.kvBlocks() > 0 ? limits.kvBlocks() : 2 * perContext * limits.maxRows();
        long least =
                limits.kvBlocks() > 0 ? wanted : Math.min(perContext, Math.ceilDiv(MIN_TOKENS, limits.blockSize()));
        if (affordable < least) {
            boolean scratchIsTooLarge = affordable(free, bytes) >= least;
            throw new InsufficientMemory(
                    device + ": " + least + " KV blocks of " + limits.blockSize() + " tokens need "
                            + DeviceMemory.mebibytes(least * bytes) + ", and "
                            + DeviceMemory.mebibytes(Math.max(0, free))
                            + " are free after the weights; scratch memory for steps of up to "
                            + limits.maxTokens()
                            + " tokens takes " + DeviceMemory.mebibytes(scratch),
                    !scratchIsTooLarge
                            ? DriverStatus.LESS_MEMORY
                            : limits.kvBlocks() > 0 ? LESS_SCRATCH_OR_BLOCKS : LESS_SCRATCH);
        }
        long blocks = Math.min(Math.min(wanted, affordable), Integer.MAX_VALUE / limits.blockSize());
        return new KvGeometry(limits.blockSize(), (int) blocks, bytes);
    }

    private static long affordable(long free, long blockBytes) {
        return (long) (Math.max(0, free) * (1 - RESERVED)) / blockBytes;
    }
}
