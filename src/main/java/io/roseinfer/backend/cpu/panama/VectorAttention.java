package io.roseinfer.backend.cpu.panama;

import io.roseinfer.backend.cpu.kernel.Attention;
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
 * Attention with the Vector API. Four queries share each load of a key or value; fewer tokens go one by one. Register tiles are four
 * queries by two vectors, or one query by four, so that there are enough independent FMA chains to hide latency.
 *
 * <p>Query heads of a decode row are padded to groups of four with the last head: computing it again is cheaper than reading keys and
 * values again. The second group reads each key and value from L1.
 *
 * <p>Key vectors hold adjacent tokens of a block. Lanes past the block's end or the last token are meaningless: the next vector overwrites
 * their scores, or they lie beyond the length. So a block size that is a multiple of the vector length is fastest.
 */
final class VectorAttention implements Attention {
    private static final VectorSpecies<Float> F = Specialization.species(MethodHandles.lookup());
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();
    private static final int L = F.length();
    private static final int GROUP = 4;
    /** Tokens whose values, at head size 64, fill half an L1 cache. */
    private static final int CACHED_TOKENS = 64;

    private final float[] lanes = new float[Lanes.COUNT];
    /** Softmax total of each query. */
    private final float[] sums = new float[MAX_QUERIES];
    /** Scores, then weights, of up to {@link #MAX_QUERIES} queries; a row has room for {@link Lanes#COUNT} from its last token on. */
    private float[] weights;

    private int rowSize;

    private final int contextLength;

    VectorAttention(int contextLength) {
        this.contextLength = contextLength;
        rowSize = Math.min(contextLength, INITIAL_CAPACITY) + Lanes.COUNT;
        weights = new float[MAX_QUERIES * rowSize];
    }

    @Override
    public void ensureCapacity(int length) {
        if (length + Lanes.COUNT > rowSize) {
            rowSize = Math.min(contextLength, Math.max(length, 2 * rowSize)) + Lanes.COUNT;
            weights = new float[MAX_QUERIES * rowSize];
        }
    }

