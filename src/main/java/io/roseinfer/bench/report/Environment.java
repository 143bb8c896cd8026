package io.roseinfer.bench.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

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
 * @param policies SHA-256 of the class of each policy, device and observer that is not built in, without debug information, by class name
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
     * @param largestError the largest of the errors, as a share; absent if none is stated
     * @param errors the largest error of p50, p90 and p99 of {@code ttft}, {@code tpot}, {@code itl} and {@code e2el}, as a share, without
     *     the metrics that no compared run measured; files of earlier versions have one error of the first two
     */
    public record Validation(
            String words,
            @JsonInclude(Include.NON_ABSENT) OptionalDouble largestError,
            @JsonInclude(Include.NON_EMPTY) Map<String, Double> errors) {
        private static final List<String> METRICS = List.of("ttft", "tpot", "itl", "e2el");

        private static final Pattern COMPARED = Pattern.compile("(?:median|p50|p90|p99)_([a-z0-9]+)_ms");

        /** Costs that were not compared. */
        public static final Validation NONE = new Validation("not validated", Map.of());

        public Validation {
            Map<String, Double> known = new TreeMap<>(errors);
            if (errors.isEmpty() && largestError.isPresent()) {
                METRICS.subList(0, 2).forEach(metric -> known.put(metric, largestError.getAsDouble()));
            }
            errors = Collections.unmodifiableMap(known);
        }

        public Validation(String words, Map<String, Double> errors) {
            this(words, errors.values().stream().mapToDouble(error -> error).max(), errors);
        }

        /** Returns the error of a metric, as named in results; empty if no compared run measured it. */
        public static OptionalDouble error(Map<String, Double> errors, String metric) {
            Matcher compared = COMPARED.matcher(metric);
            Double error = compared.matches() ? errors.get(compared.group(1)) : null;
            return error == null ? OptionalDouble.empty() : OptionalDouble.of(error);
        }

        /** Returns the error of each metric, and the metrics that no compared run measured, in words. */
        public static String words(Map<String, Double> errors) {
            String measured = METRICS.stream()
                    .filter(errors::containsKey)
                    .map(metric -> String.format(
                            Locale.ROOT,
                            "%s %.1f %%",
                            metric.toUpperCase(Locale.ROOT),
                            100 * errors.getOrDefault(metric, 0.0)))
                    .collect(Collectors.joining(", "));
            String others = METRICS.stream()
                    .filter(metric -> !errors.containsKey(metric))
                    .map(metric -> metric.toUpperCase(Locale.ROOT))
                    .collect(Collectors.joining(" and "));
            return measured + (others.isEmpty() ? "" : "; no compared run measured " + others);
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

    /** Returns this environment with more {@link #policies}. */
    public Environment withPolicies(Map<String, String> more) {
        Map<String, String> all = new TreeMap<>(policies);
        all.putAll(more);
        return new Environment(
                jdk, cpu, vectorBits, gpu, driver, commit, warmUpNanos, simulated, validations, host, all);
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

    /** Returns the {@link Validation#errors} of simulated times that are stated for all engines; empty for a measurement. */
    public Map<String, Double> errors() {
        return errors(validations.stream().map(Validation::errors));
    }

    /** Returns the larger of several stated errors of each metric, of the metrics that all have. */
    public static Map<String, Double> errors(Stream<Map<String, Double>> all) {
        return all.reduce((one, other) -> one.entrySet().stream()
                        .filter(error -> other.containsKey(error.getKey()))
                        .collect(Collectors.toMap(
                                Map.Entry::getKey,
                                error -> Math.max(error.getValue(), other.getOrDefault(error.getKey(), 0.0)))))
                .orElse(Map.of());
    }

    /** Returns how predictions by the costs of simulated times compare with real runs, for each engine with other costs; empty for a measurement. */
    public String validation() {
        return validations.stream().map(Validation::words).collect(Collectors.joining("; "));
    }
}
