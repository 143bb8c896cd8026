package io.roseinfer.backend.cuda;

import io.roseinfer.backend.KvPrecision;
import io.roseinfer.backend.Precision;
import io.roseinfer.base.RoseException.BadInput;

/**
 * Options of the CUDA backend.
 *
 * @param device index among the visible devices
 * @param precision a precision that {@link #has} accepts. {@link Precision#AUTO} is bf16 for bfloat16 checkpoints and for float32 ones
 *     with RMS norm, else fp16. {@link Precision#INT8} has bf16 activations and KV cache; it is for Hopper, and for models with RMS norm
 *     and gated MLP. Accumulation is always in float.
 * @param kvCacheDtype precision of the KV cache. {@link KvPrecision#FP8} needs compute capability 9.0, and a model with RoPE, QK norm or
 *     GQA
 * @param graphs whether steps are replayed as CUDA graphs captured at load: decode steps by batch size, single prompts by length;
 *     results are the same
 * @param promptGraphTokens maximum tokens of a prompt replayed as a graph, 0 for none; each captured length takes time and device memory
 *     at load
 * @param batchInvariant whether results are bit-identical in any batch; slower
 */
public record CudaOptions(
        int device,
        Precision precision,
        KvPrecision kvCacheDtype,
        boolean graphs,
        int promptGraphTokens,
        boolean batchInvariant) {
    /** Longer prompts keep the device busy for longer than their launches take. */
    private static final int PROMPT_GRAPH_TOKENS = 1024;

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

    /** Returns whether weights can have this precision on a GPU. */
    public static boolean has(Precision precision) {
        return precision == Precision.AUTO || ElementType.of(precision).isPresent();
    }

    /** Returns options for the first device, with graphs. */
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
