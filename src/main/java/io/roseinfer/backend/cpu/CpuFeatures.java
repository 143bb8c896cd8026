package io.roseinfer.backend.cpu;

import io.roseinfer.backend.cpu.panama.VectorWidth;

/**
 * The vector support of this JVM and processor.
 *
 * @param moduleEnabled whether {@code jdk.incubator.vector} is in the boot layer
 * @param vectorBits preferred width of a vector, 0 without the module
 * @param processors processors available to this process
 */
public record CpuFeatures(boolean moduleEnabled, int vectorBits, int processors) {
    private static final int NARROWEST = 128;

    /** Looks at this process. Without the module no class that needs it is touched. */
    public static CpuFeatures detect() {
        boolean enabled = ModuleLayer.boot().findModule("jdk.incubator.vector").isPresent();
        return new CpuFeatures(
                enabled,
                enabled ? VectorWidth.preferredBits() : 0,
                Runtime.getRuntime().availableProcessors());
    }

    /** Whether the vector kernels can run as intended. */
    public boolean vectorUsable() {
        return vectorBits >= NARROWEST;
    }

    /** One line: what there is, or what is missing and what to do about it. */
    public String summary() {
        if (!moduleEnabled) {
            return "the module jdk.incubator.vector is not enabled; start java with --add-modules=jdk.incubator.vector";
        }
        if (!vectorUsable()) {
            return "vectors of " + vectorBits + " bits are too narrow, " + NARROWEST
                    + " are needed; use a processor with SSE4, AVX or NEON, and no -XX:MaxVectorSize below 16";
        }
        return vectorBits + "-bit vectors, " + processors + " processors";
    }
}
