package io.roseinfer.bench.http;

import io.roseinfer.base.MappedList;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.metrics.StepTable;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The raw result of a load run, from which all metrics are computed. All timestamps are of the same clock.
 *
 * @param startNanos time zero of the load's request times
 * @param endNanos time when all requests had ended
 * @param isScheduled whether requests had scheduled times
 * @param calls all requests in the order of the load
 * @param cost resource usage of the process during the run
 * @param oddities unusual events
 * @param steps engine steps during the run, oldest first; empty if unknown
 * @param fleet the use of several simulated engines; empty for others
 * @param grammars the time spent on grammars; empty without restricted requests, or if unknown
 */
public record LoadResult(
        long startNanos,
        long endNanos,
        boolean isScheduled,
        List<CallResult> calls,
        ClientCost cost,
        Oddities oddities,
        StepTable steps,
        Optional<FleetUse> fleet,
        Optional<GrammarTimes> grammars) {
    private static final double NANOS_PER_SECOND = 1e9;

    public LoadResult {
        // A view that creates its elements on access stays one, so that they take no memory.
        calls = calls instanceof MappedList ? calls : List.copyOf(calls);
    }

    /** Creates the result of a run with these steps. */
    public LoadResult(
            long startNanos,
            long endNanos,
            boolean isScheduled,
            List<CallResult> calls,
            ClientCost cost,
            Oddities oddities,
            List<StepRecord> steps) {
        this(
                startNanos,
                endNanos,
                isScheduled,
                calls,
                cost,
                oddities,
                StepTable.copyOf(steps),
                Optional.empty(),
                Optional.empty());
    }

    /** Returns the result with only some of its steps. */
    public LoadResult withSteps(Predicate<StepRecord> kept) {
        List<StepRecord> some = steps.stream().filter(kept).toList();
        return new LoadResult(
                startNanos, endNanos, isScheduled, calls, cost, oddities, StepTable.copyOf(some), fleet, grammars);
    }

    /** Returns the result with the use of its engines. */
    public LoadResult withFleet(FleetUse use) {
        return new LoadResult(
                startNanos, endNanos, isScheduled, calls, cost, oddities, steps, Optional.of(use), grammars);
    }

    /** Returns the result with the time spent on grammars. */
    public LoadResult withGrammars(Optional<GrammarTimes> times) {
        return new LoadResult(startNanos, endNanos, isScheduled, calls, cost, oddities, steps, fleet, times);
    }

    /** Returns the completed requests. */
    public List<CallResult> completed() {
        for (CallResult call : calls) {
            if (!call.isComplete()) {
                return callsThat(CallResult::isComplete);
            }
        }
        return calls;
    }

    private List<CallResult> callsThat(Predicate<CallResult> isKept) {
        return calls instanceof MappedList<?, CallResult> views
                ? views.filter(isKept)
                : calls.stream().filter(isKept).toList();
    }

    /** Returns the result with only some of its requests, and without steps. */
    public LoadResult withCalls(List<CallResult> some) {
        return new LoadResult(startNanos, endNanos, isScheduled, some, cost, oddities, StepTable.EMPTY);
    }

    /**
     * Returns the result without its beginning and end: requests scheduled in between, from the end of the first interval until they
     * have ended.
     *
     * @param warmUpNanos length of the first interval, from the start
     * @param coolDownNanos length of the last interval, until the last request's scheduled time
     */
    public LoadResult trimmed(long warmUpNanos, long coolDownNanos) {
        long from = startNanos + warmUpNanos;
        long to =
                calls.stream().mapToLong(call -> call.times().dueNanos()).max().orElse(startNanos) - coolDownNanos;
        List<CallResult> some = callsThat(
                call -> call.times().dueNanos() >= from && call.times().dueNanos() <= to);
        long end =
                some.stream().mapToLong(call -> call.times().endNanos()).max().orElse(from);
        return new LoadResult(
                from,
                Math.max(from + 1, end),
                isScheduled,
                some,
                cost,
                oddities,
                StepTable.copyOf(steps.stream()
                        .filter(step -> step.endNanos() >= from && step.get(Fact.START_NANOS) <= end)
                        .toList()),
                fleet,
                grammars);
    }

    public double seconds() {
        return (endNanos - startNanos) / NANOS_PER_SECOND;
    }

    /** Returns the requests per second by scheduled time. */
    public double scheduledRate() {
        return rate(calls.stream().mapToLong(call -> call.times().dueNanos()).toArray());
    }

    /** Returns the requests per second by send time. */
    public double achievedRate() {
        return rate(calls.stream().mapToLong(call -> call.times().sentNanos()).toArray());
    }

    private static double rate(long... nanos) {
        return nanos.length == 0
                ? 0
                : OfferedLoad.rate(
                        nanos.length,
                        Arrays.stream(nanos).max().orElse(0)
                                - Arrays.stream(nanos).min().orElse(0));
    }

    public long inputTokens() {
        return calls.stream()
                .filter(CallResult::isComplete)
                .mapToLong(CallResult::inputTokens)
                .sum();
    }

    public long outputTokens() {
        return calls.stream()
                .filter(CallResult::isComplete)
                .mapToLong(CallResult::tokens)
                .sum();
    }
}
