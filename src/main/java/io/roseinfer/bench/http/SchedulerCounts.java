package io.roseinfer.bench.http;

import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import java.util.List;
import java.util.Optional;

/**
 * Counts of the scheduler's work in a run, summed over the steps that are known.
 *
 * @param preemptions requests that lost their KV blocks and were computed again
 * @param recomputedTokens tokens that were computed again after a preemption
 * @param forcedAdmissions requests admitted because they had been skipped {@value AdmissionPolicy#MAX_SKIPS} times, not by the policy's
 *     rank
 * @param cachedTokens prompt tokens of completed requests that were in the prefix cache
 * @param cacheHitRate their share of all prompt tokens of the completed requests whose cached tokens are known, 0 to 1
 */
public record SchedulerCounts(
        long preemptions, long recomputedTokens, long forcedAdmissions, long cachedTokens, double cacheHitRate) {

    /** The counts of a run; empty if its steps are not known. */
    public static Optional<SchedulerCounts> of(LoadResult run) {
        if (run.steps().isEmpty()) {
            return Optional.empty();
        }
        List<CallResult> counted = run.completed().stream()
                .filter(call -> cached(call) >= 0 && call.inputTokens() > 0)
                .toList();
        long cachedTokens = counted.stream().mapToLong(SchedulerCounts::cached).sum();
        long promptTokens = counted.stream().mapToLong(CallResult::inputTokens).sum();
        return Optional.of(new SchedulerCounts(
                sum(run, Fact.PREEMPTIONS),
                sum(run, Fact.RECOMPUTED_TOKENS),
                sum(run, Fact.FORCED_ADMISSIONS),
                cachedTokens,
                (double) cachedTokens / Math.max(1, promptTokens)));
    }

    private static int cached(CallResult call) {
        return call.server().map(stamps -> stamps.served().cachedTokens()).orElse(-1);
    }

    private static long sum(LoadResult run, Fact fact) {
        return run.steps().stream().mapToLong(step -> step.get(fact)).sum();
    }
}
