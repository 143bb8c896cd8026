package io.roseinfer.backend.cpu.kernel;

/**
 * Causal attention of query heads that share their keys and values over a block list. A query sees the tokens t from
 * {@link KvView#firstSeen} up to its own, counted from the sequence's beginning. Score t is the chain of multiply-adds over the
 * head's dimensions, times the scale; weights are exp(score − largest score); their sum is taken in the order of {@link Lanes}, t
 * in lane t mod {@value Lanes#COUNT}; the output is the chain over ascending t of weight · value, divided by that sum.
 */
public interface Attention {
    /** The most queries one call may carry, be they tokens or heads. */
    int MAX_QUERIES = 8;

    /** Lengths that there is room for without {@link #ensureCapacity}. */
    int INITIAL_CAPACITY = 2048;

    /**
     * Makes room for contexts of up to {@code length} tokens, where there is less. A set of kernels begins with that for
     * {@value #INITIAL_CAPACITY}: models take contexts of 40,000 and more, and most requests are short.
     */
    void ensureCapacity(int length);

    /**
     * Attends from {@code count} consecutive tokens; the first stands at the end of {@code length} tokens, itself included, each
     * next at the end of one more. Slots behind the last of them are never used.
     *
     * @param queries query i starts at {@code from + i · stride}
     * @param scale what scores are multiplied by
     * @param output filled with {@code [count][headSize]}
     */
    void attend(
            KvView context, float[] queries, int from, int stride, int count, int length, float scale, float[] output);

    /**
     * Attends from {@code count} heads of one token, which stands at the end of {@code length} tokens, itself included. Each gets
     * the bits it would get alone.
     *
     * @param queries those of the heads, one after another from {@code from} on
     * @param scale what scores are multiplied by
     * @param output filled with {@code [count][headSize]}
     */
    void attendHeads(KvView context, float[] queries, int from, int count, int length, float scale, float[] output);
}
