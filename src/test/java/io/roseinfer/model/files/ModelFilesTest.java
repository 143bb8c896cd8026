package io.roseinfer.model.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.golden.Golden;
import io.roseinfer.model.Activation;
import io.roseinfer.model.family.ModelDirectory;
import io.roseinfer.tensor.DType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A valid model directory with one defect. */
class ModelFilesTest {
    @TempDir
    private Path directory;

    @BeforeEach
    void copyModel() throws IOException {
        Golden.copyFiles("relu", directory);
    }

    private void assertRefused(String... named) {
        assertThatThrownBy(() -> ModelFiles.openDirectory("m", directory))
                .isInstanceOf(BadModel.class)
                .satisfies(refusal -> assertThat(refusal.getMessage()).contains(named));
    }

    private void edit(String file, String from, String to) throws IOException {
        Path path = directory.resolve(file);
        String text = Files.readString(path, StandardCharsets.ISO_8859_1);
        assertThat(text.contains(from)).as("%s has %s", file, from).isTrue();
        Files.writeString(path, text.replace(from, to), StandardCharsets.ISO_8859_1);
    }

    @Test
    void sound_directory_opens() {
        try (ModelFiles files = ModelFiles.openDirectory("m", directory)) {
            assertThat(files.spec().mlp().activation()).isEqualTo(Activation.RELU);
            assertThat(files.tokenizer()).isEmpty();
        }
    }

    @Test
    void missing_configuration_is_named() throws IOException {
        Files.delete(directory.resolve("config.json"));
        assertRefused("config.json", "cannot be read");
    }

    @Test
    void directory_in_place_of_the_configuration_is_rejected() throws IOException {
        Files.delete(directory.resolve("config.json"));
        Files.createDirectory(directory.resolve("config.json"));
        assertRefused("config.json", "cannot be read");
    }

    @Test
    void configuration_of_another_vocabulary_than_the_weights_is_rejected() throws IOException {
        try (ModelFiles sound = ModelFiles.openDirectory("m", directory)) {
            int rows = sound.spec().vocabularySize();
            edit("config.json", "\"vocab_size\": " + rows, "\"vocab_size\": " + (rows + 1));
            assertRefused("wte.weight has shape [" + rows + ",", "[" + (rows + 1) + ",");
        }
    }

    @Test
    void unsupported_weight_type_is_rejected_by_name() throws IOException {
        edit("model.safetensors", "\"BF16\"", "\"I16\" ");
        assertRefused("is I16, supported weight types are F32, F16 and BF16");
    }

    @Test
    void quantized_weights_are_rejected_by_their_method() throws IOException {
        edit("config.json", "\"model_type\"", "\"quantization_config\":{\"quant_method\":\"awq\"},\"model_type\"");
        assertThatThrownBy(() -> ModelFiles.requireSupported("m", directory.resolve("config.json"), 0))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("quantization_config is set (method awq)");
        edit("model.safetensors", "\"BF16\"", "\"I16\" ");
        assertRefused("quantization_config is set (method awq)");
    }

    /** Merged fine-tunes keep the field of the base model. */
    @Test
    void quantization_that_no_tensor_has_is_a_warning() throws IOException {
        edit(
                "config.json",
                "\"model_type\"",
                "\"quantization_config\":{\"quant_method\":\"bitsandbytes\"},\"model_type\"");
        try (ModelFiles files = ModelFiles.openDirectory("m", directory)) {
            assertThat(files.warnings())
                    .singleElement()
                    .asString()
                    .endsWith("config.json: quantization_config is ignored, since no tensor is quantized");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "U32, quantized checkpoints are not supported",
        "F8_E4M3, quantized checkpoints are not supported",
        "F64, convert the weights to F32"
    })
    void unsupported_weight_type_suggests_a_remedy(DType type, String remedy) throws IOException {
        ModelDirectory.at(directory).store("ln_f.bias", type).write();
        assertRefused("ln_f.bias is " + type, remedy);
    }

    @ParameterizedTest
    @CsvSource({
        "adapter_model.safetensors, a LoRA adapter",
        "consolidated.safetensors, not in Hugging Face format",
        "model-Q4_K_M.gguf, GGUF is not supported"
    })
    void known_unsupported_formats_are_named(String file, String format) throws IOException {
        Files.move(directory.resolve("model.safetensors"), directory.resolve(file));
        assertRefused(format);
        Files.delete(directory.resolve("config.json"));
        assertRefused("has no config.json", format);
    }

    @Test
    void generation_configuration_with_sampling_values_and_unknown_keys_opens() throws IOException {
        Files.writeString(
                directory.resolve("generation_config.json"), "{\"temperature\":-3,\"top_p\":\"x\",\"new_key\":{}}");
        try (ModelFiles files = ModelFiles.openDirectory("m", directory)) {
            assertThat(files.spec().endOfText()).containsExactly(0);
        }
    }

    @Test
    void malformed_generation_configuration_is_rejected_by_its_name() throws IOException {
        Files.writeString(directory.resolve("generation_config.json"), "{\"eos_token_id\":\"x\"}");
        assertRefused("generation_config.json", "eos_token_id is \"x\"");
    }

    @Test
    void end_of_text_of_the_generation_configuration_outside_the_vocabulary_is_a_warning() throws IOException {
        Files.writeString(directory.resolve("generation_config.json"), "{\"eos_token_id\":[-1,7]}");
        try (ModelFiles files = ModelFiles.openDirectory("m", directory)) {
            assertThat(files.spec().endOfText()).containsExactly(7);
            assertThat(files.warnings())
                    .singleElement()
                    .asString()
                    .contains("generation_config.json: eos_token_id is -1");
        }
    }
}
