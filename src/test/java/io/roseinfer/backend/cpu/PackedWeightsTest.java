package io.roseinfer.backend.cpu;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.roseinfer.backend.cpu.kernel.Bf16Weights;
import io.roseinfer.backend.cpu.kernel.Fp32Weights;
import io.roseinfer.backend.cpu.kernel.Int4Weights;
import io.roseinfer.backend.cpu.kernel.Int8Weights;
import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Packed weights of every type, decoded by formulas of their own and compared with the original values. */
class PackedWeightsTest {
    private static final int[] INPUTS = {1, 2, 3, 7, 8, 9, 31, 33, 64, 65, 100, 129};

    private static final List<WeightFormat> FORMATS = WeightFormat.all();

    /** A matrix of normal numbers whose outputs differ in magnitude, [inputs, outputs]. */
    private record Original(int inputs, int outputs, float[] weights) {
        static Original of(int inputs) {
            Random random = new Random(inputs);
            int outputs = 1 + random.nextInt(120);
            float[] weights = KernelFixtures.normal(random, inputs * outputs);
            for (int i = 0; i < weights.length; i++) {
                weights[i] *= (float) Math.exp(i % outputs % 17 - 8);
            }
            return new Original(inputs, outputs, weights);
        }

        float at(int k, int n) {
            return weights[k * outputs + n];
        }

        /** Returns the largest magnitude among inputs from {@code first} to {@code end} of an output. */
        double largest(int n, int first, int end) {
            double largest = 0;
            for (int k = first; k < Math.min(end, inputs); k++) {
                largest = Math.max(largest, Math.abs(at(k, n)));
            }
            return largest;
        }
    }

    /** Returns a stored weight by the layout that the format's class describes. */
    private static double decoded(PackedMatrix packed, int k, int n) {
        long column = packed.panelStart(n / COLUMNS) + 4L * (n % COLUMNS);
        return switch (packed.format()) {
            case Fp32Weights floats -> Float.intBitsToFloat(word(packed, column, k));
            case Bf16Weights halves -> Float.intBitsToFloat(bits(word(packed, column, k / 2), k % 2, 16) << 16);
            case Int8Weights bytes ->
                (byte) bits(word(packed, column, k / 4), k % 4, 8) * (packed.scales()[n] * 0x1p24);
            case Int4Weights nibbles -> {
                int row = k / 64 * 9; // eight rows of words, one of scales
                int scale = bits(word(packed, column, row + 8), k / 32 % 2, 16) << 16;
                yield (bits(word(packed, column, row + k % 64 / 8), k % 8, 4) - 8)
                        * (double) Float.intBitsToFloat(scale);
            }
        };
    }

    private static int word(PackedMatrix packed, long column, int row) {
        return packed.memory().get(ValueLayout.JAVA_INT, column + 4L * COLUMNS * row);
    }

    private static int bits(int word, int which, int width) {
        return (word >>> (which * width)) & ((1 << width) - 1);
    }

    /** Returns the largest error of a stored weight: half a step of its type, and a whole one at the shorter end of int4. */
    private static double bound(WeightFormat format, Original original, int k, int n) {
        float weight = original.at(k, n);
        return switch (format) {
            case Fp32Weights floats -> 0;
            case Bf16Weights halves -> Math.ulp(weight) * 0x1p16 / 2;
            case Int8Weights bytes -> 0.5001 * original.largest(n, 0, original.inputs()) / 127;
            case Int4Weights nibbles -> {
                double largest = original.largest(n, k / 32 * 32, k / 32 * 32 + 32);
                yield (Math.abs(weight) < 0.8 * largest ? 0.51 : 1.1) * largest / 7;
            }
        };
    }

