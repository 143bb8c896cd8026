package io.roseinfer.model.family;

import io.roseinfer.base.StrictJson;
import io.roseinfer.model.ConfigJson;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.RandomWeights;
import io.roseinfer.tensor.DType;
import io.roseinfer.tensor.Tensor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes a small model in Hugging Face layout: seeded random weights, with fields and tensors of the test's choice. The
 * default is a GPT-2 of width 8 with two layers.
 */
public final class ModelDirectory {
    private record Stored(DType type, long[] shape, float[] values) {}

    private final Path path;
    private final ObjectNode config;
    private final Map<String, Stored> tensors = new LinkedHashMap<>();

    private ModelDirectory(Path path, ObjectNode config) {
        this.path = path;
        this.config = config;
    }

    /**
     * Prepares a directory; {@link #write} fills it.
     *
     * @param fields JSON members of {@code config.json} that replace the small model's own, such as {@code "n_layer":1}
     */
    public static ModelDirectory at(Path path, String... fields) {
        ObjectNode config = object("\"model_type\":\"gpt2\",\"n_embd\":8,\"n_head\":2,\"n_layer\":2,\"n_positions\":32,"
                + "\"vocab_size\":300,\"eos_token_id\":null");
        for (String field : fields) {
            config.setAll(object(field));
        }
        return filled(path, config);
    }

    /** Prepares a directory for a model of any family, with {@code members} as its {@code config.json}. */
    public static ModelDirectory of(Path path, String members) {
        return filled(path, object(members));
    }

    private static ModelDirectory filled(Path path, ObjectNode config) {
        ModelDirectory directory = new ModelDirectory(path, config);
        directory.fill();
        return directory;
    }

    private static ObjectNode object(String members) {
        return (ObjectNode) StrictJson.parse(("{" + members + "}").getBytes(StandardCharsets.UTF_8));
    }

    private void fill() {
        byte[] json = config.toString().getBytes(StandardCharsets.UTF_8);
        ConfigJson parsed = new ConfigJson("config.json", json, new ArrayList<>());
        ModelSpec spec = Families.spec("m", parsed);
        try (Arena arena = Arena.ofConfined();
                RandomWeights random =
                        new RandomWeights("m", 1, found -> Families.of(parsed).weights(spec, found))) {
            for (String name : random.names()) {
                Tensor tensor = random.read(name, arena);
                float[] values = new float[(int) tensor.elements()];
                tensor.copyTo(0, values, 0, values.length);
                tensors.put(name, new Stored(DType.F32, tensor.shape(), values));
            }
        }
    }

    /** Omits a field of {@code config.json}. */
    public ModelDirectory without(String field) {
        config.remove(field);
        return this;
    }

    /** Stores a tensor as another type. */
    public ModelDirectory store(String name, DType type) {
        Stored tensor = tensor(name);
        tensors.put(name, new Stored(type, tensor.shape, tensor.values));
        return this;
    }

    /** Stores every tensor as another type. */
    public ModelDirectory storeAll(DType type) {
        tensors.replaceAll((name, tensor) -> new Stored(type, tensor.shape, tensor.values));
        return this;
    }

    /**
     * Multiplies everything except norm weights, so that attention is far from uniform and a missing term is noticed.
     */
    public ModelDirectory amplify(float factor) {
        tensors.forEach((name, tensor) -> {
            boolean isNorm = tensor.shape.length == 1 && name.endsWith(".weight");
            for (int i = 0; !isNorm && i < tensor.values.length; i++) {
                tensor.values[i] *= factor;
            }
        });
        return this;
    }

    /** Adds an F32 tensor, or replaces one. */
    public ModelDirectory put(String name, long[] shape, float... values) {
        tensors.put(name, new Stored(DType.F32, shape, values));
        return this;
    }

    /** Returns the values of a tensor, which can be changed. */
    public float[] values(String name) {
        return tensor(name).values;
    }

    private Stored tensor(String name) {
        return Objects.requireNonNull(tensors.get(name), name);
    }

    /** Makes the model generate one token regardless of its input. */
    public ModelDirectory alwaysSaying(int id) {
        Arrays.fill(values("wte.weight"), 0);
        Arrays.fill(values("wte.weight"), 8 * id, 8 * id + 8, 1);
        Arrays.fill(values("ln_f.weight"), 0);
        Arrays.fill(values("ln_f.bias"), 1);
        return this;
    }

    /** Writes {@code config.json} and {@code model.safetensors}. */
    public Path write() throws IOException {
        Files.writeString(path.resolve("config.json"), config.toString());
        ObjectNode header = object("");
        long end = 0;
        for (Map.Entry<String, Stored> entry : tensors.entrySet()) {
            Stored tensor = entry.getValue();
            long begin = end;
            end += tensor.type.bytes(tensor.values.length);
            ObjectNode info = header.putObject(entry.getKey()).put("dtype", tensor.type.name());
            Arrays.stream(tensor.shape).forEach(info.putArray("shape")::add);
            info.putArray("data_offsets").add(begin).add(end);
        }
        byte[] json = header.toString().getBytes(StandardCharsets.UTF_8);
        ByteBuffer file =
                ByteBuffer.allocate(Math.toIntExact(8 + json.length + end)).order(ByteOrder.LITTLE_ENDIAN);
        file.putLong(json.length).put(json);
        tensors.values().forEach(tensor -> put(tensor, file));
        Files.write(path.resolve("model.safetensors"), file.array());
        return path;
    }

    /** Writes zeros for a type that is not a weight type. */
    private static void put(Stored tensor, ByteBuffer file) {
        if (!tensor.type.isWeightType()) {
            file.position(file.position() + (int) tensor.type.bytes(tensor.values.length));
            return;
        }
        for (float value : tensor.values) {
            if (tensor.type == DType.BF16) {
                file.putShort(Tensor.floatToBf16(value));
            } else {
                file.putFloat(value);
            }
        }
    }
}
