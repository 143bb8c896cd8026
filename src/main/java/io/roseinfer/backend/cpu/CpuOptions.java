package io.roseinfer.backend.cpu;

import io.roseinfer.backend.Precision;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import io.roseinfer.base.RoseException.BadInput;
import java.time.Duration;

/**
 * The options of the CPU backend.
 *
 * @param threads worker threads; 0 takes one per available processor
 * @param precision how weights are held: the precision of a {@link WeightFormat}, or {@link Precision#AUTO}, which keeps a bfloat16
 *     checkpoint as it is and widens anything else to 32 bits, so nothing is lost. Narrowing is only done when asked for.
 * @param kernels which kernels; they do not change results
 * @param stallLimit how long the workers of a step wait for one of them before the step, and with it the runner, is given up. The
 *     largest step takes longer, but none of its phases does
 */
public record CpuOptions(int threads, Precision precision, KernelChoice kernels, Duration stallLimit) {
    /** As long as a step on a GPU may take. */
    private static final Duration STALL_LIMIT = Duration.ofSeconds(60);

    /** Most worker threads. */
    public static final int MAX_THREADS = 1024;

    /** Options with a limit of a minute. */
    public CpuOptions(int threads, Precision precision, KernelChoice kernels) {
        this(threads, precision, kernels, STALL_LIMIT);
    }

    public CpuOptions {
        if (stallLimit.isNegative() || stallLimit.isZero()) {
            throw new BadInput("the stall limit is " + stallLimit + "; it must be positive");
        }
        if (threads < 0 || threads > MAX_THREADS) {
            throw new BadInput("threads is " + threads + "; it must be 1 to " + MAX_THREADS
                    + ", or 0 for one per available processor");
        }
        if (precision != Precision.AUTO && WeightFormat.of(precision).isEmpty()) {
            throw precision.unavailable(
                    "the cpu",
                    WeightFormat.all().stream().map(WeightFormat::precision).toList());
        }
    }

    /** All processors, nothing narrowed, the widest kernels. */
    public static CpuOptions defaults() {
        return new CpuOptions(0, Precision.AUTO, KernelChoice.BEST);
    }

    public CpuOptions withThreads(int value) {
        return new CpuOptions(value, precision, kernels, stallLimit);
    }

    public CpuOptions withPrecision(Precision value) {
        return new CpuOptions(threads, value, kernels, stallLimit);
    }

    public CpuOptions withKernels(KernelChoice value) {
        return new CpuOptions(threads, precision, value, stallLimit);
    }

    public CpuOptions withStallLimit(Duration value) {
        return new CpuOptions(threads, precision, kernels, value);
    }
}
