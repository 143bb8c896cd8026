package io.roseinfer.backend.cpu.scalar;

import io.roseinfer.backend.cpu.kernel.FloatMath;
import io.roseinfer.backend.cpu.kernel.Lanes;
import io.roseinfer.backend.cpu.kernel.QuantizedRows;
import io.roseinfer.backend.cpu.kernel.RowMath;
import io.roseinfer.model.Activation;
import java.util.Arrays;

/** Reference row functions: norms, RoPE, activations, quantization. */
final class ScalarRows implements RowMath {
    /** Bytes of the arrays. */
    static final long BYTES = (long) Float.BYTES * Lanes.COUNT;

    private final float[] lanes = new float[Lanes.COUNT];

    @Override
    public void layerNorm(float[] x, int from, float[] weight, float[] bias, float epsilon, float[] output) {
        int width = weight.length;
        Arrays.fill(lanes, 0f);
        for (int i = 0; i < width; i++) {
            lanes[i % Lanes.COUNT] += x[from + i];
        }
        float mean = Lanes.sum(lanes) / width;
        Arrays.fill(lanes, 0f);
        for (int i = 0; i < width; i++) {
            float distance = x[from + i] - mean;
            lanes[i % Lanes.COUNT] = Math.fma(distance, distance, lanes[i % Lanes.COUNT]);
        }
        float inverse = 1f / (float) Math.sqrt(Lanes.sum(lanes) / width + epsilon);
        for (int i = 0; i < width; i++) {
            output[i] = Math.fma((x[from + i] - mean) * inverse, weight[i], bias[i]);
        }
    }

    @Override
    public void rmsNorm(float[] x, int from, float[] weight, float epsilon, float[] output, int to) {
        int width = weight.length;
        Arrays.fill(lanes, 0f);
        for (int i = 0; i < width; i++) {
            lanes[i % Lanes.COUNT] = Math.fma(x[from + i], x[from + i], lanes[i % Lanes.COUNT]);
        }
        float inverse = 1f / (float) Math.sqrt(Lanes.sum(lanes) / width + epsilon);
        for (int i = 0; i < width; i++) {
            output[to + i] = x[from + i] * inverse * weight[i];
        }
    }

    @Override
    public void rotate(float[] x, int from, float[] rope, int at, int pairs) {
        for (int i = 0; i < pairs; i++) {
            float first = x[from + i];
            float second = x[from + pairs + i];
            float cos = rope[at + i];
            float sin = rope[at + pairs + i];
            x[from + i] = Math.fma(-second, sin, first * cos);
            x[from + pairs + i] = Math.fma(first, sin, second * cos);
        }
    }

    @Override
    public void multiply(float[] values, float[] factors, int count) {
        for (int i = 0; i < count; i++) {
            values[i] *= factors[i];
        }
    }

    @Override
    public void activate(Activation activation, float[] values, int count) {
        for (int i = 0; i < count; i++) {
            values[i] = switch (activation) {
                case GELU_TANH -> FloatMath.geluTanh(values[i]);
                case GELU_ERF -> FloatMath.geluErf(values[i]);
                case RELU -> Math.max(0f, values[i]);
                case SILU -> FloatMath.silu(values[i]);
            };
        }
    }

    @Override
    public void quantize(float[] x, int from, int inputs, int[] words) {
        for (int group = 0; group < QuantizedRows.groups(inputs); group++) {
            int first = group * QuantizedRows.GROUP;
            int count = Math.clamp(inputs - first, 0, QuantizedRows.GROUP);
            QuantizedRows.quantize(x, from + first, count, words, group * QuantizedRows.GROUP_WORDS);
        }
    }
}
