package io.roseinfer.backend.cpu;

import io.roseinfer.backend.Precision;
import io.roseinfer.backend.cpu.kernel.Kernels;
import io.roseinfer.backend.cpu.kernel.KvPool;
import io.roseinfer.backend.cpu.kernel.MatmulInput;
import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import io.roseinfer.backend.cpu.kernel.QuantizedRows;
import io.roseinfer.backend.cpu.kernel.RowTiles;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import io.roseinfer.model.ArraySource;
import io.roseinfer.model.Matrix;
import io.roseinfer.model.Matrix.Layout;
import io.roseinfer.model.StoredTensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/** Random operands for kernels, packed as by the runner. */
final class KernelFixtures {
    /** The precisions of all weight formats. */
    static final List<Precision> PRECISIONS =
            WeightFormat.all().stream().map(WeightFormat::precision).toList();

    private KernelFixtures() {}

    static float[] normal(Random random, int count) {
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return values;
    }

    /** Packs {@code values} of shape [inputs, outputs]. */
    static PackedMatrix pack(Arena arena, WeightFormat format, float[] values, int inputs, int outputs) {
        return pack(arena, format, values, inputs, outputs, false);
    }

    /** Packs {@code values} of shape [outputs, inputs] if {@code byOutput}, else [inputs, outputs]. */
    static PackedMatrix pack(
            Arena arena, WeightFormat format, float[] values, int inputs, int outputs, boolean byOutput) {
        long[] shape = byOutput ? new long[] {outputs, inputs} : new long[] {inputs, outputs};
        StoredTensor tensor = new ArraySource().put("matrix", values, shape);
        Layout layout = byOutput ? Layout.OUT_IN : Layout.IN_OUT;
        Matrix matrix = Matrix.of(tensor, inputs, outputs, layout, Optional.empty());
        float[] scales = new float[format.scalesOutputs() ? PackedMatrix.panels(outputs) * PackedMatrix.COLUMNS : 0];
        MemorySegment memory = arena.allocate(PackedMatrix.bytes(format, inputs, outputs), 64);
        PackedMatrix packed = new PackedMatrix(format, inputs, outputs, memory, scales);
        PanelPacker packer = new PanelPacker(matrix.open(arena), packed, new PanelOrder(outputs, false));
        for (int panel = 0; panel < packed.panels(); panel++) {
            packer.pack(panel, new PackingBuffer(inputs));
        }
        return packed;
    }

    /** Returns the unscaled accumulators of one panel for row-major activations. */
    static float[] product(Kernels kernels, float[] x, int rows, PackedMatrix weights, int panel) {
        int inputs = weights.inputs();
        int tallest = kernels.blocks().tallestTile();
        MatmulInput input = MatmulInput.zeros(weights.format(), rows, inputs);
        int[] words = new int[QuantizedRows.words(inputs)];
        for (int row = 0; row < rows; row++) {
            if (input.isQuantized()) {
                kernels.rows().quantize(x, row * inputs, inputs, words);
                QuantizedRows.put(words, inputs, input.words(), row, rows, tallest);
            } else {
                RowTiles.put(x, row * inputs, inputs, input.floats(), inputs, 0, row, rows, tallest);
            }
        }
        float[] sums = new float[rows * PackedMatrix.COLUMNS];
        Arrays.fill(sums, Float.NaN);
        kernels.blocks().multiply(input, rows, weights, panel, sums);
        return sums;
    }

    /** Returns a pool with random keys and values in slots {@code 0 … tokens - 1} of the block table, and NaN elsewhere. */
    static KvPool pool(Arena arena, Random random, int headSize, int blockSize, int[] blocks, int tokens) {
        int count = blocks.length + 1;
        MemorySegment memory = arena.allocate(KvPool.bytes(count * KvPool.blockBytes(1, 1, headSize, blockSize)), 64);
        KvPool pool = new KvPool(memory, 1, 1, headSize, blockSize);
        for (int block = 0; block < count; block++) {
            pool.poison(block);
        }
        for (int t = 0; t < tokens; t++) {
            float[] source = normal(random, 2 * headSize);
            pool.append(blocks[t / blockSize] * blockSize + t % blockSize, 0, 0, source, 0, headSize);
        }
        return pool;
    }
}
