package io.roseinfer.backend.cpu;

import io.roseinfer.backend.cpu.panama.VectorWidth;

/**
 * The vector support of this JVM and processor.
 *
 * @param moduleEnabled whether {@code jdk.incubator.vector} is in the boot layer
 * @param vectorBits preferred width of a vector, 0 without the module
 * @param optimized whether the JVM has an optimizing compiler, without which vector code is hundreds of times slower
 * @param processors processors available to this process
 */
public record CpuFeatures(boolean moduleEnabled, int vectorBits, boolean optimized, int processors) {
    private static final int NARROWEST = 128;

    /** Detects the features of this process. Without the module no class that needs it is loaded. */
    public static CpuFeatures detect() {
        String mode = System.getProperty("java.vm.info", "");
        boolean enabled = ModuleLayer.boot().findModule("jdk.incubator.vector").isPresent();
        return new CpuFeatures(
                enabled,
                enabled ? VectorWidth.preferredBits() : 0,
                !mode.contains("interpreted") && !mode.contains("emulated-client"),
                Runtime.getRuntime().availableProcessors());
    }

    /** Returns whether the vector kernels are supported. */
    public boolean vectorUsable() {
        return optimized && vectorBits >= NARROWEST;
    }

    /** Returns a line that describes the features, or what is missing with a remedy. */
    public String summary() {
        if (!moduleEnabled) {
            return "the module jdk.incubator.vector is not enabled; start java with --add-modules=jdk.incubator.vector";
        }
        if (!optimized) {
            return "the JVM runs without an optimizing compiler; start java without -Xint and -XX:TieredStopAtLevel";
        }
        if (!vectorUsable()) {
            return "vectors of " + vectorBits + " bits are too narrow, " + NARROWEST
                    + " are needed; use a processor with SSE4, AVX or NEON, and no -XX:MaxVectorSize below 16";
        }
        return vectorBits + "-bit vectors, " + processors + " processors";
    }
}
