package io.roseinfer.backend.cpu;

import io.roseinfer.checkpoint.Checkpoint;
import io.roseinfer.model.Activation;
import io.roseinfer.model.BlockSpec.Attention;
import io.roseinfer.model.BlockSpec.Norm;
import io.roseinfer.model.CheckpointTensors;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Positions;
import io.roseinfer.model.SpecBuilder;
import io.roseinfer.model.StoredTensor;
import io.roseinfer.model.TensorFinder;
import io.roseinfer.model.TestLayout;
import io.roseinfer.model.Weights;
import io.roseinfer.tensor.DType;
import io.roseinfer.tensor.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;

/** A small model in arrays, with weights large enough that attention is not uniform and a missing term shows. */
public final class TestModel implements Checkpoint {
    final ModelSpec spec;
    private final DType dtype;
    private final Map<String, float[]> tensors = new LinkedHashMap<>();
    private final Map<String, long[]> shapes = new LinkedHashMap<>();

    private TestModel(ModelSpec spec, DType dtype) {
        this.spec = spec;
        this.dtype = dtype;
    }

    public static TestModel random(ModelSpec spec, long seed) {
        return random(spec, seed, DType.F32);
    }

    static TestModel random(ModelSpec spec, long seed, DType dtype) {
        TestModel model = new TestModel(spec, dtype);
        Weights unused = TestLayout.weights(spec, model.new Filler(new Random(seed)));
        return model;
    }

    /** Creates tensors on lookup. */
    private final class Filler implements TensorFinder {
        private final Random random;

        Filler(Random random) {
            this.random = random;
        }

        @Override
        public boolean has(String name) {
            return tensors.containsKey(name);
        }

        @Override
        public StoredTensor find(String name, long... shape) {
            float mean = name.endsWith(".gain") ? 1 : 0;
            boolean table =
                    name.equals("embedding.matrix") || name.equals("head.matrix") || name.equals(TestLayout.POSITIONS);
            float deviation = shape.length == 1 ? 0.2f : 1.2f / (float) Math.sqrt((double) shape[table ? 1 : 0]);
            float[] values = new float[(int) Tensor.elementCount(shape)];
            for (int i = 0; i < values.length; i++) {
                float value = mean + deviation * (float) random.nextGaussian();
                values[i] = dtype == DType.BF16 ? Tensor.bf16ToFloat(Tensor.floatToBf16(value)) : value;
            }
            tensors.put(name, values);
            shapes.put(name, shape);
            return new StoredTensor(TestModel.this, name);
        }

        @Override
        public String description() {
            return TestModel.this.description();
        }
    }

    /** Returns the mutable values of a tensor of {@link TestLayout}. */
    float[] tensor(String name) {
        return Objects.requireNonNull(tensors.get(name));
    }

    public Weights weights() {
        CheckpointTensors found = new CheckpointTensors(this);
        Weights weights = TestLayout.weights(spec, found);
        found.requireSound();
        return weights;
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

    /** All widths are multiples of vectors. */
    static ModelSpec plain() {
        return SpecBuilder.named("test")
                .vocabulary(61)
                .context(96)
                .width(48)
                .layers(2)
                .heads(3)
                .inner(96)
                .activation(Activation.GELU_TANH)
                .build();
    }

    /** RMS norm, RoPE, two query heads per KV head, a gated MLP of more than a panel. */
    static ModelSpec rotary() {
        return rotary(6, 3, 10).build();
    }

    /** RMS norm, partial RoPE, QK norm, five query heads per KV head, a gated MLP, an untied head. */
    static ModelSpec partlyRotary() {
        return rotary(10, 2, 16)
                .qkNorms()
                .positions(new Positions.Rope(500, 12, new Positions.Scaling.None()))
                .untied()
                .build();
    }

    /** Windows smaller and larger than a KV block, the second in a block without positions; seven query heads per KV head. */
    static ModelSpec windowed() {
        return rotary(7, 1, 12)
                .layers(3)
                .window(layer -> layer == 0 ? 5 : layer == 1 ? 23 : Attention.UNLIMITED)
                .positions(layer -> layer == 1 ? new Positions.None() : Positions.Rope.plain(100, 12))
                .untied()
                .build();
    }

    /** Layer norms with biases, partial RoPE, parallel residual. */
    static ModelSpec parallel() {
        return rotary(3, 3, 20)
                .norm(Norm.layer(1e-3f))
                .positions(new Positions.Rope(100, 6, new Positions.Scaling.None()))
                .parallel()
                .untied()
                .build();
    }

    private static SpecBuilder rotary(int heads, int kvHeads, int headSize) {
        return SpecBuilder.named("test")
                .vocabulary(59)
                .context(80)
                .width(44)
                .layers(2)
                .heads(heads, kvHeads, headSize)
                .inner(101)
                .gated()
                .activation(Activation.SILU)
                .norm(Norm.rms(1e-3f))
                .positions(Positions.Rope.plain(100, headSize));
    }

    /** Indivisible sizes: head size 33, inner width 101, vocabulary 53, an untied head, scores scaled by layer. */
    static ModelSpec awkward() {
        return SpecBuilder.named("test")
                .vocabulary(53)
                .context(70)
                .width(66)
                .layers(3)
                .heads(2)
                .inner(101)
                .activation(Activation.GELU_ERF)
                .untied()
                .scaleByLayer()
                .build();
    }
}
