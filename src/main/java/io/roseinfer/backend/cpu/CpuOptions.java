package io.roseinfer.backend.cpu;

import io.roseinfer.backend.Precision;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import io.roseinfer.base.RoseException.BadInput;
import java.time.Duration;

/**
 * The options of the CPU backend.
 *
 * @param threads worker threads; 0 for one per available processor
 * @param precision weight precision: a {@link WeightFormat}'s, or {@link Precision#AUTO}, which keeps bfloat16 checkpoints and
 *     widens others to fp32, without loss
 * @param kernels which kernels; they do not change results
 * @param stallLimit how long a step's workers wait for one of them before the step and the runner fail. A large step takes longer, but
 *     none of its phases does
 */
public record CpuOptions(int threads, Precision precision, KernelChoice kernels, Duration stallLimit) {
    /** Same as the time limit of small steps on a GPU. */
    private static final Duration STALL_LIMIT = Duration.ofSeconds(60);

    /** Maximum worker threads. */
    public static final int MAX_THREADS = 1024;

    /** Creates options with a stall limit of a minute. */
    public CpuOptions(int threads, Precision precision, KernelChoice kernels) {
        this(threads, precision, kernels, STALL_LIMIT);
    }

    public CpuOptions {
        if (stallLimit.isNegative() || stallLimit.isZero()) {
            throw new BadInput("the stall limit is " + stallLimit + "; it must be positive");
        }
        requireThreads(threads);
        if (precision != Precision.AUTO && WeightFormat.of(precision).isEmpty()) {
            throw precision.unavailable(
                    "the cpu",
                    WeightFormat.all().stream().map(WeightFormat::precision).toList());
        }
    }

    /**
     * Checks a number of worker threads.
     *
     * @throws BadInput unless it is 0 to {@value #MAX_THREADS}
     */
    public static void requireThreads(int threads) {
        BadInput.require(
                threads >= 0 && threads <= MAX_THREADS,
                "threads",
                threads,
                "1 to " + MAX_THREADS + ", or 0 for one per available processor");
    }

    /** Returns the defaults: all processors, no loss of precision, the widest kernels. */
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
