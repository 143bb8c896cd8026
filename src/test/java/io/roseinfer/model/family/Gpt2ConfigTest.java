package io.roseinfer.model.family;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.model.Activation;
import io.roseinfer.model.BlockSpec.Norm;
import io.roseinfer.model.ConfigJson;
import io.roseinfer.model.ModelFeature;
import io.roseinfer.model.ModelSpec;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class Gpt2ConfigTest {

    private final List<String> warnings = new ArrayList<>();

    private ModelSpec parse(String json) {
        ConfigJson config = new ConfigJson("m/config.json", json.getBytes(StandardCharsets.UTF_8), warnings);
        return Families.spec("m", config);
    }

    private ModelSpec with(String field) {
        return parse("{\"model_type\":\"gpt2\"," + field + "}");
    }

    @Test
    void absent_fields_have_transformers_defaults() {
        ModelSpec spec = parse("{\"model_type\":\"gpt2\"}");
        assertThat(spec.vocabularySize()).isEqualTo(50257);
        assertThat(spec.contextLength()).isEqualTo(1024);
        assertThat(spec.width()).isEqualTo(768);
        assertThat(spec.layers()).isEqualTo(12);
        assertThat(spec.attention().heads()).isEqualTo(12);
        assertThat(spec.mlp().inner()).isEqualTo(3072);
        assertThat(spec.mlp().activation()).isEqualTo(Activation.GELU_TANH);
        assertThat(spec.blocks()).allSatisfy(block -> assertThat(block.norm()).isEqualTo(Norm.layer(1e-5f)));
        assertThat(spec.head().norm()).isEqualTo(Norm.layer(1e-5f));
        assertThat(spec.blocks()).allMatch(block -> block.attention().scale() == 0.125f);
        assertThat(ModelFeature.of(spec)).isEmpty();
        assertThat(spec.tiedHead()).isTrue();
        assertThat(spec.endOfText()).containsExactly(50256);
    }

    @Test
    void every_field_that_changes_the_result_is_used() {
        ModelSpec spec = parse("""
                {"model_type":"gpt2","vocab_size":1013,"n_positions":96,"n_embd":120,"n_layer":3,"n_head":5,
                 "n_inner":331,"activation_function":"relu","layer_norm_epsilon":1e-6,"scale_attn_weights":false,
                 "scale_attn_by_inverse_layer_idx":true,"tie_word_embeddings":false,"eos_token_id":[7,9]}""");
        assertThat(spec.attention().headSize()).isEqualTo(24);
        assertThat(spec.mlp().inner()).isEqualTo(331);
        assertThat(spec.mlp().activation()).isEqualTo(Activation.RELU);
        assertThat(spec.blocks()).allSatisfy(block -> assertThat(block.norm()).isEqualTo(Norm.layer(1e-6f)));
        assertThat(spec.head().norm()).isEqualTo(Norm.layer(1e-6f));
        assertThat(spec.blocks()).extracting(block -> block.attention().scale()).containsExactly(1f, 0.5f, 1f / 3);
        assertThat(spec.tiedHead()).isFalse();
        assertThat(spec.endOfText()).containsExactly(7, 9);
    }

    @Test
    void attention_scale_is_one_over_the_root_of_the_head_size() {
        assertThat(with("\"n_head\":12").block(5).attention().scale()).isEqualTo(0.125f);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    "n_embd":0               | n_embd
                    "n_layer":-1             | n_layer
                    "n_layer":16777216       | n_layer
                    "n_head":"12"            | n_head
                    "n_head":7               | n_head
                    "vocab_size":1e9         | vocab_size
                    "vocab_size":1000000000  | vocab_size
                    "n_positions":2147483648 | n_positions
                    "n_inner":1.5            | n_inner
                    "activation_function":"silu" | activation_function
                    "layer_norm_epsilon":0   | layer_norm_epsilon
                    "layer_norm_epsilon":-1e-5 | layer_norm_epsilon
                    "layer_norm_epsilon":"1e-5" | layer_norm_epsilon
                    "scale_attn_weights":1   | scale_attn_weights
                    "add_cross_attention":true | add_cross_attention
                    "layer_norm_epsilon":1e-50 | layer_norm_epsilon
                    "layer_norm_epsilon":1e999 | layer_norm_epsilon
                    "eos_token_id":"x"       | eos_token_id
                    "eos_token_id":1.5       | eos_token_id
                    "eos_token_id":[1,[2]]   | eos_token_id
                    "eos_token_id":true      | eos_token_id""")
    void invalid_field_is_rejected_by_name(String field, String named) {
        assertThatThrownBy(() -> with(field))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("m/config.json")
                .hasMessageContaining(named);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    ''                                       | JSON
                    []                                       | object
                    {"model_type":"gpt2","n_head":1,"n_head":2} | uplicate
                    {"model_type":"mamba"}                   | mamba
                    {}                                       | model_type
                    {"model_type":"gpt2","layer_norm_epsilon":NaN} | JSON
                    {"model_type":"gpt2"} x                  | JSON""")
    void unsupported_configuration_is_rejected(String json, String named) {
        assertThatThrownBy(() -> parse(json)).isInstanceOf(BadModel.class).hasMessageContaining(named);
    }

    @Test
    void end_of_text_may_be_one_id_or_none() {
        assertThat(with("\"eos_token_id\":7").endOfText()).containsExactly(7);
        assertThat(with("\"eos_token_id\":null").endOfText()).isEmpty();
    }

    @Test
    void default_end_of_text_is_gpt2s_if_the_vocabulary_has_it() {
        assertThat(with("\"vocab_size\":50257").endOfText()).containsExactly(50256);
        assertThat(with("\"vocab_size\":50256").endOfText()).isEmpty();
        assertThat(warnings).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"50256", "-1", "[50256]", "99999999999999999999"})
    void end_of_text_outside_the_vocabulary_is_ignored_with_a_warning(String ids) {
        assertThat(with("\"vocab_size\":300,\"eos_token_id\":" + ids).endOfText())
                .isEmpty();
        assertThat(warnings).singleElement().asString().contains("m/config.json: eos_token_id is", "0 to 299");
    }

    @Test
    void end_of_text_inside_the_vocabulary_is_used_although_another_is_outside() {
        assertThat(with("\"vocab_size\":300,\"eos_token_id\":[7,50256,9]").endOfText())
                .containsExactly(7, 9);
        assertThat(warnings).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({
        "n_embd, hidden_size, 768, 384",
        "n_layer, num_hidden_layers, 12, 6",
        "n_head, num_attention_heads, 12, 6",
        "n_positions, max_position_embeddings, 1024, 512"
    })
    void two_names_of_one_size_may_agree_and_not_differ(String name, String alias, int size, int other) {
        ModelSpec plain = parse("{\"model_type\":\"gpt2\"}");
        String both = "\"" + name + "\":" + size + ",\"" + alias + "\":";
        assertThat(with(both + size)).isEqualTo(plain);
        assertThat(with(both + "null")).isEqualTo(plain);
        assertThat(with("\"" + name + "\":null,\"" + alias + "\":" + size)).isEqualTo(plain);
        assertThatThrownBy(() -> with(both + other))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining(name + " is " + size)
                .hasMessageContaining(alias + " is " + other);
    }

    private ConfigJson generation(String json) {
        return new ConfigJson("g", json.getBytes(StandardCharsets.UTF_8), warnings);
    }

    @Test
    void generation_config_overrides_config_only_if_it_has_the_field() {
        assertThat(generation("{\"eos_token_id\":3}").endOfText(10)).hasValue(List.of(3));
        assertThat(generation("{\"temperature\":9}").endOfText(10)).isEmpty();
    }
}
