package io.roseinfer.backend.cuda;

import io.roseinfer.backend.cuda.DeviceWeights.Layer;
import io.roseinfer.backend.cuda.DeviceWeights.Projection;
import io.roseinfer.backend.cuda.launch.Launcher;
import io.roseinfer.backend.cuda.memory.DeviceMemory;
import io.roseinfer.backend.cuda.memory.ElementType;
import io.roseinfer.backend.cuda.memory.ModelShape;
import io.roseinfer.base.Check;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.model.Matrix;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.StoredTensor;
import io.roseinfer.model.Vector;
import io.roseinfer.model.Weights;
import io.roseinfer.tensor.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Brings a checkpoint to the device: tensors go up as they are, and the kernels of {@code load.cu} widen, fold, pad and pack
 * them there.
 */
final class WeightUpload {
    private static final int THREADS = 256;
    private static final int WARP = 32;

    /** The axis of a matrix that consists of heads, and is padded head by head. */
    private enum Heads {
        NEITHER,
        OUTPUTS,
        INPUTS
    }

    private record Norm(long gain, ElementType gainType, long bias, ElementType biasType) {
        static final Norm NONE = new Norm(0, ElementType.F32, 0, ElementType.F32);
    }

    private record Source(long address, ElementType type) {
        static final Source NONE = new Source(0, ElementType.F32);
    }

    private final Weights weights;
    private final ModelSpec spec;
    private final ModelShape shape;
    private final DeviceMemory memory;
    private final Launcher launcher;
    /** Checkpoint tensors on the device, needed until the kernels that read them are done. */
    private final List<Long> passing = new ArrayList<>();

    WeightUpload(Weights weights, ModelShape shape, DeviceMemory memory, Launcher launcher) {
        this.weights = weights;
        this.spec = shape.spec();
        this.shape = shape;
        this.memory = memory;
        this.launcher = launcher;
    }

    DeviceWeights run() {
        long tokens = table(weights.embedding(), "token embedding");
        long positions = table(weights.positions().orElseThrow(), "position embedding");
        List<Layer> layers = new ArrayList<>();
        for (Weights.Block block : weights.blocks()) {
            layers.add(layer(block));
        }
        Norm norm = norm(weights.norm());
        Projection head = projection("output head", weights.head(), norm, Heads.NEITHER);
        release();
        return new DeviceWeights(tokens, positions, layers, head);
    }

    private Layer layer(Weights.Block block) {
        Norm attention = norm(block.attentionNorm());
        Norm mlp = norm(block.mlpNorm());
        Layer layer = new Layer(
                projection("attention weights", block.qkv(), attention, Heads.OUTPUTS),
                projection("attention weights", block.output(), Norm.NONE, Heads.INPUTS),
                projection("MLP weights", block.inner(), mlp, Heads.NEITHER),
                projection("MLP weights", block.down(), Norm.NONE, Heads.NEITHER));
        release();
        return layer;
    }

    private Projection projection(String name, Matrix from, Norm norm, Heads heads) {
        int inputs = from.inputs();
        int outputs = from.outputs();
        int inputMajor = from.layout() == Matrix.Layout.IN_OUT ? 1 : 0;
        Source matrix = upload(stored(from));
        Source bias = upload(from.bias());
        int paddedOutputs = ModelShape.roundUp(heads == Heads.OUTPUTS ? 3 * shape.attention() : outputs, 128);
        int paddedInputs = ModelShape.roundUp(heads == Heads.INPUTS ? shape.attention() : inputs, 128);
        Projection packed = new Projection(
                memory.allocate(
                        name, (long) paddedOutputs * paddedInputs * shape.type().bytes()),
                memory.allocate("biases and column sums", 4L * paddedOutputs),
                memory.allocate("biases and column sums", 4L * paddedOutputs),
                paddedOutputs,
                paddedInputs);
        int outputHead = heads == Heads.OUTPUTS ? spec.attention().headSize() : 1;
        int outputPad = heads == Heads.OUTPUTS ? shape.headPad() : 1;
        launch("pack_" + shape.type().suffix(), (long) paddedOutputs * paddedInputs)
                .address(matrix.address())
                .integer(matrix.type().number())
                .integer(inputs)
                .integer(outputs)
                .integer(inputMajor)
                .address(norm.gain())
                .integer(norm.gainType().number())
                .integer(outputHead)
                .integer(outputPad)
                .integer(heads == Heads.INPUTS ? spec.attention().headSize() : 1)
                .integer(heads == Heads.INPUTS ? shape.headPad() : 1)
                .address(packed.panels())
                .integer(paddedOutputs)
                .integer(paddedInputs)
                .launch();
        launch("column_sums_" + shape.type().suffix(), (long) WARP * paddedOutputs)
                .address(packed.panels())
                .integer(paddedOutputs)
                .integer(paddedInputs)
                .address(packed.columnSums())
                .launch();
        launch("fold_bias", (long) WARP * paddedOutputs)
                .address(matrix.address())
                .integer(matrix.type().number())
                .integer(inputs)
                .integer(outputs)
                .integer(inputMajor)
                .address(bias.address())
                .integer(bias.type().number())
                .address(norm.bias())
                .integer(norm.biasType().number())
                .integer(outputHead)
                .integer(outputPad)
                .address(packed.bias())
                .integer(paddedOutputs)
                .launch();
        return packed;
    }

    /** A matrix that is looked up by row. */
    private long table(Matrix rows, String name) {
        Check.that(rows.layout() == Matrix.Layout.OUT_IN, "a table is not stored row by row");
        Source source = upload(stored(rows));
        long elements = (long) rows.outputs() * rows.inputs();
        long target = memory.allocate(name, elements * shape.type().bytes());
        launch("convert_" + shape.type().suffix(), elements)
                .address(source.address())
                .integer(source.type().number())
                .address(target)
                .address(elements)
                .launch();
        release();
        return target;
    }

    private Launcher launch(String kernel, long elements) {
        return launcher.kernel(kernel)
                .grid(Math.toIntExact(Math.ceilDiv(elements, THREADS)), 1)
                .block(THREADS)
                .afterAll();
    }

    private Norm norm(Weights.Norm norm) {
        Source gains = upload(Optional.of(norm.gain()));
        Source biases = upload(norm.bias());
        return new Norm(gains.address(), gains.type(), biases.address(), biases.type());
    }

    private Source upload(Optional<Vector> vector) {
        return vector.isEmpty() ? Source.NONE : upload(vector.get().asStored().orElseThrow(this::scattered));
    }

    private StoredTensor stored(Matrix matrix) {
        return matrix.asStored().orElseThrow(this::scattered);
    }

    private BadModel scattered() {
        return new BadModel(
                weights.description() + ": has matrices or biases that are put together from several tensors,"
                        + " which device cuda cannot load; use --device cpu");
    }

    private Source upload(StoredTensor stored) {
        try (Arena reading = Arena.ofShared()) {
            Tensor tensor = stored.read(reading);
            MemorySegment data = tensor.data().isNative()
                    ? tensor.data()
                    : reading.allocate(tensor.data().byteSize(), 64).copyFrom(tensor.data());
            long address = memory.allocate("checkpoint tensors on their way", data.byteSize());
            passing.add(address);
            launcher.stream().copyToDevice(address, data, data.byteSize());
            launcher.stream().synchronize();
            return new Source(address, ElementType.of(tensor.dtype()));
        }
    }

    private void release() {
        launcher.stream().synchronize();
        passing.forEach(memory::free);
        passing.clear();
    }
}
