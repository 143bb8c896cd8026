package io.roseinfer.backend.cpu.panama;

import io.roseinfer.backend.cpu.kernel.Attention;
import io.roseinfer.backend.cpu.kernel.FloatMath;
import io.roseinfer.backend.cpu.kernel.KvView;
import io.roseinfer.backend.cpu.kernel.Lanes;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.nio.ByteOrder;
import java.util.Arrays;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Four queries at a time share each load of a key or value; fewer go one by one. Vectors of keys hold neighbouring tokens of a
 * block. One that reaches past the block's end, or past the last token, has lanes of no meaning: their scores are overwritten by
 * the next block's, or lie beyond the length. So a block size that is a multiple of the vector length is fastest.
 */
final class VectorAttention implements Attention {
    private static final VectorSpecies<Float> F = Specialization.species(MethodHandles.lookup());
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();
    private static final int GROUP = 4;

    private final float[] lanes = new float[Lanes.COUNT];
    /** Scores, then weights, of up to {@link #GROUP} queries; a row has room for one vector that begins at its last token. */
    private final float[] weights;

    private final int rowSize;

    VectorAttention(int contextLength) {
        rowSize = contextLength + Lanes.COUNT;
        weights = new float[GROUP * rowSize];
    }

    @Override
    public void attend(
            KvView context, float[] queries, int from, int stride, int count, int length, float scale, float[] output) {
        int headSize = context.headSize();
        Arrays.fill(output, 0, count * headSize, 0f);
        int i = 0;
        for (; i + GROUP <= count; i += GROUP) {
            group(context, queries, from + i * stride, stride, length + i, scale, output, i * headSize);
        }
        for (; i < count; i++) {
            score(context, queries, from + i * stride, length + i, scale);
            float sum = exponentiate(0, length + i);
            weigh(context, 0, 0, length + i, output, i * headSize);
            divide(output, i * headSize, headSize, sum);
        }
    }

    private void group(
            KvView context, float[] queries, int from, int stride, int length, float scale, float[] output, int to) {
        int headSize = context.headSize();
        scoreGroup(context, queries, from, stride, length + GROUP - 1, scale);
        float sum0 = exponentiate(0, length);
        float sum1 = exponentiate(1, length + 1);
        float sum2 = exponentiate(2, length + 2);
        float sum3 = exponentiate(3, length + 3);
        weighGroup(context, length, output, to);
        for (int q = 1; q < GROUP; q++) {
            weigh(context, q, length, length + q, output, to + q * headSize);
        }
        divide(output, to, headSize, sum0);
        divide(output, to + headSize, headSize, sum1);
        divide(output, to + 2 * headSize, headSize, sum2);
        divide(output, to + 3 * headSize, headSize, sum3);
    }

    private void score(KvView context, float[] queries, int from, int length, float scale) {
        int blockSize = context.blockSize();
        for (int t = 0; t < length; t += blockSize) {
            long keys = context.keys(t / blockSize);
            int tokens = Math.min(blockSize, length - t);
            for (int slot = 0; slot < tokens; slot += F.length()) {
                scoreOne(context, queries, from, scale, keys + 4L * slot, t + slot);
            }
        }
    }

    private void scoreGroup(KvView context, float[] queries, int from, int stride, int length, float scale) {
        int blockSize = context.blockSize();
        for (int t = 0; t < length; t += blockSize) {
            long keys = context.keys(t / blockSize);
            int tokens = Math.min(blockSize, length - t);
            for (int slot = 0; slot < tokens; slot += F.length()) {
                scoreFour(context, queries, from, stride, scale, keys + 4L * slot, t + slot);
            }
        }
    }

    /** One query against the tokens of a vector that starts at byte {@code keys}. */
    private void scoreOne(KvView context, float[] queries, int from, float scale, long keys, int to) {
        MemorySegment memory = context.memory();
        long step = 4L * context.blockSize();
        FloatVector dot = FloatVector.zero(F);
        for (int d = 0; d < context.headSize(); d++) {
            dot = load(memory, keys + d * step).fma(FloatVector.broadcast(F, queries[from + d]), dot);
        }
        dot.mul(scale).intoArray(weights, to);
    }

    private void scoreFour(KvView context, float[] queries, int from, int stride, float scale, long keys, int to) {
        MemorySegment memory = context.memory();
        long step = 4L * context.blockSize();
        FloatVector dot0 = FloatVector.zero(F);
        FloatVector dot1 = dot0;
        FloatVector dot2 = dot0;
        FloatVector dot3 = dot0;
        for (int d = 0; d < context.headSize(); d++) {
            FloatVector key = load(memory, keys + d * step);
            dot0 = key.fma(FloatVector.broadcast(F, queries[from + d]), dot0);
            dot1 = key.fma(FloatVector.broadcast(F, queries[from + stride + d]), dot1);
            dot2 = key.fma(FloatVector.broadcast(F, queries[from + 2 * stride + d]), dot2);
            dot3 = key.fma(FloatVector.broadcast(F, queries[from + 3 * stride + d]), dot3);
        }
        dot0.mul(scale).intoArray(weights, to);
        dot1.mul(scale).intoArray(weights, to + rowSize);
        dot2.mul(scale).intoArray(weights, to + 2 * rowSize);
        dot3.mul(scale).intoArray(weights, to + 3 * rowSize);
    }

