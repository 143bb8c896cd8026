package io.roseinfer.backend.cpu;

import io.roseinfer.backend.Precision;
import io.roseinfer.base.RoseException.BadInput;

/**
 * The options of the CPU backend.
 *
 * @param threads worker threads; 0 takes one per available processor
 * @param precision how weights are held: {@link Precision#FP32}, {@link Precision#BF16}, {@link Precision#INT8} or
 *     {@link Precision#INT4}. {@link Precision#AUTO} keeps a bfloat16 checkpoint as it is and widens anything else to 32 bits: it loses nothing.
 *     Narrowing is only done when asked for.
 * @param kernels which kernels; they do not change results
 */
public record CpuOptions(int threads, Precision precision, KernelChoice kernels) {
    /** Most worker threads. */
    public static final int MAX_THREADS = 1024;

    public CpuOptions {
        if (threads < 0 || threads > MAX_THREADS) {
            throw new BadInput("threads is " + threads + "; it must be 1 to " + MAX_THREADS
                    + ", or 0 for one per available processor");
        }
        if (precision == Precision.FP16) {
            throw new BadInput("dtype fp16 is not available on the cpu; use auto, fp32, bf16, int8 or int4");
        }
    }

    /** All processors, nothing narrowed, the widest kernels. */
    public static CpuOptions defaults() {
        return new CpuOptions(0, Precision.AUTO, KernelChoice.BEST);
    }

    public CpuOptions withThreads(int value) {
        return new CpuOptions(value, precision, kernels);
    }

    public CpuOptions withPrecision(Precision value) {
        return new CpuOptions(threads, value, kernels);
    }

    public CpuOptions withKernels(KernelChoice value) {
        return new CpuOptions(threads, precision, value);
    }
}
