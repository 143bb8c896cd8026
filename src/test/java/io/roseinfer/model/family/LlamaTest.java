package io.roseinfer.model.family;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.golden.Golden;
import io.roseinfer.model.Activation;
import io.roseinfer.model.BlockSpec.Norm;
import io.roseinfer.model.ConfigJson;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Positions;
import io.roseinfer.model.Positions.Rope;
import io.roseinfer.model.Positions.Scaling;
import io.roseinfer.model.Weights;
import io.roseinfer.model.files.ModelFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Llama's configurations and checkpoints, including unsupported ones; goldens test its numbers. */
class LlamaTest {
    private static ModelSpec with(String... fields) {
        String members = String.join(",", fields);
        String json = "{\"model_type\":\"llama\"" + (members.isEmpty() ? "" : ",") + members + "}";
        ConfigJson config = new ConfigJson("m/config.json", json.getBytes(StandardCharsets.UTF_8), new ArrayList<>());
        return Families.spec("m", config);
    }

    private static Positions positions(String... fields) {
        return with(fields).block(0).positions();
    }

    @Test
    void absent_fields_have_transformers_defaults() {
        ModelSpec spec = with();
        assertThat(spec.vocabularySize()).isEqualTo(32000);
        assertThat(spec.contextLength()).isEqualTo(2048);
        assertThat(spec.width()).isEqualTo(4096);
        assertThat(spec.layers()).isEqualTo(32);
        assertThat(spec.attention().heads()).isEqualTo(32);
        assertThat(spec.attention().kvHeads()).isEqualTo(32);
        assertThat(spec.attention().headSize()).isEqualTo(128);
        assertThat(spec.mlp().inner()).isEqualTo(11008);
        assertThat(spec.mlp().gated()).isTrue();
        assertThat(spec.mlp().activation()).isEqualTo(Activation.SILU);
        assertThat(spec.block(0).norm()).isEqualTo(Norm.rms(1e-6f));
        assertThat(spec.head().norm()).isEqualTo(Norm.rms(1e-6f));
        assertThat(spec.block(31).positions()).isEqualTo(Rope.plain(10000, 128));
        assertThat(spec.tiedHead()).isFalse();
        assertThat(spec.endOfText()).containsExactly(2);
    }

    @Test
    void every_field_that_changes_the_result_is_used() {
        ModelSpec spec = with("""
                "vocab_size":1013,"max_position_embeddings":96,"hidden_size":120,"num_hidden_layers":3,
                "num_attention_heads":6,"num_key_value_heads":2,"head_dim":24,"intermediate_size":331,
                "hidden_act":"gelu","rms_norm_eps":1e-3,"rope_theta":500000.0,"tie_word_embeddings":true,
                "eos_token_id":[7,9],"pretraining_tp":2""");
        assertThat(spec.vocabularySize()).isEqualTo(1013);
        assertThat(spec.contextLength()).isEqualTo(96);
        assertThat(spec.width()).isEqualTo(120);
        assertThat(spec.layers()).isEqualTo(3);
        assertThat(spec.attention().queryWidth()).isEqualTo(144);
        assertThat(spec.attention().kvWidth()).isEqualTo(48);
        assertThat(spec.attention().scale()).isEqualTo((float) (1 / Math.sqrt(24)));
        assertThat(spec.mlp().inner()).isEqualTo(331);
        assertThat(spec.mlp().activation()).isEqualTo(Activation.GELU_ERF);
        assertThat(spec.block(2).norm()).isEqualTo(Norm.rms(1e-3f));
        assertThat(spec.block(2).positions()).isEqualTo(Rope.plain(500000, 24));
        assertThat(spec.tiedHead()).isTrue();
        assertThat(spec.endOfText()).containsExactly(7, 9);
    }