    /** Turns a row of scores into weights and returns their sum. */
    private float exponentiate(int row, int length) {
        int from = row * rowSize;
        float largest = largest(from, length);
        int whole = F.loopBound(length);
        for (int t = 0; t < whole; t += F.length()) {
            VectorMath.exp(FloatVector.fromArray(F, weights, from + t).sub(largest))
                    .intoArray(weights, from + t);
        }
        for (int t = whole; t < length; t++) {
            weights[from + t] = FloatMath.exp(weights[from + t] - largest);
        }
        return sum(from, length);
    }

    private float largest(int from, int length) {
        int whole = F.loopBound(length);
        FloatVector largest = FloatVector.broadcast(F, Float.NEGATIVE_INFINITY);
        for (int t = 0; t < whole; t += F.length()) {
            largest = largest.max(FloatVector.fromArray(F, weights, from + t));
        }
        largest.intoArray(lanes, 0);
        float result = Float.NEGATIVE_INFINITY;
        for (int lane = 0; lane < F.length(); lane++) {
            result = Math.max(result, lanes[lane]);
        }
        for (int t = whole; t < length; t++) {
            result = Math.max(result, weights[from + t]);
        }
        return result;
    }

    private float sum(int from, int length) {
        int whole = length - length % Lanes.COUNT;
        for (int lane = 0; lane < Lanes.COUNT; lane += F.length()) {
            FloatVector sums = FloatVector.zero(F);
            for (int t = 0; t < whole; t += Lanes.COUNT) {
                sums = sums.add(FloatVector.fromArray(F, weights, from + lane + t));
            }
            sums.intoArray(lanes, lane);
        }
        for (int t = whole; t < length; t++) {
            lanes[t - whole] += weights[from + t];
        }
        return Lanes.sum(lanes);
    }

    /** Adds the values of tokens {@code 0 <= t < length}, weighed by each row, to the group's outputs. */
    private void weighGroup(KvView context, int length, float[] output, int to) {
        int blockSize = context.blockSize();
        int headSize = context.headSize();
        int whole = F.loopBound(headSize);
        for (int t = 0; t < length; t += blockSize) {
            long values = context.values(t / blockSize);
            int tokens = Math.min(blockSize, length - t);
            for (int d = 0; d < whole; d += F.length()) {
                weighVector(context.memory(), values + 4L * d, headSize, t, tokens, output, to + d);
            }
            for (int q = 0; q < GROUP; q++) {
                weighTail(context, q, t, t + tokens, output, to + q * headSize);
            }
        }
    }

    private void weighVector(
            MemorySegment memory, long values, int headSize, int t, int tokens, float[] output, int to) {
        FloatVector sum0 = FloatVector.fromArray(F, output, to);
        FloatVector sum1 = FloatVector.fromArray(F, output, to + headSize);
        FloatVector sum2 = FloatVector.fromArray(F, output, to + 2 * headSize);
        FloatVector sum3 = FloatVector.fromArray(F, output, to + 3 * headSize);
        for (int i = 0; i < tokens; i++) {
            FloatVector value = load(memory, values + 4L * i * headSize);
            sum0 = value.fma(FloatVector.broadcast(F, weights[t + i]), sum0);
            sum1 = value.fma(FloatVector.broadcast(F, weights[t + i + rowSize]), sum1);
            sum2 = value.fma(FloatVector.broadcast(F, weights[t + i + 2 * rowSize]), sum2);
            sum3 = value.fma(FloatVector.broadcast(F, weights[t + i + 3 * rowSize]), sum3);
        }
        sum0.intoArray(output, to);
        sum1.intoArray(output, to + headSize);
        sum2.intoArray(output, to + 2 * headSize);
        sum3.intoArray(output, to + 3 * headSize);
    }

    /** Adds the values of tokens {@code first <= t < end}, weighed by one row, to its output. */
    private void weigh(KvView context, int row, int first, int end, float[] output, int to) {
        int blockSize = context.blockSize();
        int headSize = context.headSize();
        int whole = F.loopBound(headSize);
        int next;
        for (int t = first; t < end; t = next) {
            next = Math.min(end, t - t % blockSize + blockSize);
            long values = context.values(t / blockSize) + 4L * (t % blockSize) * headSize;
            int weight = row * rowSize + t;
            for (int d = 0; d < whole; d += F.length()) {
                FloatVector sum = FloatVector.fromArray(F, output, to + d);
                for (int i = 0; i < next - t; i++) {
                    FloatVector value = load(context.memory(), values + 4L * (i * headSize + d));
                    sum = value.fma(FloatVector.broadcast(F, weights[weight + i]), sum);
                }
                sum.intoArray(output, to + d);
            }
            weighTail(context, row, t, next, output, to);
        }
    }

    /** The dimensions that fill no vector, for tokens of one block. */
    private void weighTail(KvView context, int row, int first, int end, float[] output, int to) {
        int blockSize = context.blockSize();
        int headSize = context.headSize();
        for (int d = F.loopBound(headSize); d < headSize; d++) {
            long values = context.values(first / blockSize) + 4L * d;
            for (int t = first; t < end; t++) {
                float value = context.memory().get(ValueLayout.JAVA_FLOAT, values + 4L * (t % blockSize) * headSize);
                output[to + d] = Math.fma(weights[row * rowSize + t], value, output[to + d]);
            }
        }
    }

    private static void divide(float[] output, int from, int count, float sum) {
        for (int d = 0; d < count; d++) {
            output[from + d] /= sum;
        }
    }

    private static FloatVector load(MemorySegment memory, long at) {
        return FloatVector.fromMemorySegment(F, memory, at, ORDER);
    }
}
