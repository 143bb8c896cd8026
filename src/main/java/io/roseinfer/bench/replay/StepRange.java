package io.roseinfer.bench.replay;

import java.util.IntSummaryStatistics;
import java.util.List;

/**
 * The range of measured steps.
 *
 * @param minDecodeRows minimum rows of steps that only decode
 * @param maxDecodeRows maximum rows of steps that only decode
 * @param minTokens minimum tokens of other steps
 * @param maxTokens maximum tokens of other steps
 */
public record StepRange(int minDecodeRows, int maxDecodeRows, int minTokens, int maxTokens) {
    /** All steps, for costs that were not measured. */
    public static final StepRange ALL = new StepRange(0, Integer.MAX_VALUE, 0, Integer.MAX_VALUE);

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

    /** Returns whether a step is within the range. */
    public boolean contains(StepShape step) {
        return step.isDecode()
                ? step.rows() >= minDecodeRows && step.rows() <= maxDecodeRows
                : step.tokens() >= minTokens && step.tokens() <= maxTokens;
    }
}
