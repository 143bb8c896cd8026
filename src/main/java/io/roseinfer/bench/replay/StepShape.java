package io.roseinfer.bench.replay;

import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;

/**
 * What a step computes, as far as its length depends on it.
 *
 * @param rows sequences
 * @param tokens of all rows
 * @param prefillTokens those of them that belong to prompts
 * @param attended positions that the tokens attend to, together
 */
record StepShape(int rows, int tokens, int prefillTokens, long attended) {
    static StepShape of(StepRecord step) {
        return new StepShape(
                (int) step.get(Fact.ROWS),
                (int) step.get(Fact.TOKENS),
                (int) step.get(Fact.PREFILL_TOKENS),
                step.get(Fact.ATTENDED));
    }

    /** Whether every row computes one generated token and nothing else. */
    boolean isDecode() {
        return prefillTokens == 0 && tokens == rows;
    }
}
