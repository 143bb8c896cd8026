package io.roseinfer.backend.cpu.scalar;

import io.roseinfer.backend.cpu.kernel.Attention;
import io.roseinfer.backend.cpu.kernel.FloatMath;
import io.roseinfer.backend.cpu.kernel.KvView;
import io.roseinfer.backend.cpu.kernel.Lanes;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/** Causal attention, query by query in the order that {@link Attention} states. */
final class ScalarAttention implements Attention {
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;

    private final float[] weights;
    private final float[] lanes = new float[Lanes.COUNT];

    ScalarAttention(int contextLength) {
        weights = new float[contextLength];
    }

    /** Bytes of the arrays for this context length. */
    static long bytes(int contextLength) {
        return Float.BYTES * ((long) contextLength + Lanes.COUNT);
    }

    @Override
    public void attend(
            KvView context, float[] queries, int from, int stride, int count, int length, float scale, float[] output) {
        for (int i = 0; i < count; i++) {
            score(context, queries, from + i * stride, length + i, scale);
            float sum = exponentiate(length + i);
            weigh(context, length + i, sum, output, i * context.headSize());
        }
    }

    @Override
    public void attendHeads(
            KvView context, float[] queries, int from, int count, int length, float scale, float[] output) {
        for (int i = 0; i < count; i++) {
            score(context, queries, from + i * context.headSize(), length, scale);
            float sum = exponentiate(length);
            weigh(context, length, sum, output, i * context.headSize());
        }
    }

    private void score(KvView context, float[] queries, int query, int length, float scale) {
        int blockSize = context.blockSize();
        for (int t = 0; t < length; t++) {
            long key = context.keys(t / blockSize) + 4L * (t % blockSize);
            float dot = 0;
            for (int d = 0; d < context.headSize(); d++) {
                dot = Math.fma(queries[query + d], context.memory().get(FLOAT, key + 4L * d * blockSize), dot);
            }
            weights[t] = dot * scale;
        }
    }

    private float exponentiate(int length) {
        float largest = weights[0];
        for (int t = 1; t < length; t++) {
            largest = Math.max(largest, weights[t]);
        }
        Arrays.fill(lanes, 0f);
        for (int t = 0; t < length; t++) {
            weights[t] = FloatMath.exp(weights[t] - largest);
            lanes[t % Lanes.COUNT] += weights[t];
        }
        return Lanes.sum(lanes);
    }

    private void weigh(KvView context, int length, float sum, float[] output, int to) {
        int headSize = context.headSize();
        Arrays.fill(output, to, to + headSize, 0f);
        for (int t = 0; t < length; t++) {
            long value = context.values(t / context.blockSize()) + 4L * (t % context.blockSize()) * headSize;
            for (int d = 0; d < headSize; d++) {
                output[to + d] = Math.fma(weights[t], context.memory().get(FLOAT, value + 4L * d), output[to + d]);
            }
        }
        for (int d = 0; d < headSize; d++) {
            output[to + d] /= sum;
        }
    }
}
