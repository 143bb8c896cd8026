package io.roseinfer.bench.http;

import io.roseinfer.metrics.StepRecord.Fact;
import java.util.Optional;

/**
 * The drafts of a run, summed over the known steps.
 *
 * @param drafts rows of steps with draft tokens, at least 1
 * @param draftTokens tokens of the drafts
 * @param acceptedTokens draft tokens that were accepted
 * @param acceptanceRate share of the accepted draft tokens, 0 to 1
 * @param acceptanceLength mean tokens of a row with drafts, including the one that needs no draft
 */
public record Speculation(
        long drafts, long draftTokens, long acceptedTokens, double acceptanceRate, double acceptanceLength) {

    /** Returns the drafts of a run; empty if there were none, or if its steps are unknown. */
    public static Optional<Speculation> of(LoadResult run) {
        long drafts = run.steps().sum(Fact.DRAFTS);
        long tokens = run.steps().sum(Fact.DRAFT_TOKENS);
        long accepted = run.steps().sum(Fact.ACCEPTED_TOKENS);
        return drafts == 0
                ? Optional.empty()
                : Optional.of(new Speculation(
                        drafts, tokens, accepted, (double) accepted / tokens, 1 + (double) accepted / drafts));
    }
}
