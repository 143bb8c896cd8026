package io.roseinfer.backend.cpu;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;
import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.cpu.kernel.Attention;
import io.roseinfer.backend.cpu.kernel.Fp32Weights;
import io.roseinfer.backend.cpu.kernel.Int4Weights;
import io.roseinfer.backend.cpu.kernel.Kernels;
import io.roseinfer.backend.cpu.kernel.KvPool;
import io.roseinfer.backend.cpu.kernel.KvView;
import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import io.roseinfer.backend.cpu.kernel.QuantizedRows;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import io.roseinfer.backend.cpu.panama.VectorKernels;
import io.roseinfer.backend.cpu.scalar.ScalarKernels;
import io.roseinfer.model.Activation;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Vector kernels of every width are bit-identical to the scalar kernels. */
@Tag("parity")
class VectorKernelsTest {
    private static final int[] SIZES = {
        1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 257, 768, 769, 1601
    };
    private static final int CONTEXT = 300;

    private final Kernels scalar = new ScalarKernels().create(new Fp32Weights(), CONTEXT);

    @ParameterizedTest
    @CsvSource({"128, false", "256, false", "512, false", "128, true", "256, true", "512, true"})
    void matmul_is_bit_identical_to_scalar_for_every_format_and_size(int bits, boolean prefetch) {
        int[] rowCounts = {1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 23, 40};
        Random random = new Random(bits);
        for (WeightFormat format : WeightFormat.all()) {
            Kernels vector = new VectorKernels(bits, prefetch).create(format, CONTEXT);
            for (int inputs : SIZES) {
                int outputs = 1 + random.nextInt(100);
                int rows = rowCounts[random.nextInt(rowCounts.length)];
                assertProductsEqual(vector, format, random, 1, inputs, outputs);
                assertProductsEqual(vector, format, random, rows, inputs, outputs);
            }
            for (int rows : rowCounts) {
                assertProductsEqual(vector, format, random, rows, 130, 50);
            }
        }
    }

    private void assertProductsEqual(
            Kernels vector, WeightFormat format, Random random, int rows, int inputs, int outputs) {
        try (Arena arena = Arena.ofConfined()) {
            float[] weights = KernelFixtures.normal(random, inputs * outputs);
            PackedMatrix packed = KernelFixtures.pack(arena, format, weights, inputs, outputs);
            float[] x = KernelFixtures.normal(random, rows * inputs);
            for (int panel = 0; panel < packed.panels(); panel++) {
                float[] expected = KernelFixtures.product(scalar, x, rows, packed, panel);
                assertThat(KernelFixtures.product(vector, x, rows, packed, panel))
                        .as("%s, %d rows, %d inputs, panel %d", format, rows, inputs, panel)
                        .isEqualTo(expected);
            }
        }
    }

