package io.roseinfer.backend.cuda;

import io.roseinfer.backend.KvPrecision;
import io.roseinfer.backend.cuda.driver.CudaDevice;
import io.roseinfer.base.Remedy;
import io.roseinfer.base.RoseException.BackendUnavailable;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A compilation target of the kernels: a device runs the most specific target it can. The order of the constants is theirs, most
 * specific first.
 */
enum KernelTarget {
    /** Hopper's own instructions, which no other chip has. */
    SM_90A(90, 90, true),
    /** Compute capability 9.0 and up. */
    SM_90(90, Integer.MAX_VALUE, true),
    /** Compute capability 8.0 and up. */
    SM_80(80, Integer.MAX_VALUE, false);

    /** A system property that makes a device run another target than its best, so that tests on one card reach all kernels. */
    static final String PROPERTY = "roseinfer.cuda.target";

    private final int least;
    private final int most;
    private final boolean overlaps;

    KernelTarget(int least, int most, boolean overlaps) {
        this.least = least;
        this.most = most;
        this.overlaps = overlaps;
    }

    /** As files are called by it: {@code sm_90a}. */
    String suffix() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * Whether a kernel may be launched while its predecessor still runs: its code must wait for what the predecessor leaves, and
     * the instruction for that came with compute capability 9.0. A device that honours such a launch of other code gives wrong
     * results.
     */
    boolean overlaps() {
        return overlaps;
    }

    /** Whether this is the target of the kernels for Hopper's tensor cores. */
    boolean isHopper() {
        return this == SM_90A;
    }

    private boolean runsOn(CudaDevice device) {
        int capability = 10 * device.major() + device.minor();
        return capability >= least && capability <= most;
    }

    /**
     * The target that a device runs: its best, or the one {@link #PROPERTY} names.
     *
     * @throws BackendUnavailable if it can run none, or not that one
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
     * Refuses weights that the target has no kernels for.
     *
     * @throws BackendUnavailable if they are of one byte and the target is not Hopper's
     */
    void requireWeights(ElementType weights, CudaDevice device) {
        if (weights == ElementType.INT8 && !isHopper()) {
            throw new BackendUnavailable(
                    "device cuda:" + device.index() + " (" + device.name() + ") runs kernels for " + suffix()
                            + ", and int8 weights have kernels for sm_90a alone (H100, H200)",
                    Remedy.of("use another %s", "dtype"),
                    Remedy.USE_CPU);
        }
    }

    /**
     * Refuses a type of keys and values that the target has no kernels for.
     *
     * @throws BackendUnavailable if they are to be fp8, which came to chips with compute capability 9.0
     */
    void requireKvCacheDtype(KvPrecision kvCacheDtype, CudaDevice device) {
        if (kvCacheDtype == KvPrecision.FP8 && this == SM_80) {
            throw new BackendUnavailable(
                    "device cuda:" + device.index() + " (" + device.name() + ") runs kernels for " + suffix()
                            + ", and fp8 keys and values need compute capability 9.0 (H100 and newer)",
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
