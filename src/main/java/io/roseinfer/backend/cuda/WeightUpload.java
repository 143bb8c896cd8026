package io.roseinfer.backend.cuda;

import io.roseinfer.backend.cuda.DeviceWeights.Heads;
import io.roseinfer.backend.cuda.DeviceWeights.Layer;
import io.roseinfer.backend.cuda.DeviceWeights.Projection;
import io.roseinfer.backend.cuda.TransientUploads.Source;
import io.roseinfer.backend.cuda.driver.CudaStream;
import io.roseinfer.base.Check;
import io.roseinfer.model.BlockSpec;
import io.roseinfer.model.BlockSpec.Norm.Kind;
import io.roseinfer.model.Matrix;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Outputs;
import io.roseinfer.model.Positions.Rope;
import io.roseinfer.model.RopeTable;
import io.roseinfer.model.Vector;
import io.roseinfer.model.Weights;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/** Uploads a checkpoint: tensors are copied as stored, and the kernels of {@code load.cu} convert, fold, pad and pack them. */
final class WeightUpload {
    private static final int THREADS = 256;
    private static final int WARP = 32;
    private static final int BYTES_PER_THREAD = 4;

    /**
     * The packing of a matrix.
     *
     * @param name of its allocation
     * @param order of its rows, from {@link RowOrder}
     * @param headSize head size if its inputs consist of heads, else 1
     * @param headPad padded head size
     */
    private record Packing(String name, int[] order, int headSize, int headPad) {
        Packing(String name, int[] order) {
            this(name, order, 1, 1);
        }

        int inputs(int count) {
            return ModelShape.roundUp(count / headSize * headPad, 128);
        }
    }

    /** The norm before a matrix. */
    private record Before(Weights.Norm norm, Kind kind) {
        Optional<Vector> bias() {
            return kind == Kind.LAYER ? norm.bias() : Optional.empty();
        }
    }

    /** A lookup table, with the scales of its rows if it is int8, else 0. */
    private record Table(long rows, long scales) {}

    private final Weights weights;
    private final ModelSpec spec;
    private final ModelShape shape;
    private final DeviceMemory memory;
    private final CudaStream stream;
    private final Launcher launcher;
    private final TransientUploads uploads;
    private final Map<Rope, Long> ropeTables = new HashMap<>();

    WeightUpload(Weights weights, ModelShape shape, DeviceMemory memory, CudaStream stream, Launcher launcher) {
        this.weights = weights;
        this.spec = shape.spec();
        this.shape = shape;
        this.memory = memory;
        this.launcher = launcher;
        this.stream = stream;
        this.uploads = new TransientUploads(memory, stream);
    }

    DeviceWeights run() {
        Table tokens = tokens();
        long positions = weights.positions()
                .map(rows -> table(rows, "position embedding"))
                .orElse(0L);
        List<Layer> layers = new ArrayList<>();
        for (int i = 0; i < spec.layers(); i++) {
            layers.add(layer(weights.blocks().get(i), spec.block(i)));
        }
        Before norm = new Before(weights.norm(), spec.head().norm().kind());
        Projection head = projection(
                weights.head(),
                Optional.of(norm),
                new Packing("output head", RowOrder.plain(weights.head().outputs())));
        uploads.release();
        return new DeviceWeights(tokens.rows(), tokens.scales(), positions, layers, head);
    }

    private Layer layer(Weights.Block block, BlockSpec of) {
        Kind kind = of.norm().kind();
        int headSize = of.attention().headSize();
        int[] heads = RowOrder.heads(of.attention(), shape.headPad(), ModelShape.rotarySize(of));
        int[] inner = of.mlp().gated()
                ? RowOrder.gated(of.mlp().inner())
                : RowOrder.plain(of.mlp().inner());
        int[] width = RowOrder.plain(spec.width());
        Layer layer = new Layer(
                projection(
                        block.qkv(),
                        Optional.of(new Before(block.attentionNorm(), kind)),
                        new Packing("attention weights", heads)),
                heads(block.qkNorms(), of),
                projection(
                        block.output(),
                        Optional.empty(),
                        new Packing("attention weights", width, headSize, shape.headPad())),
                projection(
                        block.inner(),
                        Optional.of(new Before(block.mlpNorm(), kind)),
                        new Packing("MLP weights", inner)),
                projection(block.down(), Optional.empty(), new Packing("MLP weights", width)));
        uploads.release();
        return layer;
    }