    /** Returns the bytes of the arrays at full context length. */
    static long bytes(int contextLength) {
        return Float.BYTES * (Lanes.COUNT + MAX_QUERIES * (1L + contextLength + Lanes.COUNT));
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
            int first = context.firstSeen(length + i);
            score(context, queries, from + i * stride, first, length + i, scale);
            float sum = exponentiate(0, first, length + i);
            weigh(context, 0, first, length + i, output, i * headSize);
            divide(output, i * headSize, headSize, sum);
        }
    }

    private void group(
            KvView context, float[] queries, int from, int stride, int length, float scale, float[] output, int to) {
        int headSize = context.headSize();
        int first = context.firstSeen(length);
        int shared = Math.min(length, nextBlock(context, context.firstSeen(length + GROUP - 1)));
        scoreGroup(context, queries, from, stride, first, length + GROUP - 1, scale);
        float sum0 = exponentiate(0, first, length);
        float sum1 = exponentiate(1, context.firstSeen(length + 1), length + 1);
        float sum2 = exponentiate(2, context.firstSeen(length + 2), length + 2);
        float sum3 = exponentiate(3, context.firstSeen(length + 3), length + 3);
        for (int q = 0; first < shared && q < GROUP; q++) {
            weigh(context, q, context.firstSeen(length + q), shared, output, to + q * headSize);
        }
        weighGroup(context, shared, length, output, to);
        for (int q = 1; q < GROUP; q++) {
            weigh(context, q, Math.max(length, context.firstSeen(length + q)), length + q, output, to + q * headSize);
        }
        divide(output, to, headSize, sum0);
        divide(output, to + headSize, headSize, sum1);
        divide(output, to + 2 * headSize, headSize, sum2);
        divide(output, to + 3 * headSize, headSize, sum3);
    }

    @Override
    public void attendHeads(
            KvView context, float[] queries, int from, int count, int length, float scale, float[] output) {
        int headSize = context.headSize();
        if (count == 1) {
            attend(context, queries, from, headSize, 1, length, scale, output);
            return;
        }
        Arrays.fill(output, 0, count * headSize, 0f);
        int first = context.firstSeen(length);
        scoreHeads(context, queries, from, count, length, scale);
        for (int row = 0; row < count; row++) {
            sums[row] = exponentiate(row, first, length);
        }
        weighHeads(context, count, first, length, output);
        for (int row = 0; row < count; row++) {
            divide(output, row * headSize, headSize, sums[row]);
        }
    }

    private void scoreHeads(KvView context, float[] queries, int from, int count, int length, float scale) {
        int headSize = context.headSize();
        int vectors = vectors(context, length);
        int v = vector(context, context.firstSeen(length));
        for (; v + 2 <= vectors; v += 2) {
            for (int row = 0; row < count; row += GROUP) {
                int last = Math.min(GROUP, count - row) - 1;
                scoreFourByTwo(context, queries, from + row * headSize, headSize, scale, v, row, last);
            }
        }
        for (int row = 0; v < vectors && row < count; row++) {
            scoreOneByOne(context, queries, from + row * headSize, scale, v, row * rowSize);
        }
    }

    private void score(KvView context, float[] queries, int from, int first, int length, float scale) {
        int vectors = vectors(context, length);
        int v = vector(context, first);
        for (; v + 4 <= vectors; v += 4) {
            scoreOneByFour(context, queries, from, scale, v);
        }
        for (; v < vectors; v++) {
            scoreOneByOne(context, queries, from, scale, v);
        }
    }

    private void scoreGroup(KvView context, float[] queries, int from, int stride, int first, int length, float scale) {
        int vectors = vectors(context, length);
        int v = vector(context, first);
        for (; v + 2 <= vectors; v += 2) {
            scoreFourByTwo(context, queries, from, stride, scale, v, 0, GROUP - 1);
        }
        if (v < vectors) {
            for (int q = 0; q < GROUP; q++) {
                scoreOneByOne(context, queries, from + q * stride, scale, v, q * rowSize);
            }
        }
    }

    /** Returns the number of key vectors that cover {@code length} tokens. */
    private static int vectors(KvView context, int length) {
        int blockSize = context.blockSize();
        return length / blockSize * Math.ceilDiv(blockSize, L) + Math.ceilDiv(length % blockSize, L);
    }

    /** Returns the key vector of a token. */
    private static int vector(KvView context, int token) {
        int blockSize = context.blockSize();
        return token / blockSize * Math.ceilDiv(blockSize, L) + token % blockSize / L;
    }

    /** Returns the first token of a block, from {@code token} on. */
    private static int nextBlock(KvView context, int token) {
        return Math.ceilDiv(token, context.blockSize()) * context.blockSize();
    }

    /** Returns the first token of a key vector. */
    private static int token(KvView context, int vector) {
        int perBlock = Math.ceilDiv(context.blockSize(), L);
        return vector / perBlock * context.blockSize() + vector % perBlock * L;
    }

    /** Returns the offset of a key vector. */
    private static long keys(KvView context, int vector) {
        int perBlock = Math.ceilDiv(context.blockSize(), L);
        return context.keys(vector / perBlock) + 4L * (vector % perBlock) * L;
    }

    private void scoreOneByOne(KvView context, float[] queries, int from, float scale, int vector) {
        scoreOneByOne(context, queries, from, scale, vector, 0);
    }

    private void scoreOneByOne(KvView context, float[] queries, int from, float scale, int vector, int row) {
        MemorySegment memory = context.memory();
        long step = 4L * context.blockSize();
        long keys = keys(context, vector);
        FloatVector dot = FloatVector.zero(F);
        for (int d = 0; d < context.headSize(); d++) {
            dot = load(memory, keys + d * step).fma(FloatVector.broadcast(F, queries[from + d]), dot);
        }
        dot.mul(scale).intoArray(weights, row + token(context, vector));
    }

    private void scoreOneByFour(KvView context, float[] queries, int from, float scale, int vector) {
        MemorySegment memory = context.memory();
        long step = 4L * context.blockSize();
        long keys0 = keys(context, vector);
        long keys1 = keys(context, vector + 1);
        long keys2 = keys(context, vector + 2);
        long keys3 = keys(context, vector + 3);
        FloatVector dot0 = FloatVector.zero(F);
        FloatVector dot1 = dot0;
        FloatVector dot2 = dot0;
        FloatVector dot3 = dot0;
        for (int d = 0; d < context.headSize(); d++) {
            FloatVector query = FloatVector.broadcast(F, queries[from + d]);
            dot0 = load(memory, keys0 + d * step).fma(query, dot0);
            dot1 = load(memory, keys1 + d * step).fma(query, dot1);
            dot2 = load(memory, keys2 + d * step).fma(query, dot2);
            dot3 = load(memory, keys3 + d * step).fma(query, dot3);
        }
        dot0.mul(scale).intoArray(weights, token(context, vector));
        dot1.mul(scale).intoArray(weights, token(context, vector + 1));
        dot2.mul(scale).intoArray(weights, token(context, vector + 2));
        dot3.mul(scale).intoArray(weights, token(context, vector + 3));
    }

    /** Scores four queries to four rows of weights; queries after {@code last} repeat the last. */
    private void scoreFourByTwo(
            KvView context, float[] queries, int from, int stride, float scale, int vector, int row, int last) {
        int from1 = from + Math.min(1, last) * stride;
        int from2 = from + Math.min(2, last) * stride;
        int from3 = from + last * stride;
        MemorySegment memory = context.memory();
        long step = 4L * context.blockSize();
        long keys0 = keys(context, vector);
        long keys1 = keys(context, vector + 1);
        FloatVector dot00 = FloatVector.zero(F);
        FloatVector dot01 = dot00;
        FloatVector dot10 = dot00;
        FloatVector dot11 = dot00;
        FloatVector dot20 = dot00;
        FloatVector dot21 = dot00;
        FloatVector dot30 = dot00;
        FloatVector dot31 = dot00;
        for (int d = 0; d < context.headSize(); d++) {
            FloatVector key0 = load(memory, keys0 + d * step);
            FloatVector key1 = load(memory, keys1 + d * step);
            FloatVector query0 = FloatVector.broadcast(F, queries[from + d]);
            dot00 = key0.fma(query0, dot00);
            dot01 = key1.fma(query0, dot01);
            FloatVector query1 = FloatVector.broadcast(F, queries[from1 + d]);
            dot10 = key0.fma(query1, dot10);
            dot11 = key1.fma(query1, dot11);
            FloatVector query2 = FloatVector.broadcast(F, queries[from2 + d]);
            dot20 = key0.fma(query2, dot20);
            dot21 = key1.fma(query2, dot21);
            FloatVector query3 = FloatVector.broadcast(F, queries[from3 + d]);
            dot30 = key0.fma(query3, dot30);
            dot31 = key1.fma(query3, dot31);
        }
        int to = row * rowSize + token(context, vector);
        int next = row * rowSize + token(context, vector + 1);
        dot00.mul(scale).intoArray(weights, to);
        dot01.mul(scale).intoArray(weights, next);
        dot10.mul(scale).intoArray(weights, to + rowSize);
        dot11.mul(scale).intoArray(weights, next + rowSize);
        dot20.mul(scale).intoArray(weights, to + 2 * rowSize);
        dot21.mul(scale).intoArray(weights, next + 2 * rowSize);
        dot30.mul(scale).intoArray(weights, to + 3 * rowSize);
        dot31.mul(scale).intoArray(weights, next + 3 * rowSize);
    }

    /**
     * Replaces a row of scores with softmax weights and returns their sum. Scores before the first visible token and beyond the length get
     * weight 0, so that there are whole vectors only: C2 would compile tail loops that short contexts never enter without their calls.
     */
    private float exponentiate(int row, int first, int length) {
        int begin = row * rowSize;
        int from = begin + first / Lanes.COUNT * Lanes.COUNT;
        int end = begin + Math.ceilDiv(length, Lanes.COUNT) * Lanes.COUNT;
        Arrays.fill(weights, from, begin + first, Float.NEGATIVE_INFINITY);
        Arrays.fill(weights, begin + length, end, Float.NEGATIVE_INFINITY);
        float largest = largest(from, end);
        for (int t = from; t < end; t += L) {
            VectorMath.exp(FloatVector.fromArray(F, weights, t).sub(largest)).intoArray(weights, t);
        }
        Arrays.fill(weights, from, begin + first, 0f);
        Arrays.fill(weights, begin + length, end, 0f);
        return sum(from, end);
    }

    private float largest(int from, int end) {
        FloatVector largest = FloatVector.broadcast(F, Float.NEGATIVE_INFINITY);
        for (int t = from; t < end; t += L) {
            largest = FloatVector.fromArray(F, weights, t).max(largest);
        }
        largest.intoArray(lanes, 0);
        float result = lanes[0];
        for (int lane = 1; lane < L; lane++) {
            result = Math.max(result, lanes[lane]);
        }
        return result;
    }

    private float sum(int from, int end) {
        for (int lane = 0; lane < Lanes.COUNT; lane += L) {
            FloatVector sums = FloatVector.zero(F);
            for (int t = from + lane; t < end; t += Lanes.COUNT) {
                sums = FloatVector.fromArray(F, weights, t).add(sums);
            }
            sums.intoArray(lanes, lane);
        }
        return Lanes.sum(lanes);
    }

    /** Computes a group's outputs over tokens {@code first <= t < length}, visible to all its queries. */
    private void weighGroup(KvView context, int first, int length, float[] output, int to) {
        int headSize = context.headSize();
        int pairs = headSize - headSize % (2 * L);
        for (int d = 0; d < pairs; d += 2 * L) {
            weighFourByTwo(context, d, first, length, output, to + d, 0, GROUP - 1);
        }
        for (int q = 0; q < GROUP; q++) {
            weighRest(context, q, pairs, first, length, output, to + q * headSize);
        }
    }

    /** Computes the heads' outputs over tokens {@code first <= t < length}, all heads for a few tokens at a time. */
    private void weighHeads(KvView context, int count, int first, int length, float[] output) {
        int headSize = context.headSize();
        int blockSize = context.blockSize();
        int pairs = headSize - headSize % (2 * L);
        int tokens = Math.ceilDiv(CACHED_TOKENS, blockSize) * blockSize;
        int aligned = Math.min(length, nextBlock(context, first));
        for (int row = 0; first < aligned && row < count; row++) {
            weigh(context, row, first, aligned, output, row * headSize);
        }
        int next;
        for (int t = aligned; t < length; t = next) {
            next = count > GROUP ? t + Math.min(tokens, length - t) : length;
            for (int d = 0; d < pairs; d += 2 * L) {
                for (int row = 0; row < count; row += GROUP) {
                    int last = Math.min(GROUP, count - row) - 1;
                    weighFourByTwo(context, d, t, next, output, row * headSize + d, row, last);
                }
            }
        }
        for (int row = 0; row < count; row++) {
            weighRest(context, row, pairs, aligned, length, output, row * headSize);
        }
    }

    /**
     * Adds the values of tokens {@code first <= t < end}, weighted by four rows, to their outputs; rows after {@code last} repeat the
     * last.
     *
     * @param first the first token of a block
     */
    private void weighFourByTwo(KvView context, int d, int first, int end, float[] output, int to, int row, int last) {
        MemorySegment memory = context.memory();
        int blockSize = context.blockSize();
        int headSize = context.headSize();
        int to1 = to + Math.min(1, last) * headSize;
        int to2 = to + Math.min(2, last) * headSize;
        int to3 = to + last * headSize;
        int from = row * rowSize;
        int from1 = from + Math.min(1, last) * rowSize;
        int from2 = from + Math.min(2, last) * rowSize;
        int from3 = from + last * rowSize;
        FloatVector sum00 = FloatVector.fromArray(F, output, to);
        FloatVector sum01 = FloatVector.fromArray(F, output, to + L);
        FloatVector sum10 = FloatVector.fromArray(F, output, to1);
        FloatVector sum11 = FloatVector.fromArray(F, output, to1 + L);
        FloatVector sum20 = FloatVector.fromArray(F, output, to2);
        FloatVector sum21 = FloatVector.fromArray(F, output, to2 + L);
        FloatVector sum30 = FloatVector.fromArray(F, output, to3);
        FloatVector sum31 = FloatVector.fromArray(F, output, to3 + L);
        for (int t = first; t < end; t += blockSize) {
            long values = context.values(t / blockSize) + 4L * d;
            int tokens = Math.min(blockSize, end - t);
            for (int i = 0; i < tokens; i++) {
                FloatVector value0 = load(memory, values + 4L * i * headSize);
                FloatVector value1 = load(memory, values + 4L * i * headSize + 4L * L);
                FloatVector weight0 = FloatVector.broadcast(F, weights[from + t + i]);
                sum00 = value0.fma(weight0, sum00);
                sum01 = value1.fma(weight0, sum01);
                FloatVector weight1 = FloatVector.broadcast(F, weights[from1 + t + i]);
                sum10 = value0.fma(weight1, sum10);
                sum11 = value1.fma(weight1, sum11);
                FloatVector weight2 = FloatVector.broadcast(F, weights[from2 + t + i]);
                sum20 = value0.fma(weight2, sum20);
                sum21 = value1.fma(weight2, sum21);
                FloatVector weight3 = FloatVector.broadcast(F, weights[from3 + t + i]);
                sum30 = value0.fma(weight3, sum30);
                sum31 = value1.fma(weight3, sum31);
            }
        }
        sum00.intoArray(output, to);
        sum01.intoArray(output, to + L);
        sum10.intoArray(output, to1);
        sum11.intoArray(output, to1 + L);
        sum20.intoArray(output, to2);
        sum21.intoArray(output, to2 + L);
        sum30.intoArray(output, to3);
        sum31.intoArray(output, to3 + L);
    }

    /** Adds the values of tokens {@code first <= t < end}, weighted by one row, to its output. */
    private void weigh(KvView context, int row, int first, int end, float[] output, int to) {
        int quads = context.headSize() - context.headSize() % (4 * L);
        for (int d = 0; d < quads; d += 4 * L) {
            weighOneByFour(context, row, d, first, end, output, to + d);
        }
        weighRest(context, row, quads, first, end, output, to);
    }

    private void weighOneByFour(KvView context, int row, int d, int first, int end, float[] output, int to) {
        MemorySegment memory = context.memory();
        int blockSize = context.blockSize();
        long step = 4L * context.headSize();
        FloatVector sum0 = FloatVector.fromArray(F, output, to);
        FloatVector sum1 = FloatVector.fromArray(F, output, to + L);
        FloatVector sum2 = FloatVector.fromArray(F, output, to + 2 * L);
        FloatVector sum3 = FloatVector.fromArray(F, output, to + 3 * L);
        int next;
        for (int t = first; t < end; t = next) {
            next = Math.min(end, t - t % blockSize + blockSize);
            long values = context.values(t / blockSize) + t % blockSize * step + 4L * d;
            int weight = row * rowSize + t;
            for (int i = 0; i < next - t; i++) {
                long value = values + i * step;
                FloatVector w = FloatVector.broadcast(F, weights[weight + i]);
                sum0 = load(memory, value).fma(w, sum0);
                sum1 = load(memory, value + 4L * L).fma(w, sum1);
                sum2 = load(memory, value + 8L * L).fma(w, sum2);
                sum3 = load(memory, value + 12L * L).fma(w, sum3);
            }
        }
        sum0.intoArray(output, to);
        sum1.intoArray(output, to + L);
        sum2.intoArray(output, to + 2 * L);
        sum3.intoArray(output, to + 3 * L);
    }

    /** Adds the dimensions from {@code from} on, which do not fill a register tile. */
    private void weighRest(KvView context, int row, int from, int first, int end, float[] output, int to) {
        int blockSize = context.blockSize();
        int headSize = context.headSize();
        if (from == headSize) {
            return;
        }
        int whole = F.loopBound(headSize);
        int next;
        for (int t = first; t < end; t = next) {
            next = Math.min(end, t - t % blockSize + blockSize);
            long values = context.values(t / blockSize) + 4L * (t % blockSize) * headSize;
            int weight = row * rowSize + t;
            for (int d = from; d < whole; d += L) {
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

    /** Adds the dimensions that do not fill a vector, for tokens of one block. */
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
