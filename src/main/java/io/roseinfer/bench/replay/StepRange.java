package io.roseinfer.bench.replay;

import java.util.IntSummaryStatistics;
import java.util.List;

/**
 * The range of measured steps.
 *
 * @param minDecodeRows minimum rows of steps that only decode; a draft counts as a row
 * @param maxDecodeRows maximum rows of steps that only decode
 * @param minTokens minimum tokens of other steps
 * @param maxTokens maximum tokens of other steps
 * @param maxMixedTokens maximum tokens of those with decode rows
 * @param maxContext maximum of {@link StepShape#context} in tokens, {@link #UNKNOWN} if it was not recorded
 * @param maxAttended maximum attended positions of steps that only decode, {@link #UNKNOWN} if they were not recorded
 */
public record StepRange(
        int minDecodeRows,
        int maxDecodeRows,
        int minTokens,
        int maxTokens,
        int maxMixedTokens,
        long maxContext,
        long maxAttended) {
    /** A maximum that is unknown, and so contains all steps. */
    public static final long UNKNOWN = Long.MAX_VALUE;

    /** All steps, for costs that were not measured. */
    public static final StepRange ALL = new StepRange(0, Integer.MAX_VALUE, 0, Integer.MAX_VALUE);

    /** Creates a range of steps of unknown contexts. */
    public StepRange(int minDecodeRows, int maxDecodeRows, int minTokens, int maxTokens) {
        this(minDecodeRows, maxDecodeRows, minTokens, maxTokens, maxTokens, UNKNOWN, UNKNOWN);
    }

    static StepRange of(List<StepShape> steps) {
        List<StepShape> decode = steps.stream().filter(StepShape::isDecode).toList();
        IntSummaryStatistics rows = decode.stream().mapToInt(StepShape::rows).summaryStatistics();
        IntSummaryStatistics tokens = steps.stream()
                .filter(step -> !step.isDecode())
                .mapToInt(StepShape::tokens)
                .summaryStatistics();
        // Without the longest rows, only means of contexts are known, which are below their maximum.
        boolean hasLongest = decode.stream().anyMatch(step -> step.longest() > 0);
        long context = steps.stream().mapToLong(StepShape::context).max().orElse(0);
        long attended = decode.stream().mapToLong(StepShape::attended).max().orElse(0);
        return new StepRange(
                rows.getMin(),
                rows.getMax(),
                tokens.getMin(),
                tokens.getMax(),
                steps.stream()
                        .filter(StepShape::isMixed)
                        .mapToInt(StepShape::tokens)
                        .max()
                        .orElse(tokens.getMax()),
                hasLongest ? context : UNKNOWN,
                attended > 0 ? attended : UNKNOWN);
    }

    /** Returns whether a step is within the range. */
    public boolean contains(StepShape step) {
        boolean isWithin = step.isDecode()
                ? step.tokens() >= minDecodeRows && step.tokens() <= maxDecodeRows && step.attended() <= maxAttended
                : step.tokens() >= minTokens && step.tokens() <= (step.isMixed() ? maxMixedTokens : maxTokens);
        return isWithin && step.context() <= maxContext;
    }

    /** Returns the range in words, without unknown maxima. */
    String words() {
        return "decode of " + minDecodeRows + " to " + maxDecodeRows + " rows"
                + (maxAttended == UNKNOWN ? "" : " and up to " + maxAttended + " KV tokens")
                + ", other steps of " + minTokens + " to " + maxTokens + " tokens"
                + (maxMixedTokens >= maxTokens ? "" : " (" + maxMixedTokens + " with decode rows)")
                + (maxContext == UNKNOWN ? "" : ", contexts up to " + maxContext + " tokens");
    }
}
