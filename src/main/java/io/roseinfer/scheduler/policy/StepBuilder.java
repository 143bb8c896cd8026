package io.roseinfer.scheduler.policy;

/** A step being planned, as a {@link StepPolicy} fills it. */
public interface StepBuilder {
    /** Returns whether the step has no rows yet. */
    boolean isEmpty();

    /** Returns the number of tokens of the rows added so far. */
    int tokens();

    /** Returns the option {@code prefillMaxTokens}: maximum prompt tokens per iteration. */
    int prefillMaxTokens();

    /**
     * Adds a row of one token for each active request that can decode, up to the decode batch; at most once per step.
     */
    void decode();

    /**
     * Continues unfinished prompts and admits others, up to {@code budgetTokens} tokens; at most once per step. Without
     * chunked prefill, a prompt longer than the budget is admitted whole if it is the first of the step.
     */
    void prefill(int budgetTokens);
}
