package io.roseinfer.bench.http;

import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The drafts of a run, summed over the known steps.
 *
 * @param drafts rows of steps with draft tokens, at least 1
 * @param draftTokens tokens of the drafts
 * @param acceptedTokens draft tokens that were accepted
 * @param acceptanceRate share of the accepted draft tokens, 0 to 1
 * @param acceptanceLength mean tokens of a row with drafts, including the one that needs no draft
 * @param acceptedTokensPerPos rows that accepted the draft at each position, up to the last that any accepted, at least
 *     the first; empty if a stored result lacks them
 */
public record Speculation(
        long drafts,
        long draftTokens,
        long acceptedTokens,
        double acceptanceRate,
        double acceptanceLength,
        List<Long> acceptedTokensPerPos) {

    public Speculation {
        acceptedTokensPerPos = List.copyOf(acceptedTokensPerPos);
    }

    /** Returns the drafts of a run; empty if there were none, or if its steps are unknown. */
    public static Optional<Speculation> of(LoadResult run) {
        long drafts = run.steps().sum(Fact.DRAFTS);
        long tokens = run.steps().sum(Fact.DRAFT_TOKENS);
        long accepted = run.steps().sum(Fact.ACCEPTED_TOKENS);
        return drafts == 0
                ? Optional.empty()
                : Optional.of(new Speculation(
                        drafts,
                        tokens,
                        accepted,
                        (double) accepted / tokens,
                        1 + (double) accepted / drafts,
                        acceptedPerPosition(run)));
    }

    private static List<Long> acceptedPerPosition(LoadResult run) {
        List<Long> accepted = IntStream.range(0, StepRecord.DRAFT_POSITIONS)
                .mapToObj(position -> run.steps().stream()
                        .mapToLong(step -> step.acceptedAt(position))
                        .sum())
                .takeWhile(rows -> rows > 0)
                .toList();
        boolean isKnown = !accepted.isEmpty() || run.steps().sum(Fact.ACCEPTED_TOKENS) == 0;
        return accepted.isEmpty() && isKnown ? List.of(0L) : accepted;
    }
}
