package io.roseinfer.bench.replay;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.RunValidity;
import io.roseinfer.bench.report.Environment;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Step costs for simulated time.
 *
 * @param source description of their source, for results
 * @param validation how predictions by them compare with real runs
 * @param model the recorded model, {@link RecordedModel#NONE} if they apply to any
 * @param times durations with normal or recorded pace
 * @param resampled pace with resampled deviations, by seed; empty without recorded runs
 * @param replayed whether they are the costs of the run that is replayed, so that the recorded pace applies by default
 * @param inFlight steps in flight at a time
 * @param kvBlocks blocks of the recorded pool, or 0 if unknown
 */
public record StepCosts(
        String source,
        Validation validation,
        RecordedModel model,
        StepTimes times,
        Optional<LongFunction<Pace>> resampled,
        boolean replayed,
        int inFlight,
        int kvBlocks) {
    /** The property of a run whose load exceeds the capacity. */
    public static final String OVERLOAD = "a load beyond the capacity";

    /** The error of composed costs, in a note. */
    private static final String COMPOSED =
            "; steps of prompts and decode rows together have composed costs, which were 2 to 16 % too low in total in recordings of three models on an H200; latencies err more";

    /** Share of waiting requests at the end of a load beyond which the load exceeds the capacity. */
    private static final double MAX_WAITING_SHARE = 0.1;

    /**
     * A comparison of predictions by costs with real runs.
     *
     * @param stated the largest error and its runs, for results
     * @param batches the least and the largest batch limit of the compared runs; empty without runs
     * @param busiest the largest load of the compared runs
     * @param flags the flags of the compared runs that may have any value
     * @param covered the combinations of other settings and properties of the compared runs that differ from the defaults, in words
     */
    public record Validation(
            Environment.Validation stated,
            List<Integer> batches,
            EngineLoad busiest,
            Set<String> flags,
            Set<Set<String>> covered) {
        /** Costs that are not measured. */
        static final Validation NONE =
                new Validation(Environment.Validation.NONE, List.of(), EngineLoad.NONE, Set.of(), Set.of());

        /** Measured costs that were not compared. */
        static final Validation MISSING = new Validation(
                without("not validated against real runs"), List.of(), EngineLoad.NONE, Set.of(), Set.of());

        public Validation {
            batches = List.copyOf(batches);
            flags = Set.copyOf(flags);
            covered = Set.copyOf(covered);
        }

        private static Environment.Validation without(String words) {
            return new Environment.Validation(words, Map.of());
        }

        private Environment.Validation with(List<String> all) {
            List<String> settings =
                    all.stream().filter(setting -> !flags.contains(setting)).toList();
            if (equals(NONE) || equals(MISSING) || settings.isEmpty() || covered.contains(Set.copyOf(settings))) {
                return stated;
            }
            List<String> uncovered = settings.stream()
                    .filter(setting -> covered.stream().noneMatch(combination -> combination.contains(setting)))
                    .toList();
            return without(
                    uncovered.isEmpty()
                            ? "not validated in this combination (" + String.join(", ", settings) + ")"
                            : "not validated with " + String.join(", ", uncovered));
        }
    }

    /**
     * Creates costs that are not measured.
     *
     * @param text description for results, without "step costs"
     * @param kvBlocks blocks of an engine's pool, or 0 if unknown
     */
    public static StepCosts of(String text, CostModel costs, int kvBlocks) {
        StepTimes times = new StepTimes(costs, Pace.EVEN, HostTimes.NONE);
        return new StepCosts(
                "step costs " + text, Validation.NONE, RecordedModel.NONE, times, Optional.empty(), false, 1, kvBlocks);
    }

    /**
     * Creates costs from recorded runs of one model on one device, fitted together.
     *
     * @param runs at least one
     * @throws BadInput if steps of a run cannot be used, or the runs differ in steps in flight
     */
    public static StepCosts of(List<RecordedRun> runs) {
        return of(runs, false);
    }

    /**
     * Creates costs of the run that is replayed.
     *
     * @throws BadInput if its steps cannot be used
     */
    public static StepCosts ofReplayed(RecordedRun run) {
        return of(List.of(run), true);
    }

    private static StepCosts of(List<RecordedRun> runs, boolean replayed) {
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
                        + (first.model().name().isEmpty()
                                ? ""
                                : ", recorded with " + first.model().name())
                        + CostFit.skew(times.costs(), RecordedRun.samples(runs))
                                .map(note -> ", " + note)
                                .orElse(""),
                Validation.MISSING,
                first.model(),
                times,
                Optional.of(seed -> RecordedRun.resampledPace(runs, times.costs(), seed)),
                replayed,
                first.inFlight(),
                first.kvBlocks());
    }

    /** Returns these costs multiplied by a factor, which no validation covers. */
    public StepCosts scaled(double factor) {
        return new StepCosts(
                source + ", multiplied by " + factor,
                validation.equals(Validation.NONE) ? Validation.NONE : Validation.MISSING,
                model,
                new StepTimes(times.costs().times(factor), times.pace(), times.host()),
                resampled,
                replayed,
                inFlight,
                kvBlocks);
    }

    /**
     * Returns how predictions by these costs compare with real runs.
     *
     * @param settings the settings of a simulation, and properties of its runs, that a validation may not cover, in words
     */
    public Environment.Validation validation(List<String> settings) {
        return validation.with(settings);
    }

    /**
     * Returns the batch limit of simulated runs in words if it affected them and no compared run had a limit like it: smaller ones matter if
     * they are reached, and larger ones if they are exceeded.
     *
     * @param limit the maximum rows of a decode step
     * @param active the maximum active requests of the runs
     */
    public Optional<String> batchBeyondValidation(int limit, int active) {
        if (validation.batches().isEmpty()) {
            return Optional.empty();
        }
        int least = validation.batches().getFirst();
        int largest = validation.batches().getLast();
        return (limit < least && active >= limit) || (limit > largest && active > largest)
                ? Optional.of("--max-batch-size " + limit + " (compared runs: " + least
                        + (least == largest ? "" : " to " + largest) + ")")
                : Optional.empty();
    }

    /** Returns the load of simulated runs in words if no compared run had one like it. */
    public List<String> loadBeyondValidation(EngineLoad load) {
        return validation.batches().isEmpty() ? List.of() : load.beyond(validation.busiest());
    }

    /** Returns the source, and how predictions by these costs compare with real runs, as {@link #validation(List)}. */
    public String description(List<String> settings) {
        return validation.equals(Validation.NONE)
                ? source
                : source + ", " + validation(settings).words();
    }

    /**
     * Returns the properties of a simulated run that a validation may not cover, in words.
     *
     * @param batch the maximum rows of a decode step
     */
    public static List<String> properties(LoadResult run, int batch) {
        long cached = run.steps().sum(Fact.CACHED_TOKENS);
        List<String> properties = new ArrayList<>();
        if (cached > RunValidity.MIN_NOTED_SHARE * (cached + run.steps().sum(Fact.PREFILL_TOKENS))) {
            properties.add("prefix-cache hits");
        }
        if (run.steps().sum(Fact.PREEMPTIONS) > 0) {
            properties.add("preemptions");
        }
        if (mostActive(run) > batch) {
            properties.add("more active requests than the batch");
        }
        if (isOverloaded(run)) {
            properties.add(OVERLOAD);
        }
        return properties;
    }

    /** Returns the maximum active requests of a run. */
    public static int mostActive(LoadResult run) {
        return IntStream.range(0, run.steps().size())
                .map(i -> (int) run.steps().get(i, Fact.ACTIVE))
                .max()
                .orElse(0);
    }

    /** Returns whether a tenth of the requests had no first token when the last one was due. */
    private static boolean isOverloaded(LoadResult run) {
        long last = run.calls().stream()
                .mapToLong(call -> call.times().dueNanos())
                .max()
                .orElse(0);
        long waiting = run.calls().stream()
                .filter(call -> call.times().dueNanos() < last)
                .filter(call -> firstNanos(call) > last)
                .count();
        return waiting > MAX_WAITING_SHARE * run.calls().size();
    }

    private static long firstNanos(CallResult call) {
        long[] tokens = call.arrivals().nanos();
        return tokens.length == 0 ? call.times().endNanos() : tokens[0];
    }

    /** Returns the name of a run with its size and origin, and why it is invalid if it is. */
    private static String named(RecordedRun run) {
        String name = run.name() + " (" + run.result().calls().size() + " requests"
                + (run.origin().isEmpty() ? "" : ", " + run.origin()) + ")";
        return run.verdict().isValid()
                ? name
                : name + ", which is marked invalid: "
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

    /** Returns whether costs of steps of a run are composed, because too few steps like them were measured. */
    private boolean composesMixed(LoadResult run) {
        return !times.costs().range().hasMixed()
                && run.steps().stream().anyMatch(step -> StepShape.of(step).isMixed());
    }

    /** Returns a note if steps of a simulated run were outside of the measured range. */
    public Optional<String> extrapolation(LoadResult run) {
        return time(run)
                .filter(time -> time.share() >= RunValidity.MIN_NOTED_SHARE)
                .map(time -> String.format(
                        Locale.ROOT,
                        "%.1f %% of the simulated time is in steps outside the recorded range (%s); their costs are extrapolated and not validated; record a load with such steps%s",
                        100 * time.share(),
                        times.costs().range().words(),
                        composesMixed(run) ? COMPOSED : ""));
    }
}
