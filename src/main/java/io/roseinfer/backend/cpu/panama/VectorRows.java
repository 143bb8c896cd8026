package io.roseinfer.backend.cpu.panama;

import io.roseinfer.backend.cpu.kernel.FloatMath;
import io.roseinfer.backend.cpu.kernel.Lanes;
import io.roseinfer.backend.cpu.kernel.QuantizedRows;
import io.roseinfer.backend.cpu.kernel.RowMath;
import io.roseinfer.model.Activation;
import java.lang.invoke.MethodHandles;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/** Row functions on vectors: norms, RoPE, activations, quantization. */
final class VectorRows implements RowMath {
    private static final VectorSpecies<Float> F = Specialization.species(MethodHandles.lookup());

    private static final VectorSpecies<Integer> I = F.withLanes(int.class);
    /** Four lanes, as a weight word has four pairs. */
    private static final VectorSpecies<Integer> PAIRS = IntVector.SPECIES_128;
    /** All but the first pair of a word. */
    private static final int[] LATER_PAIRS = {0, -1, -1, -1};
    /** Groups rounded before the first is paired, so that its stores have reached the cache. */
    private static final int BATCH = 8;
    /** Integers before a batch, so that the first has a predecessor. */
    private static final int LEAD = 16;

    /** Bytes of the arrays. */
    static final long BYTES = 4L * (Lanes.COUNT + LEAD + BATCH * QuantizedRows.GROUP);

    private final float[] lanes = new float[Lanes.COUNT];
    private final int[] rounded = new int[LEAD + BATCH * QuantizedRows.GROUP];

    @Override
    public void layerNorm(float[] x, int from, float[] weight, float[] bias, float epsilon, float[] output) {
        int width = weight.length;
        float mean = sum(x, from, width) / width;
        float inverse = 1f / (float) Math.sqrt(sumOfSquares(x, from, width, mean) / width + epsilon);
        int whole = F.loopBound(width);
        for (int i = 0; i < whole; i += F.length()) {
            FloatVector normed = FloatVector.fromArray(F, x, from + i).sub(mean).mul(inverse);
            normed.fma(FloatVector.fromArray(F, weight, i), FloatVector.fromArray(F, bias, i))
                    .intoArray(output, i);
        }
        for (int i = whole; i < width; i++) {
            output[i] = Math.fma((x[from + i] - mean) * inverse, weight[i], bias[i]);
        }
    }

    @Override
    public void rmsNorm(float[] x, int from, float[] weight, float epsilon, float[] output, int to) {
        int width = weight.length;
        float inverse = 1f / (float) Math.sqrt(sumOfSquares(x, from, width, 0f) / width + epsilon);
        int whole = F.loopBound(width);
        for (int i = 0; i < whole; i += F.length()) {
            FloatVector normed = FloatVector.fromArray(F, x, from + i).mul(inverse);
            normed.mul(FloatVector.fromArray(F, weight, i)).intoArray(output, to + i);
        }
        for (int i = whole; i < width; i++) {
            output[to + i] = x[from + i] * inverse * weight[i];
        }
    }

    @Override
    public void rotate(float[] x, int from, float[] rope, int at, int pairs) {
        int whole = F.loopBound(pairs);
        for (int i = 0; i < whole; i += F.length()) {
            FloatVector first = FloatVector.fromArray(F, x, from + i);
            FloatVector second = FloatVector.fromArray(F, x, from + pairs + i);
            FloatVector cos = FloatVector.fromArray(F, rope, at + i);
            FloatVector sin = FloatVector.fromArray(F, rope, at + pairs + i);
            second.neg().fma(sin, first.mul(cos)).intoArray(x, from + i);
            first.fma(sin, second.mul(cos)).intoArray(x, from + pairs + i);
        }
        for (int i = whole; i < pairs; i++) {
            float first = x[from + i];
            float second = x[from + pairs + i];
            x[from + i] = Math.fma(-second, rope[at + pairs + i], first * rope[at + i]);
            x[from + pairs + i] = Math.fma(first, rope[at + pairs + i], second * rope[at + i]);
        }
    }

    @Override
    public void multiply(float[] values, float[] factors, int count) {
        int whole = F.loopBound(count);
        for (int i = 0; i < whole; i += F.length()) {
            FloatVector.fromArray(F, values, i)
                    .mul(FloatVector.fromArray(F, factors, i))
                    .intoArray(values, i);
        }
        for (int i = whole; i < count; i++) {
            values[i] *= factors[i];
        }
    }

    private float sum(float[] x, int from, int count) {
        int whole = count - count % Lanes.COUNT;
        for (int lane = 0; lane < Lanes.COUNT; lane += F.length()) {
            FloatVector sums = FloatVector.zero(F);
            for (int i = 0; i < whole; i += Lanes.COUNT) {
                sums = FloatVector.fromArray(F, x, from + lane + i).add(sums);
            }
            sums.intoArray(lanes, lane);
        }
        for (int i = whole; i < count; i++) {
            lanes[i - whole] += x[from + i];
        }
        return Lanes.sum(lanes);
    }

