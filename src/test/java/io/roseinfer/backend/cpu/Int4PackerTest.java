package io.roseinfer.backend.cpu;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.roseinfer.backend.cpu.kernel.Int4Weights;
import io.roseinfer.backend.cpu.kernel.Kernels;
import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import io.roseinfer.backend.cpu.kernel.QuantizedRows;
import io.roseinfer.backend.cpu.scalar.ScalarKernels;
import java.lang.foreign.Arena;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Int4 weights and quantized activations, compared with the original values. */
class Int4PackerTest {

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 8, 31, 32, 33, 63, 64, 65, 100, 768})
    void weights_are_within_half_a_step_or_one_at_the_ends(int inputs) {
        Random random = new Random(inputs);
        int outputs = 1 + random.nextInt(120);
        float[] weights = KernelFixtures.normal(random, inputs * outputs);
        try (Arena arena = Arena.ofConfined()) {
            PackedMatrix packed = KernelFixtures.pack(arena, new Int4Weights(), weights, inputs, outputs);
            float[] back = new float[inputs];
            for (int n = 0; n < outputs; n++) {
                packed.output(n, back, 0);
                for (int k = 0; k < inputs; k++) {
                    float step = Math.abs(
                            packed.format().groupScale(packed, n / COLUMNS, n % COLUMNS, k / QuantizedRows.GROUP));
                    assertThat(step).isPositive();
                    // The grid has one value less on the shorter side.
                    float weight = weights[k * outputs + n];
                    float most = Math.abs(weight) < 7.4f * step ? 0.51f : 1.05f;
                    assertThat(back[k])
                            .as("input %d of %d, output %d of %d", k, inputs, n, outputs)
                            .isCloseTo(weight, within(most * step));
                }
            }
        }
    }

    /** Sixteen evenly spaced values are stored exactly, with either sign of the extreme. */
    @ParameterizedTest
    @ValueSource(floats = {0.25f, -0.25f})
    void weights_on_the_grid_are_exact(float step) {
        float[] weights = new float[QuantizedRows.GROUP];
        for (int k = 0; k < weights.length; k++) {
            weights[k] = step * (k % 16 - 8);
        }
        try (Arena arena = Arena.ofConfined()) {
            PackedMatrix packed = KernelFixtures.pack(arena, new Int4Weights(), weights, weights.length, 1);
            float[] back = new float[weights.length];
            packed.output(0, back, 0);
            assertThat(back).isEqualTo(weights);
        }
    }

    @ParameterizedTest
    @ValueSource(floats = {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY})
    void non_finite_weight_makes_its_output_non_finite(float fault) {
        Random random = new Random(8);
        float[] weights = KernelFixtures.normal(random, 40 * 3);
        weights[35 * 3 + 1] = fault;
        float[] x = KernelFixtures.normal(random, 40);
        Kernels scalar = new ScalarKernels().create(new Int4Weights(), 1);
        try (Arena arena = Arena.ofConfined()) {
            PackedMatrix packed = KernelFixtures.pack(arena, new Int4Weights(), weights, 40, 3);
            float[] sums = KernelFixtures.product(scalar, x, 1, packed, 0);
            assertThat(Float.isFinite(sums[0])).isTrue();
            assertThat(Float.isFinite(sums[1])).isFalse();
            assertThat(Float.isFinite(sums[2])).isTrue();
        }
    }

    /** Weights and activations of unit variance: the error of a sum of n products grows like √n. */
    @Test
    void scalar_matmul_stays_close_to_full_precision() {
        int inputs = 768;
        Random random = new Random(9);
        float[] weights = KernelFixtures.normal(random, inputs * COLUMNS);
        float[] x = KernelFixtures.normal(random, inputs);
        Kernels scalar = new ScalarKernels().create(new Int4Weights(), 1);
        double squares = 0;
        try (Arena arena = Arena.ofConfined()) {
            PackedMatrix packed = KernelFixtures.pack(arena, new Int4Weights(), weights, inputs, COLUMNS);
            float[] sums = KernelFixtures.product(scalar, x, 1, packed, 0);
            for (int n = 0; n < COLUMNS; n++) {
                double exact = 0;
                for (int k = 0; k < inputs; k++) {
                    exact += (double) x[k] * weights[k * COLUMNS + n];
                }
                squares += (sums[n] - exact) * (sums[n] - exact);
            }
        }
        assertThat(Math.sqrt(squares / COLUMNS / inputs)).isBetween(0.03, 0.1);
    }

    @Test
    void activations_are_within_half_a_step() {
        int inputs = 70;
        float[] x = KernelFixtures.normal(new Random(10), inputs);
        int[] words = new int[QuantizedRows.words(inputs)];
        new ScalarKernels().create(new Int4Weights(), 1).rows().quantize(x, 0, inputs, words);
        int[] back = new int[QuantizedRows.GROUP];
        for (int k = 0; k < inputs; k++) {
            int group = k / QuantizedRows.GROUP * QuantizedRows.GROUP_WORDS;
            QuantizedRows.unpack(words, group, back);
            float scale = Float.intBitsToFloat(words[group + QuantizedRows.SCALE]);
            assertThat(scale * back[k % QuantizedRows.GROUP]).isCloseTo(x[k], within(0.5001f * scale));
        }
    }
}