    private Heads heads(Optional<Weights.QkNorms> norms, BlockSpec of) {
        Check.that(norms.isEmpty() || of.norm().kind() == Kind.RMS, "QK norm is an RMS norm");
        long normWeights =
                norms.map(each -> normWeights(each, ModelShape.rotarySize(of))).orElse(0L);
        long table = of.positions() instanceof Rope rope ? ropeTables.computeIfAbsent(rope, this::ropeTable) : 0;
        return new Heads(normWeights, table);
    }

    private long normWeights(Weights.QkNorms norms, int rotarySize) {
        float[] packed = new float[2 * shape.headPad()];
        float[] queries = norms.queries().weight().read();
        float[] keys = norms.keys().weight().read();
        for (int i = 0; i < queries.length; i++) {
            packed[RowOrder.packedIndex(i, rotarySize)] = queries[i];
            packed[shape.headPad() + RowOrder.packedIndex(i, rotarySize)] = keys[i];
        }
        return keep("biases and column sums", packed);
    }

    /** Uploads cosine and sine of each packed pair; unrotated elements have 1 and 0. */
    private long ropeTable(Rope rope) {
        int pairs = rope.rotarySize() / 2;
        float[] table = RopeTable.rows(rope, 0, spec.contextLength());
        float[] packed = new float[Math.multiplyExact(spec.contextLength(), shape.headPad())];
        for (int position = 0; position < spec.contextLength(); position++) {
            int from = position * rope.rotarySize();
            int to = position * shape.headPad();
            for (int pair = 0; pair < shape.headPad() / 2; pair++) {
                packed[to + 2 * pair] = pair < pairs ? table[from + pair] : 1;
                packed[to + 2 * pair + 1] = pair < pairs ? table[from + pairs + pair] : 0;
            }
        }
        return keep("rotary positions", packed);
    }

    private long keep(String name, float[] values) {
        long address = memory.allocate(name, 4L * values.length);
        uploads.floats(values, address);
        return address;
    }

    private Projection projection(Matrix from, Optional<Before> norm, Packing packing) {
        int[] order = packing.order();
        int inputs = packing.inputs(from.inputs());
        long size = (long) order.length * inputs * shape.weights().bytes();
        boolean biased = from.bias().isPresent() || norm.flatMap(Before::bias).isPresent();
        Projection packed = new Projection(
                memory.allocate(packing.name(), size),
                biased ? keep("biases and column sums", bias(from, order)) : 0,
                memory.allocate("biases and column sums", 4L * order.length),
                shape.weights().scalesOutputs()
                        ? norm.map(before -> normWeights(before.norm(), inputs)).orElse(0L)
                        : 0,
                order.length,
                inputs);
        stream.fill(packed.panels(), 0, size);
        stream.fill(packed.columnTerms(), 0, 4L * order.length);
        Packer packer =
                shape.weights().scalesOutputs() ? scaled(from, packing, packed) : folded(from, norm, packing, packed);
        int start = 0;
        for (Outputs part : from.parts()) {
            int[] numbers = IntStream.range(0, part.count()).map(part::stored).toArray();
            packer.pack(uploads.tensor(part.tensor()), uploads.integers(RowOrder.part(order, start, numbers)));
            start += part.count();
        }
        if (norm.isPresent() && norm.get().kind() == Kind.LAYER) {
            launch("column_sums_" + shape.type().suffix(), (long) WARP * packed.outputs())
                    .address(packed.panels())
                    .integer(packed.outputs())
                    .integer(packed.inputs())
                    .address(packed.columnTerms())
                    .launch();
        }
        return packed;
    }

    /** Uploads the weights of a norm, padded to {@code columns}. */
    private long normWeights(Weights.Norm norm, int columns) {
        return keep("norm weights", Arrays.copyOf(norm.weight().read(), columns));
    }

    private static float[] bias(Matrix matrix, int[] order) {
        float[] packed = new float[order.length];
        matrix.bias().map(Vector::read).ifPresent(bias -> {
            for (int i = 0; i < order.length; i++) {
                packed[i] = order[i] == RowOrder.PADDING ? 0 : bias[order[i]];
            }
        });
        return packed;
    }