    private float sumOfSquares(float[] x, int from, int count, float mean) {
        int whole = count - count % Lanes.COUNT;
        for (int lane = 0; lane < Lanes.COUNT; lane += F.length()) {
            FloatVector sums = FloatVector.zero(F);
            for (int i = 0; i < whole; i += Lanes.COUNT) {
                FloatVector distance =
                        FloatVector.fromArray(F, x, from + lane + i).sub(mean);
                sums = distance.fma(distance, sums);
            }
            sums.intoArray(lanes, lane);
        }
        for (int i = whole; i < count; i++) {
            float distance = x[from + i] - mean;
            lanes[i - whole] = Math.fma(distance, distance, lanes[i - whole]);
        }
        return Lanes.sum(lanes);
    }

    @Override
    public void activate(Activation activation, float[] values, int count) {
        switch (activation) {
            case GELU_TANH -> geluTanh(values, count);
            case GELU_ERF -> geluErf(values, count);
            case RELU -> relu(values, count);
            case SILU -> silu(values, count);
        }
    }

    private static void geluTanh(float[] values, int count) {
        int whole = F.loopBound(count);
        for (int i = 0; i < whole; i += F.length()) {
            VectorMath.geluTanh(FloatVector.fromArray(F, values, i)).intoArray(values, i);
        }
        for (int i = whole; i < count; i++) {
            values[i] = FloatMath.geluTanh(values[i]);
        }
    }

    private static void geluErf(float[] values, int count) {
        int whole = F.loopBound(count);
        for (int i = 0; i < whole; i += F.length()) {
            VectorMath.geluErf(FloatVector.fromArray(F, values, i)).intoArray(values, i);
        }
        for (int i = whole; i < count; i++) {
            values[i] = FloatMath.geluErf(values[i]);
        }
    }

    private static void silu(float[] values, int count) {
        int whole = F.loopBound(count);
        for (int i = 0; i < whole; i += F.length()) {
            VectorMath.silu(FloatVector.fromArray(F, values, i)).intoArray(values, i);
        }
        for (int i = whole; i < count; i++) {
            values[i] = FloatMath.silu(values[i]);
        }
    }

    private static void relu(float[] values, int count) {
        int whole = F.loopBound(count);
        for (int i = 0; i < whole; i += F.length()) {
            FloatVector.fromArray(F, values, i).max(0f).intoArray(values, i);
        }
        for (int i = whole; i < count; i++) {
            values[i] = Math.max(0f, values[i]);
        }
    }

    @Override
    public void quantize(float[] x, int from, int inputs, int[] words) {
        int whole = inputs / QuantizedRows.GROUP;
        for (int group = 0; group < whole; group += BATCH) {
            int count = Math.min(BATCH, whole - group);
            for (int i = 0; i < count; i++) {
                int at = (group + i) * QuantizedRows.GROUP_WORDS;
                round(x, from + (group + i) * QuantizedRows.GROUP, LEAD + i * QuantizedRows.GROUP, words, at);
            }
            for (int i = 0; i < count; i++) {
                pair(LEAD + i * QuantizedRows.GROUP, words, (group + i) * QuantizedRows.GROUP_WORDS);
            }
        }
        for (int group = whole; group < QuantizedRows.groups(inputs); group++) {
            int first = group * QuantizedRows.GROUP;
            int count = Math.max(0, inputs - first);
            QuantizedRows.quantize(x, from + first, count, words, group * QuantizedRows.GROUP_WORDS);
        }
    }

    /** Rounds a group to {@link #rounded} at {@code to}, and writes its offset and scale. */
    private void round(float[] x, int from, int to, int[] words, int at) {
        IntVector magnitudes = IntVector.zero(I);
        for (int k = 0; k < QuantizedRows.GROUP; k += I.length()) {
            IntVector bits = FloatVector.fromArray(F, x, from + k).reinterpretAsInts();
            magnitudes = bits.and(Integer.MAX_VALUE).max(magnitudes);
        }
        int largestBits = magnitudes.reduceLanes(VectorOperators.MAX);
        float inverse = QuantizedRows.inverse(largestBits);
        IntVector sums = IntVector.zero(I);
        for (int k = 0; k < QuantizedRows.GROUP; k += I.length()) {
            FloatVector nearest =
                    FloatVector.fromArray(F, x, from + k).mul(inverse).add(QuantizedRows.ROUNDER);
            IntVector a = nearest.reinterpretAsInts().sub(QuantizedRows.ROUNDER_BITS);
            a.intoArray(rounded, to + k);
            sums = a.add(sums);
        }
        words[at + QuantizedRows.OFFSET] = -8 * sums.reduceLanes(VectorOperators.ADD) & 0xffff;
        words[at + QuantizedRows.SCALE] = Float.floatToRawIntBits(QuantizedRows.scale(largestBits));
    }

    private void pair(int from, int[] words, int at) {
        IntVector later = IntVector.fromArray(PAIRS, LATER_PAIRS, 0);
        for (int word = 0; word < 4; word++) {
            int k = from + 8 * word;
            IntVector lower = IntVector.fromArray(PAIRS, rounded, k)
                    .sub(IntVector.fromArray(PAIRS, rounded, k - 1).and(later).lanewise(VectorOperators.LSHL, 4));
            IntVector upper = IntVector.fromArray(PAIRS, rounded, k + 4)
                    .sub(IntVector.fromArray(PAIRS, rounded, k + 3).lanewise(VectorOperators.LSHL, 4));
            upper.lanewise(VectorOperators.LSHL, 16).or(lower.and(0xffff)).intoArray(words, at + 4 * word);
        }
    }
}
