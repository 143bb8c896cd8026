package io.roseinfer.bench.report;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * What a result was measured on. What is not known is empty and {@code null} in JSON.
 *
 * @param jdk version and virtual machine
 * @param cpu the processor's own name
 * @param vectorBits width of the vectors the CPU kernels use; empty for scalar kernels
 * @param gpu the name of the GPU it ran on
 * @param driver version of the NVIDIA driver
 * @param commit the commit of the running checkout
 * @param warmUpNanos how long the model was warmed up when it was loaded
 * @param simulated where the times come from if nothing was measured; empty of a measurement
 */
public record Environment(
        String jdk,
        Optional<String> cpu,
        OptionalInt vectorBits,
        Optional<String> gpu,
        Optional<String> driver,
        Optional<String> commit,
        long warmUpNanos,
        Optional<String> simulated) {
    /** The environment of a measurement. */
    public Environment(
            String jdk,
            Optional<String> cpu,
            OptionalInt vectorBits,
            Optional<String> gpu,
            Optional<String> driver,
            Optional<String> commit,
            long warmUpNanos) {
        this(jdk, cpu, vectorBits, gpu, driver, commit, warmUpNanos, Optional.empty());
    }

    /** The environment of a simulation, for which this machine means nothing. */
    public static Environment simulated(String jdk, Optional<String> commit, String costs) {
        return new Environment(
                jdk,
                Optional.empty(),
                OptionalInt.empty(),
                Optional.empty(),
                Optional.empty(),
                commit,
                0,
                Optional.of(costs));
    }
}