    /** Packs the outputs of a matrix in one tensor; {@code rows} is the address of their order. */
    private interface Packer {
        void pack(Source tensor, long rows);
    }

    /** Returns a packer that folds in the norm before the matrix. */
    private Packer folded(Matrix matrix, Optional<Before> norm, Packing packing, Projection packed) {
        long normWeight =
                norm.map(each -> uploads.floats(each.norm().weight().read())).orElse(0L);
        long normBias = norm.flatMap(Before::bias)
                .map(each -> uploads.floats(each.read()))
                .orElse(0L);
        return (tensor, rows) -> {
            stored("pack_" + shape.type().suffix(), (long) packed.outputs() * packed.inputs(), matrix, tensor)
                    .address(normWeight)
                    .address(rows)
                    .integer(packing.headSize())
                    .integer(packing.headPad())
                    .address(packed.panels())
                    .integer(packed.outputs())
                    .integer(packed.inputs())
                    .launch();
            if (normBias != 0) {
                stored("fold_bias", (long) WARP * packed.outputs(), matrix, tensor)
                        .address(normBias)
                        .address(rows)
                        .address(packed.bias())
                        .integer(packed.outputs())
                        .launch();
            }
        };
    }

    /** Returns a packer for int8 with a scale per output. */
    private Packer scaled(Matrix matrix, Packing packing, Projection packed) {
        long inverses = uploads.floats(new float[packed.outputs()]);
        return (tensor, rows) -> {
            scales(matrix, tensor, rows, packed.columnTerms(), inverses, packed.outputs());
            stored("pack_int8", (long) packed.outputs() * packed.inputs() / BYTES_PER_THREAD, matrix, tensor)
                    .address(rows)
                    .integer(packing.headSize())
                    .integer(packing.headPad())
                    .address(inverses)
                    .address(packed.panels())
                    .integer(packed.outputs())
                    .integer(packed.inputs())
                    .launch();
        };
    }

    private void scales(Matrix matrix, Source tensor, long rows, long scales, long inverses, int outputs) {
        stored("int8_scales", (long) WARP * outputs, matrix, tensor)
                .address(rows)
                .address(scales)
                .address(inverses)
                .integer(outputs)
                .launch();
    }

    /** Begins the launch of a kernel whose first arguments are a stored matrix. */
    private Launcher stored(String kernel, long elements, Matrix matrix, Source tensor) {
        return launch(kernel, elements)
                .address(tensor.address())
                .integer(tensor.type().number())
                .integer(matrix.inputs())
                .integer(tensor.columns())
                .integer(matrix.layout() == Matrix.Layout.IN_OUT ? 1 : 0);
    }

    private Table tokens() {
        Matrix rows = weights.embedding();
        String name = "token embedding";
        if (!shape.weights().scalesOutputs()) {
            return new Table(table(rows, name), 0);
        }
        Source source = stored(rows);
        int tokens = rows.outputs();
        long elements = (long) tokens * rows.inputs();
        Table table = new Table(memory.allocate(name, elements), memory.allocate(name, 4L * tokens));
        long inverses = uploads.floats(new float[tokens]);
        long order = uploads.integers(IntStream.range(0, tokens).toArray());
        scales(rows, source, order, table.scales(), inverses, tokens);
        launch("int8_table", elements)
                .address(source.address())
                .integer(source.type().number())
                .integer(rows.inputs())
                .address(inverses)
                .address(table.rows())
                .address(elements)
                .launch();
        uploads.release();
        return table;
    }

    /** Uploads a lookup table in the activations' type. */
    private long table(Matrix rows, String name) {
        Source source = stored(rows);
        long elements = (long) rows.outputs() * rows.inputs();
        long target = memory.allocate(name, elements * shape.type().bytes());
        launch("convert_" + shape.type().suffix(), elements)
                .address(source.address())
                .integer(source.type().number())
                .address(target)
                .address(elements)
                .launch();
        uploads.release();
        return target;
    }

    private Source stored(Matrix rows) {
        Check.that(rows.layout() == Matrix.Layout.OUT_IN, "a table is not stored row by row");
        return uploads.tensor(rows.asStored().orElseThrow());
    }

    private Launcher launch(String kernel, long elements) {
        return launcher.kernel(kernel)
                .grid(Math.toIntExact(Math.ceilDiv(elements, THREADS)), 1)
                .block(THREADS)
                .afterAll();
    }
}
