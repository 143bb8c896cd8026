package io.roseinfer.golden;

import io.roseinfer.base.StrictJson;
import io.roseinfer.model.files.ModelFiles;
import io.roseinfer.tensor.DType;
import io.roseinfer.tensor.Tensor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/** One folder of {@code src/test/resources/golden}; its README says what each field means and which script made it. */
public final class Golden {
    /** The folders whose weights are small enough for logits at every position. */
    public static final List<String> SMALL = List.of(
            "odd-heads",
            "untied",
            "relu",
            "grouped-heads",
            "scaled-rotary",
            "linear-rotary",
            "qwen2",
            "qwen2-window",
            "qwen3",
            "qwen3-yarn",
            "mistral",
            "mistral-wide-heads",
            "smollm3",
            "smollm3-window",
            "neox",
            "neox-sequential");

    /** All folders. */
    public static final List<String> ALL = Stream.concat(SMALL.stream(), Stream.of("builtin-tiny", "gpt2-random"))
            .toList();

    /** The folders with what transformers computes on a GPU, in float32 and float16. */
    public static final List<String> ON_GPU = List.of("builtin-tiny", "gpt2-random");

    /** A safetensors file in memory. */
    private record Tensors(byte[] file, JsonNode header, long dataStart) {
        static Tensors read(Path path) throws IOException {
            byte[] file = Files.readAllBytes(path);
            int headerBytes = (int) MemorySegment.ofArray(file).get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
            return new Tensors(file, StrictJson.parse(Arrays.copyOfRange(file, 8, 8 + headerBytes)), 8L + headerBytes);
        }

        Tensor get(String tensorName) {
            JsonNode info = header.get(tensorName);
            List<Long> shape = new ArrayList<>();
            info.get("shape").forEach(d -> shape.add(d.longValue()));
            long begin = info.get("data_offsets").get(0).longValue();
            long end = info.get("data_offsets").get(1).longValue();
            MemorySegment data = MemorySegment.ofArray(file).asSlice(dataStart + begin, end - begin);
            DType type = DType.named(info.get("dtype").asString()).orElseThrow();
            return new Tensor(type, shape.stream().mapToLong(Long::longValue).toArray(), data);
        }
    }

    private final String name;
    private final JsonNode expected;
    private final Tensors tensors;

    private Golden(String name) {
        this.name = name;
        try {
            this.expected = StrictJson.parse(Files.readAllBytes(directory(name).resolve("expected.json")));
            this.tensors = Tensors.read(directory(name).resolve("tensors.safetensors"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static Golden read(String name) {
        return new Golden(name);
    }

    private static Path directory(String name) {
        try {
            return Path.of(Golden.class.getResource("/golden/" + name).toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The model the folder was made with. */
    public ModelFiles open() {
        return switch (name) {
            case "builtin-tiny" -> ModelFiles.openBuiltin("tiny");
            case "builtin-chat" -> ModelFiles.openBuiltin("chat");
            case "gpt2-random" -> ModelFiles.random("gpt2", 0);
            default -> ModelFiles.openDirectory(name, directory(name));
        };
    }

    /** Copies a folder's files, to be broken in one place. */
    public static void copyFiles(String name, Path target) throws IOException {
        try (Stream<Path> files = Files.list(directory(name))) {
            for (Path file : files.toList()) {
                Files.copy(file, target.resolve(file.getFileName()));
            }
        }
    }

    public JsonNode expected() {
        return expected;
    }

    public int prompts() {
        return expected.get("prompts").size();
    }

    public JsonNode prompt(int index) {
        return expected.get("prompts").get(index);
    }

    public int[] ids(int prompt) {
        return ints(prompt(prompt).get("ids"));
    }

    public int[] greedy(int prompt) {
        return ints(prompt(prompt).get("greedy"));
    }

    /** The greedy choices of a prompt whose logits are stored; a folder has one list for all prompts or one for each. */
    public int[] stepsWithLogits(int prompt) {
        JsonNode own = prompt(prompt).path("logits_of_steps");
        return ints(own.isMissingNode() ? expected.get("logits_of_steps") : own);
    }

    public static int[] ints(JsonNode array) {
        int[] values = new int[array.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = array.get(i).intValue();
        }
        return values;
    }

    /** A stored tensor, computed in float64 and kept as F32. */
    public Tensor tensor(String tensorName) {
        return tensors.get(tensorName);
    }

    /**
     * The same tensor as transformers computes it on a GPU.
     *
     * @param type {@code fp32} or {@code fp16}
     */
    public Tensor onGpu(String type, String tensorName) {
        try {
            return Tensors.read(directory(name).resolve("gpu.safetensors")).get(type + "." + tensorName);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
