package io.roseinfer.bench.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import java.util.Collection;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.Collectors;

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
        @JsonInclude(Include.NON_ABSENT) OptionalLong warmUpNanos,
        @JsonInclude(Include.NON_ABSENT) Optional<String> simulated) {
    /** The environment of a measurement. */
    public Environment(
            String jdk,
            Optional<String> cpu,
            OptionalInt vectorBits,
            Optional<String> gpu,
            Optional<String> driver,
            Optional<String> commit,
            long warmUpNanos) {
        this(jdk, cpu, vectorBits, gpu, driver, commit, OptionalLong.of(warmUpNanos), Optional.empty());
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
                OptionalLong.of(0),
                Optional.of(costs));
    }

    /** Returns what many runs were measured on: all but the warm-up, of which each has its own. */
    public Environment ofMany() {
        return new Environment(jdk, cpu, vectorBits, gpu, driver, commit, OptionalLong.empty(), simulated);
    }

    /** Returns the lines above a text's table that say where simulated times come from; empty of measurements. */
    public static String simulatedLines(Collection<Environment> environments) {
        return environments.stream()
                .flatMap(machine -> machine.simulated().stream())
                .distinct()
                .map(costs -> "Simulated time: " + costs + "\n")
                .collect(Collectors.joining());
    }
}
