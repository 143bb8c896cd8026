package io.roseinfer.bench.report;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.roseinfer.backend.Operator;
import io.roseinfer.backend.StepProfile;
import io.roseinfer.backend.StepProfile.Kind;
import io.roseinfer.backend.StepProfile.Part;
import io.roseinfer.metrics.Summary;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.ToDoubleFunction;

/**
 * The operator times of the steps of one kind, in microseconds per step.
 *
 * @param kind kind of the steps
 * @param meanRows rows per step
 * @param meanTokens tokens per step
 * @param stepMicros times of whole steps
 * @param sumMicros sums of the operators of each step; the operators' means add up to its mean
 * @param operators the operators that ran, in execution order
 */
record OperatorSummary(
        Kind kind,
        @JsonProperty("rows") double meanRows,
        @JsonProperty("tokens") double meanTokens,
        Summary stepMicros,
        Summary sumMicros,
        List<OperatorTime> operators) {
    /**
     * The time of one operator.
     *
     * @param callsPerStep mean number of calls per step
     * @param micros time per step
     * @param share share of the time of all steps, 0 to 1
     * @param gigabytesPerSecond 10⁹ bytes read per second of its time; empty if unknown
     * @param gigaflops 10⁹ floating point operations per second of its time; empty if unknown
     */
    public record OperatorTime(
            @JsonProperty("name") Operator operator,
            @JsonProperty("calls") double callsPerStep,
            @JsonProperty("time_us") Summary micros,
            double share,
            @JsonProperty("gb_s") OptionalDouble gigabytesPerSecond,
            @JsonProperty("gflop_s") OptionalDouble gigaflops) {}

    public OperatorSummary {
        operators = List.copyOf(operators);
    }

    /** Returns a summary for each kind of step that occurs. */
    public static List<OperatorSummary> of(List<StepProfile> steps) {
        List<OperatorSummary> summaries = new ArrayList<>();
        for (Kind kind : Kind.values()) {
            List<StepProfile> same =
                    steps.stream().filter(step -> step.kind() == kind).toList();
            if (!same.isEmpty()) {
                summaries.add(of(kind, same));
            }
        }
        return summaries;
    }

    private static OperatorSummary of(Kind kind, List<StepProfile> steps) {
        double allNanos = steps.stream().mapToLong(StepProfile::stepNanos).sum();
        List<OperatorTime> operators = new ArrayList<>();
        for (Operator operator : Operator.values()) {
            operatorTime(operator, steps, allNanos).ifPresent(operators::add);
        }
        return new OperatorSummary(
                kind,
                steps.stream().mapToInt(StepProfile::rows).average().orElseThrow(),
                steps.stream().mapToInt(StepProfile::tokens).average().orElseThrow(),
                micros(steps, StepProfile::stepNanos),
                micros(
                        steps,
                        step -> step.parts().stream().mapToLong(Part::nanos).sum()),
                operators);
    }

    private static Optional<OperatorTime> operatorTime(Operator operator, List<StepProfile> steps, double allNanos) {
        List<Part> parts = steps.stream()
                .flatMap(step -> step.parts().stream())
                .filter(part -> part.operator() == operator)
                .toList();
        if (parts.isEmpty()) {
            return Optional.empty();
        }
        double nanos = parts.stream().mapToLong(Part::nanos).sum();
        return Optional.of(new OperatorTime(
                operator,
                parts.stream().mapToLong(Part::calls).sum() / (double) steps.size(),
                micros(parts, Part::nanos),
                ratio(nanos, allNanos),
                rate((double) parts.stream().mapToLong(Part::bytes).sum(), nanos),
                rate((double) parts.stream().mapToLong(Part::flops).sum(), nanos)));
    }

    private static <T> Summary micros(List<T> timed, ToDoubleFunction<T> nanos) {
        return Summary.ofMicros(timed.stream().mapToDouble(nanos));
    }

    private static OptionalDouble rate(double work, double nanos) {
        double rate = ratio(work, nanos);
        return rate > 0 ? OptionalDouble.of(rate) : OptionalDouble.empty();
    }

    private static double ratio(double part, double whole) {
        return whole > 0 ? part / whole : 0;
    }

    /** Returns the share of the steps' time outside of all operators, 0 to 1. */
    public double unaccounted() {
        return ratio(stepMicros.mean() - sumMicros.mean(), stepMicros.mean());
    }
}
