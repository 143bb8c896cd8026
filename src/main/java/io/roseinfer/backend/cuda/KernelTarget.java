package io.roseinfer.backend.cuda;

import io.roseinfer.backend.KvPrecision;
import io.roseinfer.backend.cuda.driver.CudaDevice;
import io.roseinfer.base.Remedy;
import io.roseinfer.base.RoseException.BackendUnavailable;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Compilation targets of the kernels, most specific first; a device runs the first that it supports. */
enum KernelTarget {
    /** Hopper-only instructions. */
    SM_90A(90, 90, true),
    /** Compute capability 9.0 and up. */
    SM_90(90, Integer.MAX_VALUE, true),
    /** Compute capability 8.0 and up. */
    SM_80(80, Integer.MAX_VALUE, false);

    /** System property that overrides the target, so that tests on one GPU reach all kernels. */
    static final String PROPERTY = "roseinfer.cuda.target";

    private final int least;
    private final int most;
    private final boolean overlaps;

    KernelTarget(int least, int most, boolean overlaps) {
        this.least = least;
        this.most = most;
        this.overlaps = overlaps;
    }

    /** Returns the target's part of file names: {@code sm_90a}. */
    String suffix() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * Returns whether kernels may use programmatic dependent launch. Their code must have the wait instruction of compute capability
     * 9.0; otherwise a device that supports such launches gives wrong results.
     */
    boolean overlaps() {
        return overlaps;
    }

    /** Returns whether this target has the Hopper kernels. */
    boolean isHopper() {
        return this == SM_90A;
    }

    private boolean runsOn(CudaDevice device) {
        int capability = 10 * device.major() + device.minor();
        return capability >= least && capability <= most;
    }

    /**
     * Returns the target that a device runs: its best, or the one in {@link #PROPERTY}.
     *
     * @throws BackendUnavailable if it supports none, or not the requested one
     */
    static KernelTarget of(CudaDevice device) {
        return choose(device, System.getProperty(PROPERTY));
    }

    static KernelTarget choose(CudaDevice device, @Nullable String wanted) {
        return Arrays.stream(values())
                .filter(target -> target.runsOn(device))
                .filter(target -> wanted == null || wanted.equals(target.suffix()))
                .findFirst()
                .orElseThrow(() -> refusal(device, wanted));
    }

    /**
     * Requires that the target has kernels for the weights.
     *
     * @throws BackendUnavailable for int8 weights on other targets than Hopper's
     */
    void requireWeights(ElementType weights, CudaDevice device) {
        if (weights == ElementType.INT8 && !isHopper()) {
            throw new BackendUnavailable(
                    "device cuda:" + device.index() + " (" + device.name() + ") runs kernels for " + suffix()
                            + ", and int8 weights need sm_90a (Hopper)",
                    Remedy.of("use another %s", "dtype"),
                    Remedy.USE_CPU);
        }
    }

    /**
     * Requires that the target has kernels for the KV cache.
     *
     * @throws BackendUnavailable for fp8 below compute capability 9.0
     */
    void requireKvCacheDtype(KvPrecision kvCacheDtype, CudaDevice device) {
        if (kvCacheDtype == KvPrecision.FP8 && this == SM_80) {
            throw new BackendUnavailable(
                    "device cuda:" + device.index() + " (" + device.name() + ") runs kernels for " + suffix()
                            + ", and an fp8 KV cache needs compute capability 9.0 (H100 and newer)",
                    Remedy.of("use %s auto", "kv_cache_dtype"));
        }
    }

    private static BackendUnavailable refusal(CudaDevice device, @Nullable String wanted) {
        String seen = "device cuda:" + device.index() + " (" + device.name() + ") has compute capability "
                + device.major() + "." + device.minor();
        String can = Arrays.stream(values())
                .filter(target -> target.runsOn(device))
                .map(KernelTarget::suffix)
                .collect(Collectors.joining(", "));
        return can.isEmpty()
                ? new BackendUnavailable(seen + "; 8.0 or more is needed (A100 and newer)", Remedy.USE_CPU)
                : new BackendUnavailable(
                        seen + " and runs kernels for " + can + ", not for " + wanted,
                        Remedy.of("change or drop -D" + PROPERTY));
    }
}
