package io.roseinfer.backend.cpu.scalar;

import io.roseinfer.backend.cpu.kernel.Attention;
import io.roseinfer.backend.cpu.kernel.FloatMath;
import io.roseinfer.backend.cpu.kernel.KvView;
import io.roseinfer.backend.cpu.kernel.Lanes;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/** Causal attention, query by query in the order that {@link Attention} states. */
final class ScalarAttention implements Attention {
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;

    /** Elements copied from the pool at a time: interpreted code reads arrays many times faster than memory segments. */
    private static final int CHUNK = 64;

    private float[] weights;
    private final int contextLength;
    private final float[] chunk = new float[CHUNK];
    private final float[] lanes = new float[Lanes.COUNT];

    ScalarAttention(int contextLength) {
        this.contextLength = contextLength;
        weights = new float[Math.min(contextLength, INITIAL_CAPACITY)];
    }

    @Override
    public void ensureCapacity(int length) {
        if (length > weights.length) {
            weights = new float[Math.min(contextLength, Math.max(length, 2 * weights.length))];
        }
    }

    /** Returns the bytes of the arrays at full context length. */
    static long bytes(int contextLength) {
        return Float.BYTES * ((long) contextLength + CHUNK + Lanes.COUNT);
    }

    @Override
    public void attend(
            KvView context, float[] queries, int from, int stride, int count, int length, float scale, float[] output) {
        for (int i = 0; i < count; i++) {
            attend(context, queries, from + i * stride, length + i, scale, output, i * context.headSize());
        }
    }

    @Override
    public void attendHeads(
            KvView context, float[] queries, int from, int count, int length, float scale, float[] output) {
        for (int i = 0; i < count; i++) {
            attend(context, queries, from + i * context.headSize(), length, scale, output, i * context.headSize());
        }
    }

    private void attend(KvView context, float[] queries, int query, int length, float scale, float[] output, int to) {
        int first = context.firstSeen(length);
        score(context, queries, query, first, length, scale);
        float sum = exponentiate(first, length);
        weigh(context, first, length, sum, output, to);
    }

    private void score(KvView context, float[] queries, int query, int first, int length, float scale) {
        int blockSize = context.blockSize();
        for (int t = first; t < length; ) {
            int inBlock = t % blockSize;
            int count = Math.min(Math.min(CHUNK, blockSize - inBlock), length - t);
            dots(context, context.keys(t / blockSize) + 4L * inBlock, queries, query, t, count);
            for (int i = 0; i < count; i++) {
                weights[t + i] *= scale;
            }
            t += count;
        }
    }

    /** Computes a query's dot products with keys of one block, from {@code keys} on. */
    private void dots(KvView context, long keys, float[] queries, int query, int to, int count) {
        Arrays.fill(weights, to, to + count, 0f);
        for (int d = 0; d < context.headSize(); d++) {
            MemorySegment.copy(context.memory(), FLOAT, keys + 4L * d * context.blockSize(), chunk, 0, count);
            float element = queries[query + d];
            for (int i = 0; i < count; i++) {
                weights[to + i] = Math.fma(element, chunk[i], weights[to + i]);
            }
        }
    }

    private float exponentiate(int first, int length) {
        float largest = weights[first];
        for (int t = first + 1; t < length; t++) {
            largest = Math.max(largest, weights[t]);
        }
        Arrays.fill(lanes, 0f);
        for (int t = first; t < length; t++) {
            weights[t] = FloatMath.exp(weights[t] - largest);
            lanes[t % Lanes.COUNT] += weights[t];
        }
        return Lanes.sum(lanes);
    }

    private void weigh(KvView context, int first, int length, float sum, float[] output, int to) {
        int headSize = context.headSize();
        Arrays.fill(output, to, to + headSize, 0f);
        for (int t = first; t < length; t++) {
            long value = context.values(t / context.blockSize()) + 4L * (t % context.blockSize()) * headSize;
            for (int d = 0; d < headSize; d += CHUNK) {
                add(context, value + 4L * d, weights[t], output, to + d, Math.min(CHUNK, headSize - d));
            }
        }
        for (int d = 0; d < headSize; d++) {
            output[to + d] /= sum;
        }
    }

    private void add(KvView context, long values, float weight, float[] output, int to, int count) {
        MemorySegment.copy(context.memory(), FLOAT, values, chunk, 0, count);
        for (int i = 0; i < count; i++) {
            output[to + i] = Math.fma(weight, chunk[i], output[to + i]);
        }
    }
}
