package io.roseinfer.bench.http;

import io.roseinfer.metrics.StepRecord.Fact;
import java.util.Optional;

/**
 * Scheduler counters of a run, summed over the known steps.
 *
 * @param preemptions number of preemptions
 * @param recomputedTokens tokens recomputed after a preemption
 * @param forcedAdmissions requests admitted because they had been passed over as often as allowed, not by the policy's rank
 * @param cachedTokens prompt tokens of completed requests found in the prefix cache
 * @param cacheHitRate share of cached tokens in the prompt tokens of completed requests with known cached tokens, 0 to 1
 */
public record SchedulerCounts(
        long preemptions, long recomputedTokens, long forcedAdmissions, long cachedTokens, double cacheHitRate) {

    /** Returns the counts of a run; empty if its steps are unknown. */
    public static Optional<SchedulerCounts> of(LoadResult run) {
        if (run.steps().isEmpty()) {
            return Optional.empty();
        }
        long cachedTokens = 0;
        long promptTokens = 0;
        for (CallResult call : run.completed()) {
            int cached = cached(call);
            if (cached >= 0 && call.inputTokens() > 0) {
                cachedTokens += cached;
                promptTokens += call.inputTokens();
            }
        }
        return Optional.of(new SchedulerCounts(
                run.steps().sum(Fact.PREEMPTIONS),
                run.steps().sum(Fact.RECOMPUTED_TOKENS),
                run.steps().sum(Fact.FORCED_ADMISSIONS),
                cachedTokens,
                (double) cachedTokens / Math.max(1, promptTokens)));
    }

    private static int cached(CallResult call) {
        return call.server().map(stamps -> stamps.served().cachedTokens()).orElse(-1);
    }
}
