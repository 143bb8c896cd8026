package io.roseinfer.scheduler.policy;

/**
 * A step being planned, as a {@link StepPolicy} fills it: either by {@link #decode()} and {@link #prefill(int)}, or
 * request by request. A request that gets no row keeps its KV blocks, so leaving it out pauses it.
 *
 * <p>{@link #decoding()} and {@link #prefilling()} are the running requests at the first use of one of them or of a
 * request; call them before {@link #decode()} and {@link #prefill(int)}, which change the order. Valid only during the
 * call it is passed to. A call that is not allowed stops the engine with an error that states what is.
 */
public interface StepBuilder {
    /** Returns whether the step has no rows yet. */
    boolean isEmpty();

    /** Returns the number of tokens of the rows added so far. */
    int tokens();

    /** Returns the option {@code prefillMaxTokens}: maximum prompt tokens per iteration. */
    int prefillMaxTokens();

    /** Returns the option {@code maxBatchSize}: maximum decode rows per step. */
    int maxBatchSize();

    /** Returns the time, the free KV blocks and the number of waiting requests. */
    QueueView queue();

    /** Returns the number of running requests whose prompt is computed. */
    int decoding();

    /**
     * Returns a running request whose prompt is computed, in round-robin order: the request that has waited longest for a
     * row is first.
     *
     * @param index 0 to {@link #decoding()} - 1
     */
    RunningRequest decoding(int index);

    /** Returns the number of running requests with an unfinished prompt. */
    int prefilling();

    /**
     * Returns a running request with an unfinished prompt, in order of admission.
     *
     * @param index 0 to {@link #prefilling()} - 1
     */
    RunningRequest prefilling(int index);

    /**
     * Adds a row of one token for each active request that can decode, up to the decode batch; at most once per step.
     */
    void decode();

    /**
     * Continues unfinished prompts and admits others, up to {@code budgetTokens} tokens; at most once per step. Without
     * chunked prefill, a prompt longer than the budget is admitted whole if it is the first of the step.
     *
     * @param budgetTokens maximum tokens; none are added if it is not positive, as in {@code prefill(limit - step.tokens())}
     */
    void prefill(int budgetTokens);

    /** Adds a row as {@link #decode(RunningRequest, int)} does, without drafts. */
    default boolean decode(RunningRequest request) {
        return decode(request, 0);
    }

    /**
     * Adds a row of one token and its drafts for a request of {@link #decoding(int)}, at most once per step. If it needs a KV
     * block and none is free, another request is preempted as in {@link #decode()}.
     *
     * @param maxDrafts maximum drafts, 0 or more; the row has at most its share of what the rows before it left, as in
     *     {@link #decode()}, and {@link #tokens()} counts them
     * @return false if it gets no row: the step is full, there is no block, or it has a row, was preempted or must wait
     */
    boolean decode(RunningRequest request, int maxDrafts);

    /**
     * Adds a row of the next prompt tokens of a request of {@link #prefilling(int)}, at most once per step.
     *
     * @param maxTokens maximum tokens of the row, positive
     * @return the tokens of the row; 0 if the step is full, or the request has a row or was preempted
     */
    int prefill(RunningRequest request, int maxTokens);

    /**
     * Admits waiting requests by the {@link AdmissionPolicy}, with up to {@code budgetTokens} tokens of their prompts;
     * not after {@link #prefill(int)} or this method has admitted some.
     *
     * @param budgetTokens maximum tokens; none are added if it is not positive
     */
    void admit(int budgetTokens);

    /**
     * Preempts a request of {@link #decoding(int)} or {@link #prefilling(int)}: it releases its KV blocks, waits, and is
     * computed again when the {@link AdmissionPolicy} admits it. A request in a step in flight cannot be preempted: leave
     * it out of a step first.
     *
     * <p>Unless {@code maxPasses} is unlimited, the oldest running request is not preempted, and others at most 3 times
     * each, so that all requests progress.
     *
     * @return whether it was preempted
     */
    boolean preempt(RunningRequest request);
}