    @Test
    void rope_parameters_and_rope_scaling_are_equivalent() {
        String llama3 = "\"factor\":8.0,\"low_freq_factor\":1.0,\"high_freq_factor\":4.0,"
                + "\"original_max_position_embeddings\":8192";
        Rope expected = new Rope(500000, 128, new Scaling.ByWavelength(8, 1, 4, 8192));
        assertThat(positions("\"rope_theta\":500000.0", "\"rope_scaling\":{\"rope_type\":\"llama3\"," + llama3 + "}"))
                .isEqualTo(expected);
        assertThat(positions("\"rope_theta\":500000.0", "\"rope_scaling\":{\"type\":\"llama3\"," + llama3 + "}"))
                .isEqualTo(expected);
        assertThat(positions("\"rope_parameters\":{\"rope_theta\":500000,\"rope_type\":\"llama3\"," + llama3 + "}"))
                .isEqualTo(expected);
        assertThat(positions("\"rope_parameters\":{\"rope_theta\":500000,\"rope_type\":\"default\"}"))
                .isEqualTo(positions("\"rope_theta\":500000", "\"rope_scaling\":null"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    "num_attention_heads":6                | hidden_size is 4096
                    "num_key_value_heads":5                | num_key_value_heads
                    "head_dim":127                         | even
                    "head_dim":0                           | head_dim
                    "hidden_act":"tanh"                    | hidden_act
                    "rms_norm_eps":0                       | rms_norm_eps
                    "sliding_window":4096                  | sliding_window
                    "attention_bias":1                     | attention_bias
                    "mlp_bias":"no"                        | mlp_bias
                    "tie_word_embeddings":0                | tie_word_embeddings
                    "rope_theta":0                         | rope_theta
                    "rope_theta":"1e4"                     | rope_theta
                    "rope_scaling":"linear"                | rope_scaling
                    "rope_scaling":{"type":"dynamic","factor":2.0} | dynamic
                    "rope_scaling":{"type":"longrope"}     | longrope
                    "rope_scaling":{"type":"linear"}       | factor is missing
                    "rope_scaling":{"type":"linear","factor":-1} | factor
                    "rope_scaling":{"rope_type":"llama3","factor":8,"high_freq_factor":4} | low_freq_factor
                    "rope_scaling":{"rope_type":"llama3","factor":8,"low_freq_factor":4,"high_freq_factor":4} | below
                    "rope_parameters":{"rope_type":"default","partial_rotary_factor":0.5} | partial_rotary_factor
                    "partial_rotary_factor":0.5            | partial_rotary_factor
                    "eos_token_id":"x"                     | eos_token_id""")
    void unsupported_setting_is_rejected_by_name(String field, String named) {
        assertThatThrownBy(() -> with(field))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("m/config.json")
                .hasMessageContaining(named);
    }

    private static void copy(Path directory, String name, String field, String replacement) throws IOException {
        Golden.copyFiles(name, directory);
        Path config = directory.resolve("config.json");
        String json = Files.readString(config);
        assertThat(json).contains(field);
        Files.writeString(config, json.replace(field, replacement));
    }

    @Test
    void configured_biases_are_required(@TempDir Path directory) throws IOException {
        copy(directory, "scaled-rotary", "\"attention_bias\": false", "\"attention_bias\": true");
        assertThatThrownBy(() -> ModelFiles.openDirectory("m", directory))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("self_attn.q_proj.bias [128] is missing");
    }

    @Test
    void unconfigured_biases_are_ignored_with_a_warning(@TempDir Path directory) throws IOException {
        copy(directory, "grouped-heads", "\"mlp_bias\": true", "\"mlp_bias\": false");
        try (ModelFiles files = ModelFiles.openDirectory("m", directory)) {
            Weights.Block block = files.weights().blocks().getFirst();
            assertThat(block.inner().bias()).isEmpty();
            assertThat(block.qkv().bias()).isPresent();
            assertThat(files.warnings()).singleElement().asString().contains("mlp.down_proj.bias");
        }
    }

    @Test
    void queries_keys_and_values_are_one_matrix_as_are_gate_and_up() {
        try (ModelFiles files = Golden.read("grouped-heads").open()) {
            Weights.Block block = files.weights().blocks().getFirst();
            assertThat(block.qkv().parts())
                    .extracting(part -> part.tensor().name())
                    .containsExactly(
                            "model.layers.0.self_attn.q_proj.weight",
                            "model.layers.0.self_attn.k_proj.weight",
                            "model.layers.0.self_attn.v_proj.weight");
            assertThat(block.inner().parts())
                    .extracting(part -> part.tensor().name())
                    .containsExactly("model.layers.0.mlp.gate_proj.weight", "model.layers.0.mlp.up_proj.weight");
        }
    }

    @Test
    void attention_bias_includes_that_of_the_output() {
        try (ModelFiles files = Golden.read("grouped-heads").open()) {
            assertThat(files.weights().blocks().getFirst().output().bias()).isPresent();
        }
    }
}