    @ParameterizedTest
    @FieldSource("FORMATS")
    void stored_weights_are_close_to_the_original(WeightFormat format) {
        for (int inputs : INPUTS) {
            Original original = Original.of(inputs);
            try (Arena arena = Arena.ofConfined()) {
                PackedMatrix packed =
                        KernelFixtures.pack(arena, format, original.weights(), inputs, original.outputs());
                for (int n = 0; n < original.outputs(); n++) {
                    for (int k = 0; k < inputs; k++) {
                        assertThat(decoded(packed, k, n))
                                .as("input %d of %d, output %d of %d", k, inputs, n, original.outputs())
                                .isCloseTo(original.at(k, n), within(bound(format, original, k, n)));
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @FieldSource("FORMATS")
    void outputs_read_back_are_the_stored_weights(WeightFormat format) {
        for (int inputs : INPUTS) {
            Original original = Original.of(inputs);
            try (Arena arena = Arena.ofConfined()) {
                PackedMatrix packed =
                        KernelFixtures.pack(arena, format, original.weights(), inputs, original.outputs());
                float[] back = new float[inputs + 1];
                for (int n = 0; n < original.outputs(); n++) {
                    packed.output(n, back, 1);
                    for (int k = 0; k < inputs; k++) {
                        assertThat(back[1 + k])
                                .as("input %d of %d, output %d", k, inputs, n)
                                .isEqualTo((float) decoded(packed, k, n));
                    }
                }
            }
        }
    }

    /** Sums run over whole words and panels. */
    @ParameterizedTest
    @FieldSource("FORMATS")
    void padding_is_zero(WeightFormat format) {
        int inputs = 9;
        int outputs = 50;
        Original original = Original.of(inputs);
        float[] weights = new float[inputs * outputs];
        for (int i = 0; i < weights.length; i++) {
            weights[i] = original.weights()[i % original.weights().length];
        }
        try (Arena arena = Arena.ofConfined()) {
            PackedMatrix packed = KernelFixtures.pack(arena, format, weights, inputs, outputs);
            int whole = Math.ceilDiv(inputs, format.perWord()) * format.perWord();
            for (int n = 0; n < packed.panels() * COLUMNS; n++) {
                for (int k = n < outputs ? inputs : 0; k < whole; k++) {
                    assertThat(decoded(packed, k, n))
                            .as("input %d, output %d", k, n)
                            .isZero();
                }
            }
        }
    }

    /** The inverse of the scale of such weights would be infinite. */
    @ParameterizedTest
    @FieldSource("FORMATS")
    void zeros_stay_zero_and_subnormal_weights_stay_tiny(WeightFormat format) {
        float[] weights = new float[40 * 2];
        for (int k = 0; k < 40; k++) {
            weights[2 * k + 1] = Float.MIN_VALUE * (k % 3);
        }
        try (Arena arena = Arena.ofConfined()) {
            PackedMatrix packed = KernelFixtures.pack(arena, format, weights, 40, 2);
            for (int k = 0; k < 40; k++) {
                assertThat(decoded(packed, k, 0)).isZero();
                assertThat(decoded(packed, k, 1)).isCloseTo(0, within(1e-37));
            }
        }
    }

    private static List<Object[]> faults() {
        return FORMATS.stream()
                .flatMap(format -> List.of(Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY).stream()
                        .map(fault -> new Object[] {format, fault}))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("faults")
    void weight_that_is_not_finite_shows_in_its_output_alone(WeightFormat format, float fault) {
        float[] weights = KernelFixtures.normal(new Random(8), 40 * 3);
        weights[35 * 3 + 1] = fault;
        try (Arena arena = Arena.ofConfined()) {
            PackedMatrix packed = KernelFixtures.pack(arena, format, weights, 40, 3);
            for (int n = 0; n < 3; n++) {
                double sum = 0;
                for (int k = 0; k < 40; k++) {
                    sum += decoded(packed, k, n);
                }
                assertThat(Double.isFinite(sum)).as("output %d", n).isEqualTo(n != 1);
            }
        }
    }

    @Test
    void every_format_but_the_smallest_suggests_a_smaller_one() {
        long smallest = FORMATS.stream()
                .mapToLong(format -> format.panelBytes(1024))
                .min()
                .orElseThrow();
        assertThat(FORMATS).allSatisfy(format -> {
            if (format.panelBytes(1024) == smallest) {
                assertThat(format.narrower()).isEmpty();
            } else {
                assertThat(format.narrower().orElseThrow().panelBytes(1024)).isLessThan(format.panelBytes(1024));
            }
        });
    }
}
