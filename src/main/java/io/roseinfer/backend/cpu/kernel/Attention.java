package io.roseinfer.backend.cpu.kernel;

/**
 * Causal attention of query heads that share their keys and values over a block list. For a query that sees n tokens: score t is the chain of multiply-adds over the
 * head's dimensions, times the scale; weights are exp(score − largest score); their sum is taken in the order of {@link Lanes};
 * the output is the chain over ascending t of weight · value, divided by that sum.
 */
public interface Attention {
    /** The most queries one call may carry, be they tokens or heads. */
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

    /**
     * Attends from {@code count} heads of one token, which sees {@code length} tokens, itself included. Each gets the bits it would
     * get alone.
     *
     * @param queries those of the heads, one after another from {@code from} on
     * @param scale what scores are multiplied by
     * @param output filled with {@code [count][headSize]}
     */
    void attendHeads(KvView context, float[] queries, int from, int count, int length, float scale, float[] output);
}
