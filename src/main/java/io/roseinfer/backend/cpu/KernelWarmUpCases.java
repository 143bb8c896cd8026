package io.roseinfer.backend.cpu;

import io.roseinfer.backend.cpu.kernel.Attention;
import io.roseinfer.backend.cpu.kernel.Kernels;
import io.roseinfer.backend.cpu.kernel.KvPool;
import io.roseinfer.backend.cpu.kernel.KvView;
import io.roseinfer.backend.cpu.kernel.MatmulInput;
import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import io.roseinfer.backend.cpu.kernel.PanelMatmul;
import io.roseinfer.backend.cpu.kernel.QuantizedRows;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import io.roseinfer.model.BlockSpec;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Positions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Calls that run every loop of a set of kernels over zeros: each tile height and weight format, attention for one query and a group over
 * few and many key vectors, and the row functions.
 *
 * <p>Matmuls have {@value #INPUTS} inputs even for narrow models. C2 unrolls a tile's loop by observed trip counts: after loops of up to
 * 128 trips the code stayed 30 to 40 % slower for the life of the process; from 512 trips on it did not.
 */
final class KernelWarmUpCases {
    /** Inputs of the matmuls, at least one block of {@code FloatMatmul}. */
    private static final int INPUTS = 768;

    private static final int PANELS = 3;

    /** Context lengths: within one vector, several, and more than a kernel processes at once. */
    private static final int[] LENGTHS = {5, 75, 203};

    /** Context length of the kernels to warm up. */
    private static final int CONTEXT = LENGTHS[LENGTHS.length - 1] + Attention.MAX_QUERIES;

    private final ModelSpec spec;
    private final WeightFormat format;
    private final List<PackedMatrix> matrices;
    private final KvPool pool;
    private final int[] blocks;

    /** Creates the data for a model's kernels, {@link #bytes} of it in {@code memory}. */
    KernelWarmUpCases(ModelSpec spec, WeightFormat format, int blockSize, SegmentAllocator memory) {
        this.spec = spec;
        this.format = format;
        matrices = formats(format).map(each -> matrix(each, memory)).toList();
        int count = Math.ceilDiv(CONTEXT, blockSize);
        long poolBytes = poolBytes(spec, blockSize);
        pool = new KvPool(zeros(memory, poolBytes), 1, 1, spec.attention().headSize(), blockSize);
        blocks = IntStream.range(0, count).toArray();
    }

    /** Returns the bytes of memory for a model's cases. */
    static long bytes(ModelSpec spec, WeightFormat format, int blockSize) {
        return poolBytes(spec, blockSize)
                + formats(format)
                        .mapToLong(each -> PackedMatrix.bytes(each, INPUTS, PANELS * PackedMatrix.COLUMNS))
                        .sum();
    }

    private static Stream<WeightFormat> formats(WeightFormat format) {
        return Stream.of(format, format.ofHead()).distinct();
    }

    private static long poolBytes(ModelSpec spec, int blockSize) {
        return KvPool.bytes(Math.ceilDiv(CONTEXT, blockSize)
                * KvPool.blockBytes(1, 1, spec.attention().headSize(), blockSize));
    }

    private static PackedMatrix matrix(WeightFormat format, SegmentAllocator memory) {
        int outputs = PANELS * PackedMatrix.COLUMNS;
        MemorySegment panels = zeros(memory, PackedMatrix.bytes(format, INPUTS, outputs));
        return new PackedMatrix(format, INPUTS, outputs, panels, new float[0]);
    }

    private static MemorySegment zeros(SegmentAllocator memory, long bytes) {
        return memory.allocate(bytes, 64).fill((byte) 0);
    }

    /** Returns calls that together run every loop of a new set of kernels; each may run repeatedly. */
    List<Runnable> of(Kernels.Factory kind) {
        Kernels kernels = kind.create(format, CONTEXT);
        List<Runnable> calls = new ArrayList<>();
        for (PackedMatrix matrix : matrices) {
            products(matrix.format().equals(format) ? kernels.blocks() : kernels.head(), matrix, calls);
        }
        attention(kernels.attention(), calls);
        rows(kernels, calls);
        return calls;
    }

    private static void products(PanelMatmul product, PackedMatrix matrix, List<Runnable> calls) {
        for (int rows : product.representativeRows()) {
            float[] sums = new float[rows * PackedMatrix.COLUMNS];
            MatmulInput x = MatmulInput.zeros(matrix.format(), rows, INPUTS);
            calls.add(() -> {
                for (int panel = 0; panel < PANELS; panel++) {
                    product.multiply(x, rows, matrix, panel, sums);
                }
            });
        }
    }

    private void attention(Attention attention, List<Runnable> calls) {
        KvView view = new KvView(pool);
        view.move(blocks, 0, 0, 0, BlockSpec.Attention.UNLIMITED);
        int headSize = spec.attention().headSize();
        float[] queries = new float[Attention.MAX_QUERIES * headSize];
        float[] output = new float[Attention.MAX_QUERIES * headSize];
        for (int count : new int[] {1, Attention.MAX_QUERIES}) {
            calls.add(() -> {
                for (int length : LENGTHS) {
                    attention.attend(view, queries, 0, headSize, count, length, 1f, output);
                }
            });
        }
        int group = spec.attention().heads() / spec.attention().kvHeads();
        if (group > 1) {
            int together = Math.min(group, Attention.MAX_QUERIES);
            calls.add(() -> {
                for (int length : LENGTHS) {
                    attention.attendHeads(view, queries, 0, together, length, 1f, output);
                }
            });
        }
    }

    /** Adds QK norm and RoPE. */
    private void heads(Kernels kernels, List<Runnable> calls) {
        float[] head = new float[spec.attention().headSize()];
        if (spec.attention().qkNorms()) {
            calls.add(() -> kernels.rows().rmsNorm(head, 0, head, 1f, head, 0));
        }
        if (spec.block(0).positions() instanceof Positions.Rope rope) {
            float[] table = new float[rope.rotarySize()];
            calls.add(() -> kernels.rows().rotate(head, 0, table, 0, rope.rotarySize() / 2));
        }
    }

    private void rows(Kernels kernels, List<Runnable> calls) {
        float[] row = new float[spec.width()];
        float[] weight = new float[spec.width()];
        float[] normed = new float[spec.width()];
        Arrays.fill(row, 0, spec.width() / 2, 1f);
        BlockSpec.Norm norm = spec.head().norm();
        ModelWeights.Norm exercised = new ModelWeights.Norm(norm.kind(), weight, weight, norm.epsilon());
        calls.add(() -> exercised.apply(kernels.rows(), row, 0, normed));
        float[] inner = new float[2 * PackedMatrix.COLUMNS];
        calls.add(() -> kernels.rows().activate(spec.mlp().activation(), inner, inner.length));
        if (spec.mlp().gated()) {
            calls.add(() -> kernels.rows().multiply(inner, inner, inner.length));
        }
        heads(kernels, calls);
        if (formats(format).anyMatch(WeightFormat::quantizesInputs)) {
            int[] words = new int[QuantizedRows.words(spec.width())];
            calls.add(() -> kernels.rows().quantize(row, 0, spec.width(), words));
        }
    }
}
