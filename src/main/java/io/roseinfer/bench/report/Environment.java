package io.roseinfer.bench.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.regex.Pattern;
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
 * @param host the machine and the JVM's flags; empty if the times are simulated
 * @param validations how predictions by the costs of simulated times compare with real runs: of the first engine, and of each one
 *     whose costs differ from it; empty if the times are measured
 * @param policies SHA-256 of the class of each policy that is not built in, without debug information, by class name
 */
public record Environment(
        String jdk,
        Optional<String> cpu,
        OptionalInt vectorBits,
        Optional<String> gpu,
        Optional<String> driver,
        Optional<String> commit,
        @JsonInclude(Include.NON_ABSENT) OptionalLong warmUpNanos,
        @JsonInclude(Include.NON_ABSENT) Optional<String> simulated,
        @JsonInclude(Include.NON_EMPTY) List<Validation> validations,
        @JsonInclude(Include.NON_ABSENT) Optional<Host> host,
        @JsonInclude(Include.NON_EMPTY) Map<String, String> policies) {
    /**
     * A comparison of predictions by step costs with real runs.
     *
     * @param words the comparison in words
     * @param largestError the largest error, as a share; absent if none is stated
     */
    public record Validation(
            String words, @JsonInclude(Include.NON_ABSENT) OptionalDouble largestError) {
        /** Costs that were not compared. */
        public static final Validation NONE = new Validation("not validated", OptionalDouble.empty());

        /** The metrics with a stated error, in words. */
        public static final String METRICS = "p50, p90 and p99 of TTFT and TPOT";

        private static final Pattern COMPARED = Pattern.compile("(median|p50|p90|p99)_(ttft|tpot)_ms");

        /** Returns whether a stated error is of a metric too. */
        public static boolean covers(String metric) {
            return COMPARED.matcher(metric).matches();
        }
    }

    /**
     * A machine and its JVM.
     *
     * @param os name and version of the operating system, with the kernel's on Linux
     * @param cores processors that the JVM may use
     * @param memoryBytes memory of the machine or container; 0 if unknown
     * @param jvmFlags flags of the JVM, separated by blanks
     * @param loadAverage runnable threads of the machine over the last minute before the run; empty if unknown
     */
    public record Host(
            String os,
            int cores,
            long memoryBytes,
            String jvmFlags,
            @JsonInclude(Include.NON_ABSENT) OptionalDouble loadAverage) {}

    public Environment {
        validations = List.copyOf(validations);
        policies = Collections.unmodifiableMap(new TreeMap<>(policies));
    }

    /** Creates the environment of a measurement, without a host and policies. */
    public Environment(
            String jdk,
            Optional<String> cpu,
            OptionalInt vectorBits,
            Optional<String> gpu,
            Optional<String> driver,
            Optional<String> commit,
            long warmUpNanos) {
        this(
                jdk,
                cpu,
                vectorBits,
                gpu,
                driver,
                commit,
                OptionalLong.of(warmUpNanos),
                Optional.empty(),
                List.of(),
                Optional.empty(),
                Map.of());
    }

    /**
     * Returns the environment of a simulation, which does not depend on this machine.
     *
     * @param costs the source of the times
     */
    public static Environment simulated(
            String jdk, Optional<String> commit, String costs, List<Validation> validations) {
        return new Environment(
                jdk,
                Optional.empty(),
                OptionalInt.empty(),
                Optional.empty(),
                Optional.empty(),
                commit,
                OptionalLong.of(0),
                Optional.of(costs),
                validations,
                Optional.empty(),
                Map.of());
    }

    public Environment withHost(Host value) {
        return new Environment(
                jdk,
                cpu,
                vectorBits,
                gpu,
                driver,
                commit,
                warmUpNanos,
                simulated,
                validations,
                Optional.of(value),
                policies);
    }

    public Environment withPolicies(Map<String, String> value) {
        return new Environment(
                jdk, cpu, vectorBits, gpu, driver, commit, warmUpNanos, simulated, validations, host, value);
    }

    /** Returns the environment of several runs, without the warm-up and the load average, which differ between runs. */
    public Environment ofMany() {
        Optional<Host> ofAll = host.map(
                one -> new Host(one.os(), one.cores(), one.memoryBytes(), one.jvmFlags(), OptionalDouble.empty()));
        return new Environment(
                jdk,
                cpu,
                vectorBits,
                gpu,
                driver,
                commit,
                OptionalLong.empty(),
                simulated,
                validations,
                ofAll,
                policies);
    }

    /** Returns the largest stated error of simulated times, as a share; empty for a measurement, and unless it is stated for all engines. */
    public OptionalDouble largestError() {
        // The maximum with NaN is NaN.
        double largest = validations.stream()
                .mapToDouble(each -> each.largestError().orElse(Double.NaN))
                .max()
                .orElse(Double.NaN);
        return Double.isNaN(largest) ? OptionalDouble.empty() : OptionalDouble.of(largest);
    }

    /** Returns how predictions by the costs of simulated times compare with real runs, for each engine with other costs; empty for a measurement. */
    public String validation() {
        return validations.stream().map(Validation::words).collect(Collectors.joining("; "));
    }
}
