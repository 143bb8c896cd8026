package io.roseinfer.backend.cpu.kernel;

/**
 * Causal attention of query heads that share a KV head, over a block table. A query sees the tokens t from
 * {@link KvView#firstSeen} up to its own, counted from the sequence's beginning. Score t is the chain of multiply-adds over the
 * head's dimensions, times the scale; weights are exp(score − largest score); their sum is taken in the order of {@link Lanes}, t
 * in lane t mod {@value Lanes#COUNT}; the output is the chain over ascending t of weight · value, divided by that sum.
 */
public interface Attention {
    /** Maximum queries per call, tokens or heads. */
    int MAX_QUERIES = 8;

    /** Context length supported without {@link #ensureCapacity}. */
    int INITIAL_CAPACITY = 2048;

    /**
     * Grows the buffers for contexts of up to {@code length} tokens. The initial capacity is {@value #INITIAL_CAPACITY}: models take contexts
     * of 40,000 and more, and most requests are short.
     */
    void ensureCapacity(int length);

    /**
     * Computes attention for {@code count} consecutive tokens; the first is the last of {@code length} tokens, each next sees one more. Slots
     * after the last one are never used.
     *
     * @param queries query i starts at {@code from + i · stride}
     * @param scale factor of the scores
     * @param output filled with {@code [count][headSize]}
     */
    void attend(
            KvView context, float[] queries, int from, int stride, int count, int length, float scale, float[] output);

    /**
     * Computes attention for {@code count} query heads of one token, the last of {@code length} tokens. Each head's result is bit-identical
     * to computing it alone.
     *
     * @param queries one after another from {@code from} on
     * @param scale factor of the scores
     * @param output filled with {@code [count][headSize]}
     */
    void attendHeads(KvView context, float[] queries, int from, int count, int length, float scale, float[] output);
}
