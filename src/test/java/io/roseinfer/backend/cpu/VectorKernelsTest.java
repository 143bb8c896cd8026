package io.roseinfer.backend.cpu;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;
import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.cpu.kernel.Attention;
import io.roseinfer.backend.cpu.kernel.Kernels;
import io.roseinfer.backend.cpu.kernel.KvPool;
import io.roseinfer.backend.cpu.kernel.KvView;
import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import io.roseinfer.backend.cpu.panama.VectorKernels;
import io.roseinfer.backend.cpu.scalar.ScalarKernels;
import io.roseinfer.model.Activation;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every vector kernel, at every width, gives the scalar reference's bits. */
class VectorKernelsTest {
    private static final int[] SIZES = {
        1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 257, 768, 769, 1601
    };
    private static final int CONTEXT = 300;

    private final Kernels scalar = new ScalarKernels().create(CONTEXT);

    @ParameterizedTest
    @ValueSource(ints = {128, 256, 512})
    void products_equal_the_scalar_ones_for_every_format_and_size(int bits) {
        Kernels vector = new VectorKernels(bits).create(CONTEXT);
        int[] rowCounts = {1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 23, 40};
        Random random = new Random(bits);
        for (WeightFormat format : WeightFormat.values()) {
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
            float[] tiles =
                    KernelFixtures.tiles(x, rows, inputs, vector.product().tallestTile());
            float[] expected = new float[rows * COLUMNS];
            float[] actual = new float[rows * COLUMNS];
            for (int panel = 0; panel < packed.panels(); panel++) {
                scalar.product().multiply(x, rows, packed, panel, expected);
                Arrays.fill(actual, Float.NaN);
                vector.product().multiply(tiles, rows, packed, panel, actual);
                assertThat(actual)
                        .as("%s, %d rows, %d inputs, panel %d", format, rows, inputs, panel)
                        .isEqualTo(expected);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {128, 256, 512})
    void layer_norms_equal_the_scalar_ones(int bits) {
        Kernels vector = new VectorKernels(bits).create(CONTEXT);
        Random random = new Random(bits);
        for (int width : SIZES) {
            float[] x = KernelFixtures.normal(random, width + 3);
            float[] gain = KernelFixtures.normal(random, width);
            float[] bias = KernelFixtures.normal(random, width);
            float[] expected = new float[width];
            float[] actual = new float[width];
            scalar.rows().layerNorm(x, 3, gain, bias, 1e-5f, expected);
            vector.rows().layerNorm(x, 3, gain, bias, 1e-5f, actual);
            assertThat(actual).as("width %d", width).isEqualTo(expected);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {128, 256, 512})
    void activations_equal_the_scalar_ones_even_at_the_edges_of_the_range(int bits) {
        Kernels vector = new VectorKernels(bits).create(CONTEXT);
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
    void attention_equals_the_scalar_one_for_every_head_and_block_size_and_leaves_unwritten_slots_alone(int bits) {
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

    private void assertAttentionEqual(int bits, Random random, int headSize, int blockSize, int count, int length) {
        Attention vector = new VectorKernels(bits).create(CONTEXT).attention();
        int tokens = length + count - 1;
        int[] blocks = new int[Math.ceilDiv(tokens, blockSize)];
        for (int i = 0; i < blocks.length; i++) {
            blocks[i] = blocks.length - i;
        }
        try (Arena arena = Arena.ofConfined()) {
            KvPool pool = KernelFixtures.pool(arena, random, headSize, blockSize, blocks, tokens);
            KvView view = new KvView(pool);
            view.move(blocks, 0, 0, 0);
            int stride = headSize + 5;
            float[] queries = KernelFixtures.normal(random, 2 + count * stride);
            float[] expected = new float[count * headSize];
            float[] actual = new float[count * headSize];
            scalar.attention().attend(view, queries, 2, stride, count, length, 0.3f, expected);
            vector.attend(view, queries, 2, stride, count, length, 0.3f, actual);
            assertThat(expected).doesNotContain(Float.NaN);
            assertThat(actual)
                    .as("head %d, block %d, %d queries from length %d", headSize, blockSize, count, length)
                    .isEqualTo(expected);
        }
    }
}
