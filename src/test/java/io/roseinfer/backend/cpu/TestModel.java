package io.roseinfer.backend.cpu;

import io.roseinfer.format.WeightSource;
import io.roseinfer.model.Activation;
import io.roseinfer.model.Gpt2Weights;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.WeightSlot;
import io.roseinfer.tensor.DType;
import io.roseinfer.tensor.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;

/** A small model in arrays, with weights large enough that attention is far from uniform and a lost term shows. */
final class TestModel implements WeightSource {
    final ModelSpec spec;
    final DType dtype;
    final Map<String, float[]> tensors = new LinkedHashMap<>();
    private final Map<String, long[]> shapes = new LinkedHashMap<>();

    private TestModel(ModelSpec spec, DType dtype) {
        this.spec = spec;
        this.dtype = dtype;
    }

    static TestModel random(ModelSpec spec, long seed) {
        return random(spec, seed, DType.F32);
    }

    static TestModel random(ModelSpec spec, long seed, DType dtype) {
        TestModel model = new TestModel(spec, dtype);
        Random random = new Random(seed);
        for (WeightSlot slot : WeightSlot.values()) {
            if (slot == WeightSlot.HEAD && spec.tiedHead()) {
                continue;
            }
            for (int layer = 0; layer < (slot.perLayer() ? spec.layers() : 1); layer++) {
                model.add(slot, layer, random);
            }
        }
        return model;
    }

    private void add(WeightSlot slot, int layer, Random random) {
        long[] shape = slot.shape(spec);
        float mean = slot.name().endsWith("GAIN") ? 1 : 0;
        float deviation = shape.length == 1 ? 0.2f : 1.2f / (float) Math.sqrt((double) shape[slot.perLayer() ? 0 : 1]);
        float[] values = new float[(int) Tensor.elementCount(shape)];
        for (int i = 0; i < values.length; i++) {
            float value = mean + deviation * (float) random.nextGaussian();
            values[i] = dtype == DType.BF16 ? Tensor.bf16ToFloat(Tensor.floatToBf16(value)) : value;
        }
        tensors.put(slot.tensorName(layer), values);
        shapes.put(slot.tensorName(layer), shape);
    }

    float[] tensor(WeightSlot slot, int layer) {
        return Objects.requireNonNull(tensors.get(slot.tensorName(layer)));
    }

    Gpt2Weights weights() {
        return Gpt2Weights.bind(spec, this);
    }

    @Override
    public String description() {
        return "test model";
    }

    @Override
    public Set<String> names() {
        return tensors.keySet();
    }

    @Override
    public Optional<Info> info(String name) {
        return Optional.ofNullable(shapes.get(name)).map(shape -> new Info(dtype, shape));
    }

    @Override
    public Tensor read(String name, Arena arena) {
        float[] values = Objects.requireNonNull(tensors.get(name));
        MemorySegment memory = arena.allocate(dtype.bytes(values.length), 4);
        for (int i = 0; i < values.length; i++) {
            if (dtype == DType.BF16) {
                memory.set(ValueLayout.JAVA_SHORT, 2L * i, Tensor.floatToBf16(values[i]));
            } else {
                memory.set(ValueLayout.JAVA_FLOAT, 4L * i, values[i]);
            }
        }
        return new Tensor(dtype, Objects.requireNonNull(shapes.get(name)), memory);
    }

    @Override
    public void close() {}

    /** One head per vector, all widths whole. */
    static ModelSpec plain() {
        return spec(61, 96, 48, 2, 3, 96, Activation.GELU_TANH, true, false);
    }

    /** Nothing divides anything: head size 33, inner width 101, vocabulary 53, an untied head, scores scaled by layer. */
    static ModelSpec awkward() {
        return spec(53, 70, 66, 3, 2, 101, Activation.GELU_ERF, false, true);
    }

    static ModelSpec spec(
            int vocabulary,
            int context,
            int width,
            int layers,
            int heads,
            int inner,
            Activation activation,
            boolean tied,
            boolean scaleByLayer) {
        return new ModelSpec(
                "test",
                vocabulary,
                context,
                width,
                layers,
                heads,
                inner,
                activation,
                1e-5f,
                true,
                scaleByLayer,
                tied,
                List.of());
    }
}
