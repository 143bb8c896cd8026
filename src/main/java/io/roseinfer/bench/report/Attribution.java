package io.roseinfer.bench.report;

import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.LoadResult;
import java.util.List;

/**
 * The breakdown of a run's latencies; without samples if the server sends no timestamps.
 *
 * @param firstToken time to first token from the scheduled time, by the parts of {@link TtftBreakdown}
 * @param gaps time between tokens, by the parts of {@link ItlBreakdown}
 * @param longest the longest gaps by the client's timestamps, longest first
 * @param gapsWithoutSteps gaps excluded from {@code gaps} because their steps are unknown; 0 if no step is known
 * @param hasAllSteps whether the steps include every request's first token; an engine keeps only its newest steps
 */
public record Attribution(
        BreakdownTable firstToken,
        BreakdownTable gaps,
        List<ItlBreakdown.Gap> longest,
        int gapsWithoutSteps,
        boolean hasAllSteps) {

    public Attribution {
        longest = List.copyOf(longest);
    }

    /** Computes the breakdown from the timestamps of a run's completed requests. */
    public static Attribution of(LoadResult run) {
        return of(run, new StepIndex(run.steps()));
    }

    static Attribution of(LoadResult run, StepIndex steps) {
        List<CallResult> completed = run.completed();
        ItlBreakdown gaps = new ItlBreakdown(completed, steps);
        BreakdownTable.Samples firstTokens = action -> completed.forEach(
                call -> TtftBreakdown.of(call, steps).ifPresent(first -> action.accept(first.parts())));
        return new Attribution(
                BreakdownTable.of(TtftBreakdown.PARTS, firstTokens),
                gaps.table(),
                gaps.longest(),
                run.steps().isEmpty() ? 0 : gaps.unknown(),
                completed.stream().allMatch(call -> hasFirstStep(call, steps)));
    }

    private static boolean hasFirstStep(CallResult call, StepIndex steps) {
        return call.server()
                .filter(stamps -> stamps.tokenNanos().length > 0)
                .map(stamps -> steps.of(stamps.served().firstEngine()).before(stamps.tokenNanos()[0]) >= 0)
                .orElse(true);
    }
}
