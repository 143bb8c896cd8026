package io.roseinfer.bench.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import java.util.Collection;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.Collectors;

/**
 * The environment of a result. Unknown values are empty, and {@code null} in JSON.
 *
 * @param jdk version and virtual machine
 * @param cpu name of the processor
 * @param vectorBits vector width of the CPU kernels; empty for scalar kernels
 * @param gpu name of the GPU
 * @param driver version of the NVIDIA driver
 * @param commit commit of the running checkout
 * @param warmUpNanos duration of the warm-up at load
 * @param simulated source of the times if they are simulated; empty for a measurement
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
    /** Creates the environment of a measurement. */
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

    /** Returns the environment of a simulation, which does not depend on this machine. */
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

    /** Returns the environment of several runs, without the warm-up, which differs between runs. */
    public Environment ofMany() {
        return new Environment(jdk, cpu, vectorBits, gpu, driver, commit, OptionalLong.empty(), simulated);
    }

    /** Returns the lines of a text report with the sources of simulated times; empty for measurements. */
    public static String simulatedLines(Collection<Environment> environments) {
        return environments.stream()
                .flatMap(machine -> machine.simulated().stream())
                .distinct()
                .map(costs -> "Simulated time: " + costs + "\n")
                .collect(Collectors.joining());
    }
}
