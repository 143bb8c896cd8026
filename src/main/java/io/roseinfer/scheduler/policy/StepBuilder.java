package io.roseinfer.scheduler.policy;

/** A step in the making, as a {@link StepPolicy} fills it. */
public interface StepBuilder {
    /** Whether no row has been added yet. */
    boolean isEmpty();

    /** Tokens of the rows added so far. */
    int tokens();

    /** The option {@code prefillMaxTokens}: most prompt tokens per iteration. */
    int prefillMaxTokens();

    /** Adds a row of one token for each active request that can decode, up to the decode batch; at most once per step. */
    void decode();

    /** Goes on with prompts that have been begun and admits others, for at most this many tokens; at most once per step. */
    void prefill(int budgetTokens);
}