    /** The extreme of 16-bit accumulation: maximum products of one sign. */
    @ParameterizedTest
    @ValueSource(ints = {128, 256, 512})
    void int4_matmul_of_the_largest_integers_does_not_overflow(int bits) {
        int inputs = 2 * QuantizedRows.GROUP;
        float[] weights = new float[inputs * COLUMNS];
        float[] x = new float[13 * inputs];
        Arrays.fill(weights, -8);
        Arrays.fill(x, 127);
        Arrays.fill(x, 0, inputs, -127);
        Kernels vector = new VectorKernels(bits).create(new Int4Weights(), CONTEXT);
        try (Arena arena = Arena.ofConfined()) {
            PackedMatrix packed = KernelFixtures.pack(arena, new Int4Weights(), weights, inputs, COLUMNS);
            float[] sums = KernelFixtures.product(vector, x, 13, packed, 0);
            assertThat(sums[0]).isEqualTo(8f * 127 * inputs);
            assertThat(sums[12 * COLUMNS]).isEqualTo(-8f * 127 * inputs);
            assertThat(sums).isEqualTo(KernelFixtures.product(scalar, x, 13, packed, 0));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {128, 256, 512})
    void quantization_is_bit_identical_to_scalar(int bits) {
        Kernels vector = new VectorKernels(bits).create(new Fp32Weights(), CONTEXT);
        Random random = new Random(bits);
        for (int inputs : SIZES) {
            float[] x = KernelFixtures.normal(random, inputs + 3);
            Arrays.fill(x, 3, 3 + Math.min(inputs, 40), 0);
            int[] expected = new int[QuantizedRows.words(inputs)];
            int[] actual = new int[QuantizedRows.words(inputs)];
            scalar.rows().quantize(x, 3, inputs, expected);
            vector.rows().quantize(x, 3, inputs, actual);
            assertThat(actual).as("%d inputs", inputs).isEqualTo(expected);
        }
    }

    @ParameterizedTest
    @ValueSource(floats = {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY})
    void int4_matmul_of_a_non_finite_row_affects_that_row_only(float fault) {
        Kernels vector = new VectorKernels(512).create(new Int4Weights(), CONTEXT);
        Random random = new Random(6);
        try (Arena arena = Arena.ofConfined()) {
            float[] weights = KernelFixtures.normal(random, 100 * COLUMNS);
            PackedMatrix packed = KernelFixtures.pack(arena, new Int4Weights(), weights, 100, COLUMNS);
            for (int rows = 1; rows < 12; rows++) {
                float[] x = KernelFixtures.normal(random, rows * 100);
                x[(rows - 1) * 100 + 9 * rows - 1] = fault;
                float[] sums = KernelFixtures.product(vector, x, rows, packed, 0);
                assertThat(Arrays.copyOf(sums, (rows - 1) * COLUMNS)).doesNotContain(Float.NaN);
                assertThat(Arrays.copyOfRange(sums, (rows - 1) * COLUMNS, rows * COLUMNS))
                        .containsOnly(Float.NaN);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {128, 256, 512})
    void layer_norm_is_bit_identical_to_scalar(int bits) {
        Kernels vector = new VectorKernels(bits).create(new Fp32Weights(), CONTEXT);
        Random random = new Random(bits);
        for (int width : SIZES) {
            float[] x = KernelFixtures.normal(random, width + 3);
            float[] normWeights = KernelFixtures.normal(random, width);
            float[] bias = KernelFixtures.normal(random, width);
            float[] expected = new float[width];
            float[] actual = new float[width];
            scalar.rows().layerNorm(x, 3, normWeights, bias, 1e-5f, expected);
            vector.rows().layerNorm(x, 3, normWeights, bias, 1e-5f, actual);
            assertThat(actual).as("width %d", width).isEqualTo(expected);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {128, 256, 512})
    void rms_norm_is_bit_identical_to_scalar_also_in_place(int bits) {
        Kernels vector = new VectorKernels(bits).create(new Fp32Weights(), CONTEXT);
        Random random = new Random(bits);
        for (int width : SIZES) {
            float[] x = KernelFixtures.normal(random, width + 3);
            float[] normWeights = KernelFixtures.normal(random, width);
            float[] expected = new float[width + 2];
            float[] actual = new float[width + 2];
            scalar.rows().rmsNorm(x, 3, normWeights, 1e-5f, expected, 2);
            vector.rows().rmsNorm(x, 3, normWeights, 1e-5f, actual, 2);
            vector.rows().rmsNorm(x, 3, normWeights, 1e-5f, x, 3);
            assertThat(actual).as("width %d", width).isEqualTo(expected);
            assertThat(Arrays.copyOfRange(x, 3, width + 3))
                    .as("width %d, in place", width)
                    .isEqualTo(Arrays.copyOfRange(expected, 2, width + 2));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {128, 256, 512})
    void rope_is_bit_identical_to_scalar_and_touches_its_pairs_only(int bits) {
        Kernels vector = new VectorKernels(bits).create(new Fp32Weights(), CONTEXT);
        Random random = new Random(bits);
        for (int pairs : SIZES) {
            float[] expected = KernelFixtures.normal(random, 3 + 2 * pairs + 2);
            float[] actual = expected.clone();
            float[] rope = KernelFixtures.normal(random, 5 + 2 * pairs);
            scalar.rows().rotate(expected, 3, rope, 5, pairs);
            float[] before = actual.clone();
            vector.rows().rotate(actual, 3, rope, 5, pairs);
            assertThat(actual).as("%d pairs", pairs).isEqualTo(expected);
            assertThat(Arrays.copyOf(actual, 3)).isEqualTo(Arrays.copyOf(before, 3));
            assertThat(Arrays.copyOfRange(actual, 3 + 2 * pairs, actual.length))
                    .isEqualTo(Arrays.copyOfRange(before, 3 + 2 * pairs, before.length));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {128, 256, 512})
    void elementwise_product_is_bit_identical_to_scalar(int bits) {
        Kernels vector = new VectorKernels(bits).create(new Fp32Weights(), CONTEXT);
        Random random = new Random(bits);
        for (int size : SIZES) {
            float[] expected = KernelFixtures.normal(random, size + 2);
            float[] actual = expected.clone();
            float[] factors = KernelFixtures.normal(random, size);
            scalar.rows().multiply(expected, factors, size);
            vector.rows().multiply(actual, factors, size);
            assertThat(actual).as("%d elements", size).isEqualTo(expected);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {128, 256, 512})
    void activations_are_bit_identical_to_scalar_over_the_whole_range(int bits) {
        Kernels vector = new VectorKernels(bits).create(new Fp32Weights(), CONTEXT);
        float[] edges = {
            0f,
            -0f,
            1e-30f,
            -1e-30f,
            5.5f,
            -5.5f,
            13f,
            -13f,
            90f,
            -90f,
            1e30f,
            -1e30f,
            Float.NaN,
            Float.POSITIVE_INFINITY,
            Float.NEGATIVE_INFINITY,
            Float.MIN_VALUE,
            Float.MAX_VALUE
        };
        for (Activation activation : Activation.values()) {
            for (int size : SIZES) {
                float[] x = KernelFixtures.normal(new Random(size), size);
                for (int i = 0; i < size; i++) {
                    x[i] = i % 3 == 0 ? edges[i / 3 % edges.length] : 4 * x[i];
                }
                float[] expected = x.clone();
                float[] actual = x.clone();
                scalar.rows().activate(activation, expected, size);
                vector.rows().activate(activation, actual, size);
                assertThat(actual)
                        .as("%s of %s", activation, Arrays.toString(x))
                        .isEqualTo(expected);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {128, 256, 512})
    void attention_is_bit_identical_to_scalar_for_every_head_and_block_size(int bits) {
        Random random = new Random(bits);
        for (int headSize : new int[] {1, 3, 8, 15, 16, 17, 33, 64, 80}) {
            for (int blockSize : new int[] {1, 3, 4, 8, 15, 16, 17, 32, 33}) {
                for (int count : new int[] {1, 3, 4, 7, 8}) {
                    assertAttentionEqual(bits, random, headSize, blockSize, count, 1 + random.nextInt(200));
                }
            }
        }
        assertAttentionEqual(bits, random, 64, 16, 1, CONTEXT);
        assertAttentionEqual(bits, random, 64, 16, 8, CONTEXT - 7);
        assertAttentionEqual(bits, random, 16, 16, 8, 1);
    }

    @ParameterizedTest
    @ValueSource(ints = {128, 256, 512})
    void gqa_heads_are_bit_identical_to_single_heads(int bits) {
        Random random = new Random(bits);
        for (int headSize : new int[] {1, 8, 15, 16, 33, 64, 80, 128}) {
            for (int blockSize : new int[] {1, 3, 16, 17, 33}) {
                for (int count = 1; count <= Attention.MAX_QUERIES; count++) {
                    assertHeadsEqual(bits, random, headSize, blockSize, count, 1 + random.nextInt(200));
                }
            }
        }
        assertHeadsEqual(bits, random, 64, 16, 8, CONTEXT);
        assertHeadsEqual(bits, random, 64, 16, 7, 1);
    }

    @ParameterizedTest
    @ValueSource(ints = {128, 256, 512})
    void windowed_attention_is_bit_identical_to_scalar(int bits) {
        Random random = new Random(bits);
        for (int window : new int[] {1, 2, 3, 4, 7, 15, 16, 17, 40, 199}) {
            for (int blockSize : new int[] {1, 3, 16, 33}) {
                for (int count : new int[] {1, 3, 4, 8}) {
                    int headSize = 1 + random.nextInt(80);
                    int length = 1 + random.nextInt(200);
                    assertAttentionEqual(bits, random, headSize, blockSize, count, length, window);
                    assertHeadsEqual(bits, random, headSize, blockSize, count, length, window);
                }
            }
        }
    }

    /** Overwrites keys and values that are invisible at {@code length} tokens or more. */
    private static void forget(KvView view, int length) {
        int blockSize = view.blockSize();
        for (int t = 0; t < view.firstSeen(length); t++) {
            for (int d = 0; d < view.headSize(); d++) {
                long key = view.keys(t / blockSize) + 4L * (d * blockSize + t % blockSize);
                long value = view.values(t / blockSize) + 4L * (t % blockSize * view.headSize() + d);
                view.memory().set(ValueLayout.JAVA_FLOAT, key, Float.NaN);
                view.memory().set(ValueLayout.JAVA_FLOAT, value, Float.NaN);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {128, 256, 512})
    void attention_supports_longer_contexts_after_ensure_capacity(int bits) {
        int headSize = 16;
        int length = 3 * Attention.INITIAL_CAPACITY / 2;
        Random random = new Random(bits);
        int[] blocks = IntStream.range(1, 1 + Math.ceilDiv(length, 16)).toArray();
        try (Arena arena = Arena.ofConfined()) {
            KvView view = new KvView(KernelFixtures.pool(arena, random, headSize, 16, blocks, length));
            view.move(blocks, 0, 0, 0, Integer.MAX_VALUE);
            float[] queries = KernelFixtures.normal(random, Attention.MAX_QUERIES * headSize);
            for (Kernels.Factory kind : List.of(new ScalarKernels(), new VectorKernels(bits))) {
                Attention attention = kind.create(new Fp32Weights(), 131_072).attention();
                float[] near = new float[Attention.MAX_QUERIES * headSize];
                attention.attendHeads(view, queries, 0, 8, Attention.INITIAL_CAPACITY, 0.3f, near);
                attention.ensureCapacity(length);
                float[] again = new float[Attention.MAX_QUERIES * headSize];
                attention.attendHeads(view, queries, 0, 8, Attention.INITIAL_CAPACITY, 0.3f, again);
                assertThat(again).as(kind.name()).isEqualTo(near);
                float[] far = new float[Attention.MAX_QUERIES * headSize];
                attention.attend(view, queries, 0, headSize, 8, length - 7, 0.3f, far);
                assertThat(far).as(kind.name()).doesNotContain(Float.NaN).isNotEqualTo(near);
                float[] alone = new float[headSize];
                Attention scalar =
                        new ScalarKernels().create(new Fp32Weights(), length).attention();
                scalar.ensureCapacity(length);
                scalar.attend(view, queries, 7 * headSize, headSize, 1, length, 0.3f, alone);
                assertThat(Arrays.copyOfRange(far, 7 * headSize, far.length))
                        .as(kind.name())
                        .isEqualTo(alone);
            }
        }
    }

    private void assertHeadsEqual(int bits, Random random, int headSize, int blockSize, int count, int length) {
        assertHeadsEqual(bits, random, headSize, blockSize, count, length, Integer.MAX_VALUE);
    }

    private void assertHeadsEqual(
            int bits, Random random, int headSize, int blockSize, int count, int length, int window) {
        Attention vector =
                new VectorKernels(bits).create(new Fp32Weights(), CONTEXT).attention();
        int[] blocks = IntStream.range(1, 1 + Math.ceilDiv(length, blockSize)).toArray();
        try (Arena arena = Arena.ofConfined()) {
            KvView view = new KvView(KernelFixtures.pool(arena, random, headSize, blockSize, blocks, length));
            view.move(blocks, 0, 0, 0, window);
            forget(view, length);
            float[] queries = KernelFixtures.normal(random, 2 + count * headSize);
            float[] expected = new float[count * headSize];
            float[] alone = new float[headSize];
            for (int head = 0; head < count; head++) {
                scalar.attention().attend(view, queries, 2 + head * headSize, headSize, 1, length, 0.3f, alone);
                System.arraycopy(alone, 0, expected, head * headSize, headSize);
            }
            float[] actual = new float[count * headSize];
            vector.attendHeads(view, queries, 2, count, length, 0.3f, actual);
            float[] reference = new float[count * headSize];
            scalar.attention().attendHeads(view, queries, 2, count, length, 0.3f, reference);
            assertThat(expected).doesNotContain(Float.NaN);
            assertThat(reference).isEqualTo(expected);
            assertThat(actual)
                    .as("head %d, block %d, %d heads, length %d, window %d", headSize, blockSize, count, length, window)
                    .isEqualTo(expected);
        }
    }

    private void assertAttentionEqual(int bits, Random random, int headSize, int blockSize, int count, int length) {
        assertAttentionEqual(bits, random, headSize, blockSize, count, length, Integer.MAX_VALUE);
    }

    private void assertAttentionEqual(
            int bits, Random random, int headSize, int blockSize, int count, int length, int window) {
        Attention vector =
                new VectorKernels(bits).create(new Fp32Weights(), CONTEXT).attention();
        int tokens = length + count - 1;
        int[] blocks = new int[Math.ceilDiv(tokens, blockSize)];
        for (int i = 0; i < blocks.length; i++) {
            blocks[i] = blocks.length - i;
        }
        try (Arena arena = Arena.ofConfined()) {
            KvPool pool = KernelFixtures.pool(arena, random, headSize, blockSize, blocks, tokens);
            KvView view = new KvView(pool);
            view.move(blocks, 0, 0, 0, window);
            forget(view, length);
            int stride = headSize + 5;
            float[] queries = KernelFixtures.normal(random, 2 + count * stride);
            float[] expected = new float[count * headSize];
            float[] actual = new float[count * headSize];
            scalar.attention().attend(view, queries, 2, stride, count, length, 0.3f, expected);
            vector.attend(view, queries, 2, stride, count, length, 0.3f, actual);
            assertThat(expected).doesNotContain(Float.NaN);
            assertThat(actual)
                    .as(
                            "head %d, block %d, %d queries from length %d, window %d",
                            headSize, blockSize, count, length, window)
                    .isEqualTo(expected);
        }
    }
}
