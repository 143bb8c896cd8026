package io.roseinfer.backend.cpu;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.roseinfer.backend.cpu.kernel.FloatMath;
import io.roseinfer.backend.cpu.kernel.Fp32Weights;
import io.roseinfer.backend.cpu.kernel.Kernels;
import io.roseinfer.backend.cpu.kernel.KvPool;
import io.roseinfer.backend.cpu.kernel.KvView;
import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import io.roseinfer.backend.cpu.scalar.ScalarKernels;
import io.roseinfer.model.Activation;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares the scalar kernels with 64-bit arithmetic. */
class ScalarKernelsTest {
    private final Kernels scalar = new ScalarKernels().create(new Fp32Weights(), 64);

    @Test
    void exp_is_within_two_units_in_the_last_place_over_its_range() {
        for (float x = FloatMath.EXP_LOWEST; x <= FloatMath.EXP_HIGHEST; x += 0.00137f) {
            double exact = Math.exp(x);
            assertThat(Math.abs(FloatMath.exp(x) - exact)).as("exp(%s)", x).isLessThan(2 * Math.ulp((float) exact));
        }
    }

    @Test
    void exp_below_its_range_is_negligible_and_keeps_nan() {
        assertThat(FloatMath.exp(-1000f)).isBetween(0f, 1e-37f);
        assertThat(FloatMath.exp(Float.NEGATIVE_INFINITY)).isBetween(0f, 1e-37f);
        assertThat(FloatMath.exp(0f)).isEqualTo(1f);
        assertThat(FloatMath.exp(Float.NaN)).isNaN();
    }

    @ParameterizedTest
    @EnumSource(Activation.class)
    void activation_agrees_with_its_definition(Activation activation) {
        for (float x = -9; x <= 9; x += 0.0007f) {
            float[] value = {x};
            scalar.rows().activate(activation, value, 1);
            double exact = DoubleMath.activate(activation, x);
            double magnitude = Math.max(Math.abs(x), Math.abs(exact));
            assertThat((double) value[0]).as("at %s", x).isCloseTo(exact, within(4e-7 * Math.max(1, magnitude)));
        }
    }

    @Test
    void gelu_far_out_is_zero_or_the_identity() {
        for (float x : new float[] {20f, 1e5f, 1e30f}) {
            assertThat(FloatMath.geluTanh(x)).isEqualTo(x);
            assertThat(FloatMath.geluErf(x)).isEqualTo(x);
            assertThat(FloatMath.geluTanh(-x)).isBetween(-1e-6f, 0f);
            assertThat(FloatMath.geluErf(-x)).isBetween(-1e-6f, 0f);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 64, 768})
    void layer_norm_agrees(int width) {
        Random random = new Random(width);
        float[] x = KernelFixtures.normal(random, width);
        float[] normWeights = KernelFixtures.normal(random, width);
        float[] bias = KernelFixtures.normal(random, width);
        float[] actual = new float[width];
        scalar.rows().layerNorm(x, 0, normWeights, bias, 1e-5f, actual);
        double mean = 0;
        double variance = 0;
        for (float value : x) {
            mean += (double) value / width;
        }
        for (float value : x) {
            variance += (value - mean) * (value - mean) / width;
        }
        for (int i = 0; i < width; i++) {
            double expected = (x[i] - mean) / Math.sqrt(variance + 1e-5) * normWeights[i] + bias[i];
            assertThat((double) actual[i]).isCloseTo(expected, within(1e-5));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 64, 768})
    void rms_norm_agrees_with_and_without_effect_of_epsilon(int width) {
        Random random = new Random(width);
        float[] normWeights = KernelFixtures.normal(random, width);
        for (float size : new float[] {1e-3f, 1f, 1e3f}) {
            float[] x = KernelFixtures.normal(random, width);
            double squares = 0;
            for (int i = 0; i < width; i++) {
                x[i] *= size;
                squares += (double) x[i] * x[i] / width;
            }
            float[] actual = new float[width];
            scalar.rows().rmsNorm(x, 0, normWeights, 1e-5f, actual, 0);
            for (int i = 0; i < width; i++) {
                double expected = x[i] / Math.sqrt(squares + 1e-5) * normWeights[i];
                assertThat((double) actual[i]).isCloseTo(expected, within(1e-5));
            }
        }
    }

