package io.roseinfer.backend.cuda;

import io.roseinfer.backend.cuda.DeviceWeights.Layer;
import io.roseinfer.backend.cuda.DeviceWeights.Projection;
import io.roseinfer.model.Gpt2Weights;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.WeightSlot;
import io.roseinfer.tensor.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Brings a checkpoint to the device: tensors go up as they are, and the kernels of {@code load.cu} widen, fold, pad and pack
 * them there.
 */
final class WeightUpload {
    private static final int THREADS = 256;
    private static final int WARP = 32;

    /** What a matrix's padded axis is made of. */
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

    private final Gpt2Weights weights;
    private final ModelSpec spec;
    private final ModelShape shape;
    private final DeviceMemory memory;
    private final Launcher launcher;
    /** Checkpoint tensors on the device, needed until the kernels that read them are done. */
    private final List<Long> passing = new ArrayList<>();

    WeightUpload(Gpt2Weights weights, ModelShape shape, DeviceMemory memory, Launcher launcher) {
        this.weights = weights;
        this.spec = weights.spec();
        this.shape = shape;
        this.memory = memory;
        this.launcher = launcher;
    }

    DeviceWeights run() {
        long tokens = embedding(WeightSlot.TOKEN_EMBEDDING, "token embedding");
        long positions = embedding(WeightSlot.POSITION_EMBEDDING, "position embedding");
        List<Layer> layers = new ArrayList<>();
        for (int i = 0; i < spec.layers(); i++) {
            layers.add(layer(i));
        }
        Norm norm = norm(WeightSlot.FINAL_NORM_GAIN, WeightSlot.FINAL_NORM_BIAS, 0);
        Projection head = projection(
                "output head",
                upload(WeightSlot.HEAD, 0),
                Source.NONE,
                norm,
                Heads.NEITHER,
                false,
                spec.width(),
                spec.vocabularySize());
        release();
        return new DeviceWeights(tokens, positions, layers, head);
    }

    private Layer layer(int i) {
        int width = spec.width();
        Norm attention = norm(WeightSlot.ATTENTION_NORM_GAIN, WeightSlot.ATTENTION_NORM_BIAS, i);
        Norm mlp = norm(WeightSlot.MLP_NORM_GAIN, WeightSlot.MLP_NORM_BIAS, i);
        Layer layer = new Layer(
                block(WeightSlot.QKV, WeightSlot.QKV_BIAS, i, attention, Heads.OUTPUTS, width, 3 * width),
                block(
                        WeightSlot.ATTENTION_OUTPUT,
                        WeightSlot.ATTENTION_OUTPUT_BIAS,
                        i,
                        Norm.NONE,
                        Heads.INPUTS,
                        width,
                        width),
                block(WeightSlot.MLP_INNER, WeightSlot.MLP_INNER_BIAS, i, mlp, Heads.NEITHER, width, spec.innerWidth()),
                block(
                        WeightSlot.MLP_OUTPUT,
                        WeightSlot.MLP_OUTPUT_BIAS,
                        i,
                        Norm.NONE,
                        Heads.NEITHER,
                        spec.innerWidth(),
                        width));
        release();
        return layer;
    }

    private Projection block(
            WeightSlot matrix, WeightSlot bias, int layer, Norm norm, Heads heads, int inputs, int outputs) {
        boolean attention = matrix == WeightSlot.QKV || matrix == WeightSlot.ATTENTION_OUTPUT;
        String name = attention ? "attention weights" : "MLP weights";
        return projection(name, upload(matrix, layer), upload(bias, layer), norm, heads, true, inputs, outputs);
    }

    private Projection projection(
            String name,
            Source matrix,
            Source bias,
            Norm norm,
            Heads heads,
            boolean inputMajor,
            int inputs,
            int outputs) {
        int paddedOutputs = ModelShape.roundUp(heads == Heads.OUTPUTS ? 3 * shape.attention() : outputs, 128);
        int paddedInputs = ModelShape.roundUp(heads == Heads.INPUTS ? shape.attention() : inputs, 128);
        Projection packed = new Projection(
                memory.allocate(
                        name, (long) paddedOutputs * paddedInputs * shape.type().bytes()),
                memory.allocate("biases and column sums", 4L * paddedOutputs),
                memory.allocate("biases and column sums", 4L * paddedOutputs),
                paddedOutputs,
                paddedInputs);
        int outputHead = heads == Heads.OUTPUTS ? spec.headSize() : 1;
        int outputPad = heads == Heads.OUTPUTS ? shape.headPad() : 1;
        launch("pack_" + shape.type().suffix(), (long) paddedOutputs * paddedInputs)
                .address(matrix.address())
                .integer(matrix.type().number())
                .integer(inputs)
                .integer(outputs)
                .integer(inputMajor ? 1 : 0)
                .address(norm.gain())
                .integer(norm.gainType().number())
                .integer(outputHead)
                .integer(outputPad)
                .integer(heads == Heads.INPUTS ? spec.headSize() : 1)
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
                .integer(inputMajor ? 1 : 0)
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

    private long embedding(WeightSlot slot, String name) {
        Source source = upload(slot, 0);
        long elements = Tensor.elementCount(slot.shape(spec));
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

    private Norm norm(WeightSlot gain, WeightSlot bias, int layer) {
        Source gains = upload(gain, layer);
        Source biases = upload(bias, layer);
        return new Norm(gains.address(), gains.type(), biases.address(), biases.type());
    }

    private Source upload(WeightSlot slot, int layer) {
        try (Arena reading = Arena.ofShared()) {
            Tensor tensor = weights.read(slot, layer, reading);
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
