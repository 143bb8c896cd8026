package io.roseinfer.bench.replay;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.RunValidity;
import io.roseinfer.metrics.StepRecord;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.LongFunction;
import java.util.stream.Collectors;

/**
 * Step costs for simulated time.
 *
 * @param source description of their source, for results
 * @param validation how predictions by them compare with real runs, for results; empty if they are not measured
 * @param model the model that was recorded, as for {@code --model}; empty if they apply to any model
 * @param times durations with normal or recorded pace
 * @param resampled pace with resampled deviations, by seed; empty without recorded runs
 * @param inFlight steps in flight at a time
 * @param kvBlocks blocks of the recorded pool, or 0 if unknown
 */
public record StepCosts(
        String source,
        String validation,
        String model,
        StepTimes times,
        Optional<LongFunction<Pace>> resampled,
        int inFlight,
        int kvBlocks) {
    /** The validation of measured costs without one. */
    static final String NOT_VALIDATED = "not validated against real runs";

    /**
     * Creates costs that are not measured.
     *
     * @param text description for results, without "step costs"
     * @param kvBlocks blocks of an engine's pool, or 0 if unknown
     */
    public static StepCosts of(String text, CostModel costs, int kvBlocks) {
        StepTimes times = new StepTimes(costs, Pace.EVEN, HostTimes.NONE);
        return new StepCosts("step costs " + text, "", "", times, Optional.empty(), 1, kvBlocks);
    }

    /**
     * Creates costs from recorded runs of one model on one device, fitted together.
     *
     * @param runs at least one
     * @throws BadInput if steps of a run cannot be used, or the runs differ in steps in flight
     */
    public static StepCosts of(List<RecordedRun> runs) {
        RecordedRun first = runs.getFirst();
        StepTimes times = RecordedRun.times(runs);
        for (RecordedRun run : runs) {
            if (run.inFlight() != first.inFlight()) {
                throw new BadInput(run.name() + " has " + run.inFlight() + " steps in flight, but " + first.name()
                        + " has " + first.inFlight() + "; give runs of one device with the same flags");
            }
        }
        return new StepCosts(
                "step costs of " + runs.stream().map(StepCosts::named).collect(Collectors.joining(", "))
                        + (first.model().isEmpty() ? "" : ", recorded with " + first.model()),
                NOT_VALIDATED,
                first.model(),
                times,
                Optional.of(seed -> RecordedRun.resampledPace(runs, seed)),
                first.inFlight(),
                first.kvBlocks());
    }

    /** Returns these costs multiplied by a factor, which no validation covers. */
    public StepCosts scaled(double factor) {
        return new StepCosts(
                source + ", multiplied by " + factor,
                validation.isEmpty() ? "" : NOT_VALIDATED,
                model,
                new StepTimes(times.costs().times(factor), times.pace(), times.host()),
                resampled,
                inFlight,
                kvBlocks);
    }

    /**
     * Returns the source, and how predictions by these costs compare with real runs.
     *
     * @param uncovered settings of a simulation that no validation covers, in words
     */
    public String description(List<String> uncovered) {
        if (validation.isEmpty()) {
            return source;
        }
        boolean isCovered = uncovered.isEmpty() || validation.equals(NOT_VALIDATED);
        return source + ", " + (isCovered ? validation : "not validated with " + String.join(" or ", uncovered));
    }

    /** Returns the name of a run, and why it is invalid if it is. */
    private static String named(RecordedRun run) {
        return run.verdict().isValid()
                ? run.name()
                : run.name() + ", which is marked invalid: "
                        + String.join("; ", run.verdict().reasons());
    }

    /**
     * The time of a run's steps by these costs.
     *
     * @param nanos time of all steps
     * @param extrapolatedNanos time of steps outside of the measured range
     */
    public record SimulatedTime(double nanos, double extrapolatedNanos) {
        /** Returns the share of extrapolated time, 0 to 1. */
        public double share() {
            return nanos == 0 ? 0 : extrapolatedNanos / nanos;
        }

        /** Returns the sum of the times of two parts of a run. */
        public SimulatedTime plus(SimulatedTime other) {
            return new SimulatedTime(nanos + other.nanos, extrapolatedNanos + other.extrapolatedNanos);
        }
    }

    /** Returns the time of a simulated run's steps; empty if the costs were not measured and so apply to all steps. */
    public Optional<SimulatedTime> time(LoadResult run) {
        StepRange range = times.costs().range();
        if (range.equals(StepRange.ALL)) {
            return Optional.empty();
        }
        double all = 0;
        double outside = 0;
        for (StepRecord step : run.steps()) {
            double nanos = times.costs().nanos(StepShape.of(step));
            all += nanos;
            outside += range.contains(StepShape.of(step)) ? 0 : nanos;
        }
        return Optional.of(new SimulatedTime(all, outside));
    }

    /** Returns a note if steps of a simulated run were outside of the measured range. */
    public Optional<String> extrapolation(LoadResult run) {
        return time(run)
                .filter(time -> time.share() >= RunValidity.MIN_NOTED_SHARE)
                .map(time -> String.format(
                        Locale.ROOT,
                        "%.1f %% of the simulated time is in steps outside the recorded range (%s); their costs are extrapolated and not validated",
                        100 * time.share(),
                        times.costs().range().words()));
    }
}
