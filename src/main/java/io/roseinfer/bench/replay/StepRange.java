package io.roseinfer.bench.replay;

import java.util.IntSummaryStatistics;
import java.util.List;

/**
 * The steps that were measured, from the smallest to the largest.
 *
 * @param minDecodeRows rows of steps that only decode
 * @param minTokens tokens of other steps
 */
record StepRange(int minDecodeRows, int maxDecodeRows, int minTokens, int maxTokens) {
    /** Every step, for costs that are defined and not measured. */
    static final StepRange ALL = new StepRange(0, Integer.MAX_VALUE, 0, Integer.MAX_VALUE);

    static StepRange of(List<StepShape> steps) {
        IntSummaryStatistics rows = steps.stream()
                .filter(StepShape::isDecode)
                .mapToInt(StepShape::rows)
                .summaryStatistics();
        IntSummaryStatistics tokens = steps.stream()
                .filter(step -> !step.isDecode())
                .mapToInt(StepShape::tokens)
                .summaryStatistics();
        return new StepRange(rows.getMin(), rows.getMax(), tokens.getMin(), tokens.getMax());
    }

    /** Whether a step of as many rows, or tokens, was measured, or a smaller and a larger one. */
    boolean contains(StepShape step) {
        return step.isDecode()
                ? step.rows() >= minDecodeRows && step.rows() <= maxDecodeRows
                : step.tokens() >= minTokens && step.tokens() <= maxTokens;
    }
}
