package io.roseinfer.bench.report;

import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.LoadResult;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The breakdown of a run's latencies; without samples if the server sends no timestamps.
 *
 * @param firstToken time to first token from the intended time, by the parts of {@link TtftBreakdown}
 * @param gaps time between tokens, by the parts of {@link ItlBreakdown}
 * @param slowest the first tokens of all requests, the slowest first
 * @param longest the longest gaps by the client's timestamps, longest first
 * @param gapsWithoutSteps gaps excluded from {@code gaps} because their steps are unknown; 0 if no step is known
 * @param hasAllSteps whether the steps include every request's first token; an engine keeps only its newest steps
 */
public record Attribution(
        BreakdownTable firstToken,
        BreakdownTable gaps,
        List<TtftBreakdown> slowest,
        List<ItlBreakdown> longest,
        int gapsWithoutSteps,
        boolean hasAllSteps) {
    private static final int LONGEST = 20;

    public Attribution {
        slowest = List.copyOf(slowest);
        longest = List.copyOf(longest);
    }

    /** Computes the breakdown from the timestamps of a run's completed requests. */
    public static Attribution of(LoadResult run) {
        StepIndex steps = new StepIndex(run.steps());
        List<TtftBreakdown> first = new ArrayList<>();
        List<ItlBreakdown> gaps = new ArrayList<>();
        for (CallResult call : run.completed()) {
            TtftBreakdown.of(call, steps).ifPresent(first::add);
            gaps.addAll(ItlBreakdown.of(call, steps));
        }
        List<ItlBreakdown> known =
                gaps.stream().filter(gap -> gap.waitedFor().isPresent()).toList();
        return new Attribution(
                BreakdownTable.of(
                        TtftBreakdown.PARTS,
                        first.stream().map(TtftBreakdown::parts).toList()),
                BreakdownTable.of(
                        ItlBreakdown.PARTS,
                        known.stream().map(ItlBreakdown::parts).toList()),
                first.stream()
                        .sorted(Comparator.comparingDouble(TtftBreakdown::nanos).reversed())
                        .toList(),
                gaps.stream()
                        .sorted(Comparator.comparingDouble(ItlBreakdown::nanos).reversed())
                        .limit(LONGEST)
                        .toList(),
                run.steps().isEmpty() ? 0 : gaps.size() - known.size(),
                run.completed().stream().allMatch(call -> hasFirstStep(call, steps)));
    }

    private static boolean hasFirstStep(CallResult call, StepIndex steps) {
        return call.server()
                .filter(stamps -> !stamps.tokenNanos().isEmpty())
                .map(stamps -> steps.before(
                                stamps.served().engine(), stamps.tokenNanos().getFirst())
                        .isPresent())
                .orElse(true);
    }
}
