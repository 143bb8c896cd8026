package io.roseinfer.bench.replay;

import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;

/**
 * The shape of a step, on which its duration depends.
 *
 * @param rows number of sequences
 * @param tokens tokens of all rows
 * @param prefillTokens prompt tokens of all rows
 * @param attended positions attended to in one layer, summed over tokens: a token at position p, counted from zero, attends to p + 1
 */
public record StepShape(int rows, int tokens, int prefillTokens, long attended) {
    static StepShape of(StepRecord step) {
        return new StepShape(
                (int) step.get(Fact.ROWS),
                (int) step.get(Fact.TOKENS),
                (int) step.get(Fact.PREFILL_TOKENS),
                step.get(Fact.ATTENDED));
    }

    /** Returns whether every row only decodes one token. */
    public boolean isDecode() {
        return prefillTokens == 0 && tokens == rows;
    }

    /** Returns whether rows that decode share the step with rows that compute a prompt. */
    public boolean isMixed() {
        return prefillTokens > 0 && prefillTokens < tokens;
    }
}
