package io.roseinfer.backend.cpu.kernel;

/**
 * Causal attention of one head over a block list. For a query that sees n tokens: score t is the chain of multiply-adds over the
 * head's dimensions, times the scale; weights are exp(score − largest score); their sum is taken in the order of {@link Lanes};
 * the output is the chain over ascending t of weight · value, divided by that sum.
 */
public interface Attention {
    /** The most queries one call may carry. */
    int MAX_QUERIES = 8;

    /**
     * Attends from {@code count} consecutive tokens; the first sees {@code length} tokens, itself included, each next one more.
     * Slots that the last of them does not see are never used.
     *
     * @param queries query i starts at {@code from + i · stride}
     * @param scale what scores are multiplied by
     * @param output filled with {@code [count][headSize]}
     */
    void attend(
            KvView context, float[] queries, int from, int stride, int count, int length, float scale, float[] output);
}