    @Test
    void rope_matches_and_pairs_the_halves() {
        int pairs = 20;
        Random random = new Random(5);
        float[] x = KernelFixtures.normal(random, 2 * pairs);
        float[] rope = new float[2 * pairs];
        for (int i = 0; i < pairs; i++) {
            rope[i] = (float) Math.cos(0.7 * i);
            rope[pairs + i] = (float) Math.sin(0.7 * i);
        }
        float[] actual = x.clone();
        scalar.rows().rotate(actual, 0, rope, 0, pairs);
        for (int i = 0; i < pairs; i++) {
            double cos = Math.cos(0.7 * i);
            double sin = Math.sin(0.7 * i);
            assertThat((double) actual[i]).isCloseTo(x[i] * cos - x[i + pairs] * sin, within(1e-6));
            assertThat((double) actual[i + pairs]).isCloseTo(x[i + pairs] * cos + x[i] * sin, within(1e-6));
        }
    }

    @Test
    void silu_far_out_is_zero_or_the_identity() {
        for (float x : new float[] {1e5f, 1e30f}) {
            assertThat(FloatMath.silu(x)).isEqualTo(x);
            assertThat(FloatMath.silu(-x)).isBetween(-1e-6f, 0f);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void matmul_matches_for_both_layouts_of_the_stored_matrix(boolean byOutput) {
        int rows = 5;
        int inputs = 131;
        int outputs = 101;
        Random random = new Random(3);
        float[] x = KernelFixtures.normal(random, rows * inputs);
        float[] w = KernelFixtures.normal(random, inputs * outputs);
        try (Arena arena = Arena.ofConfined()) {
            PackedMatrix packed = KernelFixtures.pack(arena, new Fp32Weights(), w, inputs, outputs, byOutput);
            for (int n = 0; n < outputs; n++) {
                float[] sums = KernelFixtures.product(scalar, x, rows, packed, n / COLUMNS);
                for (int row = 0; row < rows; row++) {
                    double expected = 0;
                    for (int k = 0; k < inputs; k++) {
                        expected += (double) x[row * inputs + k] * w[byOutput ? n * inputs + k : k * outputs + n];
                    }
                    assertThat((double) sums[row * COLUMNS + n % COLUMNS]).isCloseTo(expected, within(1e-4));
                }
            }
        }
    }

    @Test
    void attention_agrees() {
        int headSize = 9;
        int length = 21;
        int[] blocks = {2, 0, 1};
        Random random = new Random(4);
        try (Arena arena = Arena.ofConfined()) {
            KvPool pool = KernelFixtures.pool(arena, random, headSize, 8, blocks, length);
            KvView view = new KvView(pool);
            view.move(blocks, 0, 0, 0, Integer.MAX_VALUE);
            float[] query = KernelFixtures.normal(random, headSize);
            float[] actual = new float[headSize];
            scalar.attention().attend(view, query, 0, headSize, 1, length, 0.5f, actual);
            double[] expected = attention(view, query, length, 0.5);
            for (int d = 0; d < headSize; d++) {
                assertThat((double) actual[d]).isCloseTo(expected[d], within(1e-5));
            }
        }
    }

    private static double[] attention(KvView view, float[] query, int length, double scale) {
        int headSize = view.headSize();
        int blockSize = view.blockSize();
        double[] output = new double[headSize];
        double sum = 0;
        for (int t = 0; t < length; t++) {
            double score = 0;
            for (int d = 0; d < headSize; d++) {
                long key = view.keys(t / blockSize) + 4L * (d * blockSize + t % blockSize);
                score += query[d] * (double) view.memory().get(ValueLayout.JAVA_FLOAT, key);
            }
            double weight = Math.exp(score * scale);
            sum += weight;
            for (int d = 0; d < headSize; d++) {
                long value = view.values(t / blockSize) + 4L * (t % blockSize * headSize + d);
                output[d] += weight * view.memory().get(ValueLayout.JAVA_FLOAT, value);
            }
        }
        for (int d = 0; d < headSize; d++) {
            output[d] /= sum;
        }
        return output;
    }
}
