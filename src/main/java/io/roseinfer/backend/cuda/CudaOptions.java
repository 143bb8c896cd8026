package io.roseinfer.backend.cuda;

import io.roseinfer.backend.KvPrecision;
import io.roseinfer.backend.Precision;
import io.roseinfer.base.RoseException.BadInput;

/**
 * How to run on a GPU.
 *
 * @param device index among the visible devices
 * @param precision one that {@link #has} accepts. {@link Precision#AUTO} keeps a bfloat16 checkpoint, and takes bf16 for a float32
 *     one of a model with RMS norms; otherwise it takes fp16. {@link Precision#INT8} has activations, keys and values in bf16, and
 *     is for Hopper and for models with RMS norms and gated MLPs. Sums are in float always.
 * @param kvCacheDtype how keys and values are held. {@link KvPrecision#FP8} is for compute capability 9.0 and newer, and for models with
 *     rotary positions, norms over heads or shared heads of keys
 * @param graphs whether steps are replayed as graphs, captured at load: decode steps for a number of batch sizes, prompts that come
 *     alone for a number of lengths; results are the same
 * @param promptGraphTokens most tokens of a prompt that is replayed as a graph, 0 for none; each length captured takes time and
 *     device memory at load
 * @param batchInvariant whether a row's results are the same to the bit whatever else is in its step; costs speed
 */
public record CudaOptions(
        int device,
        Precision precision,
        KvPrecision kvCacheDtype,
        boolean graphs,
        int promptGraphTokens,
        boolean batchInvariant) {
    /** From here on a prompt keeps the device busy for longer than its launches take. */
    private static final int PROMPT_GRAPH_TOKENS = 512;

    public CudaOptions {
        if (device < 0) {
            throw new BadInput("CUDA device is " + device + "; it must be 0 or more");
        }
        if (promptGraphTokens < 0) {
            throw new BadInput("prompts replayed as graphs have up to " + promptGraphTokens
                    + " tokens; it must be 0 or more, and 0 captures none");
        }
        if (!has(precision)) {
            throw ElementType.unavailable(precision);
        }
    }

    /** Whether matrices can be of this precision on a GPU. */
    public static boolean has(Precision precision) {
        return precision == Precision.AUTO || ElementType.of(precision).isPresent();
    }

    /** The first device, with graphs. */
    public static CudaOptions defaults() {
        return new CudaOptions(0, Precision.AUTO, KvPrecision.AUTO, true, PROMPT_GRAPH_TOKENS, false);
    }

    public CudaOptions withDevice(int value) {
        return new CudaOptions(value, precision, kvCacheDtype, graphs, promptGraphTokens, batchInvariant);
    }

    public CudaOptions withPrecision(Precision value) {
        return new CudaOptions(device, value, kvCacheDtype, graphs, promptGraphTokens, batchInvariant);
    }

    public CudaOptions withKvCacheDtype(KvPrecision value) {
        return new CudaOptions(device, precision, value, graphs, promptGraphTokens, batchInvariant);
    }

    public CudaOptions withGraphs(boolean value) {
        return new CudaOptions(device, precision, kvCacheDtype, value, promptGraphTokens, batchInvariant);
    }

    public CudaOptions withPromptGraphTokens(int value) {
        return new CudaOptions(device, precision, kvCacheDtype, graphs, value, batchInvariant);
    }

    public CudaOptions withBatchInvariant(boolean value) {
        return new CudaOptions(device, precision, kvCacheDtype, graphs, promptGraphTokens, value);
    }
}
