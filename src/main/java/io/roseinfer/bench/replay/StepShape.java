package io.roseinfer.bench.replay;

import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;

/**
 * The shape of a step, on which its duration depends.
 *
 * @param rows number of sequences
 * @param tokens tokens of all rows
 * @param prefillTokens tokens of rows that compute a prompt, or compute it again with its generated tokens after a preemption
 * @param attended positions attended to in one layer, summed over tokens: a token at position p, counted from zero, attends to p + 1
 * @param decodeAttended the part of {@code attended} that decode rows attend to
 * @param longest positions that the longest decode row attends to, or 0 without decode rows
 * @param draftTokens draft tokens of all rows
 */
public record StepShape(
        int rows, int tokens, int prefillTokens, long attended, long decodeAttended, long longest, int draftTokens) {
    /** Creates the shape of a step without drafts whose rows all decode, or all compute prompts. */
    public StepShape(int rows, int tokens, int prefillTokens, long attended, long longest) {
        this(rows, tokens, prefillTokens, attended, prefillTokens == 0 ? attended : 0, longest, 0);
    }

    static StepShape of(StepRecord step) {
        return new StepShape(
                (int) step.get(Fact.ROWS),
                (int) step.get(Fact.TOKENS),
                (int) (step.get(Fact.TOKENS) - step.get(Fact.DECODE_ROWS) - step.get(Fact.DRAFT_TOKENS)),
                step.get(Fact.ATTENDED),
                decodeAttended(step),
                step.get(Fact.LONGEST),
                (int) step.get(Fact.DRAFT_TOKENS));
    }

    /** Returns the positions of decode rows; for records without them, those that remain for prompts of like length from their first token. */
    private static long decodeAttended(StepRecord step) {
        long recorded = step.get(Fact.DECODE_ATTENDED);
        long decodeRows = step.get(Fact.DECODE_ROWS);
        if (recorded > 0 || decodeRows == 0) {
            return recorded;
        }
        long prompts = Math.max(1, step.get(Fact.ROWS) - decodeRows);
        long tokens = step.get(Fact.PREFILL_TOKENS);
        long ofPrompts = tokens * (tokens / prompts + 1) / 2;
        return Math.clamp(
                step.get(Fact.ATTENDED) - ofPrompts,
                decodeRows,
                Math.max(decodeRows, decodeRows * step.get(Fact.LONGEST)));
    }

    /** Returns the tokens that are sampled if no row is a part of a prompt: one for each row, and one for each draft. */
    int samples() {
        return rows + draftTokens;
    }

    /**
     * Returns the position at which the chunk of a prompt begins: the mean of what its tokens attend to beyond what they would attend to if
     * it began at 0. For several prompts, these are assumed to have like lengths.
     */
    double past() {
        if (prefillTokens == 0) {
            return 0;
        }
        double prompts = Math.max(1, samples() - (tokens - prefillTokens));
        return Math.max(0, (double) (attended - decodeAttended) / prefillTokens - (prefillTokens / prompts + 1) / 2);
    }

    /** Returns whether every row only decodes one token, and verifies its drafts. */
    public boolean isDecode() {
        return prefillTokens == 0 && tokens == samples();
    }

    /** Returns whether rows that decode share the step with rows that compute a prompt. */
    public boolean isMixed() {
        return prefillTokens > 0 && prefillTokens < tokens;
    }

    /** Returns the decode rows of this step alone. */
    StepShape decodeRows() {
        int decoding = tokens - prefillTokens;
        return new StepShape(decoding - draftTokens, decoding, 0, decodeAttended, decodeAttended, longest, draftTokens);
    }

    /** Returns the prompts of this step alone. */
    StepShape prompts() {
        int prompts = rows - (tokens - prefillTokens - draftTokens);
        return new StepShape(Math.max(1, prompts), prefillTokens, prefillTokens, attended - decodeAttended, 0);
    }

    /**
     * Returns a lower bound of the longest context in tokens: the longest decode row, or the mean of all tokens, which for a chunk
     * of a prompt is its middle.
     */
    public long context() {
        return Math.max(longest, attended / Math.max(1, tokens));
    }
}
