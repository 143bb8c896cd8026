package io.roseinfer.model.files;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.model.ConfigJson;
import io.roseinfer.sampling.SamplingDefaults;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.sampling.SamplingParams.Parameter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class GenerationConfigTest {
    private final List<String> warnings = new ArrayList<>();

    private SamplingDefaults read(String json) {
        ConfigJson file = new ConfigJson("generation_config.json", json.getBytes(StandardCharsets.UTF_8), warnings);
        return GenerationConfig.read(file, "generation_config.json", warnings);
    }

    @Test
    void six_fields_are_defaults() {
        SamplingDefaults defaults = read("{\"temperature\":0.6,\"top_p\":0.95,\"top_k\":20,\"min_p\":0.1,"
                + "\"repetition_penalty\":1.05,\"max_new_tokens\":2048,\"do_sample\":true,\"bos_token_id\":1}");
        assertThat(defaults.params())
                .isEqualTo(SamplingParams.random()
                        .withTemperature(0.6f)
                        .withTopP(0.95f)
                        .withTopK(20)
                        .withMinP(0.1f)
                        .withRepetitionPenalty(1.05f));
        assertThat(defaults.maxNewTokens()).isEqualTo(OptionalInt.of(2048));
        assertThat(defaults.requestsSampling()).isTrue();
        assertThat(warnings).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void file_has_exactly_the_recommended_parameters(Parameter parameter) {
        double value = parameter.isInteger() ? 7 : 0.5;
        SamplingParams read =
                read("{\"" + parameter.field() + "\":" + value + "}").params();
        SamplingParams neutral = SamplingParams.random();
        assertThat(read).isEqualTo(parameter.isRecommended() ? parameter.set(neutral, value) : neutral);
    }

    @Test
    void file_without_parameters_has_no_defaults() {
        assertThat(read("{\"eos_token_id\":2,\"temperature\":null}")).isEqualTo(SamplingDefaults.NONE);
        assertThat(SamplingDefaults.NONE.requestsSampling()).isFalse();
    }

    @Test
    void temperature_of_0_is_greedy() {
        SamplingDefaults defaults = read("{\"temperature\":0,\"top_p\":0.9,\"do_sample\":true}");
        assertThat(defaults.params().isGreedy()).isTrue();
        assertThat(defaults.requestsSampling()).isFalse();
        assertThat(warnings).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"top_k\":0}",
                "{\"top_k\":-1}",
                "{\"min_p\":0.0}",
                "{\"top_p\":1.0}",
                "{\"repetition_penalty\":1.0}",
                "{\"temperature\":1.0}"
            })
    void values_that_disable_a_field_are_valid(String json) {
        assertThat(read(json)).isEqualTo(SamplingDefaults.NONE);
        assertThat(warnings).isEmpty();
    }

    @Test
    void do_sample_false_is_greedy_and_keeps_the_values_for_servers() {
        SamplingDefaults defaults = read("{\"do_sample\":false,\"temperature\":0.6}");
        assertThat(defaults.requestsSampling()).isFalse();
        assertThat(defaults.params()).isEqualTo(SamplingParams.random().withTemperature(0.6f));
        assertThat(read("{\"do_sample\":true,\"temperature\":0.6}").requestsSampling())
                .isTrue();
    }

    @Test
    void unsupported_fields_with_an_effect_are_named_once() {
        read(
                "{\"suppress_tokens\":[1],\"stop_strings\":[\"x\"],\"no_repeat_ngram_size\":1,\"num_beams\":4,\"typical_p\":0.9}");
        assertThat(warnings)
                .containsExactly(
                        "generation_config.json: no_repeat_ngram_size, num_beams, stop_strings, suppress_tokens,"
                                + " typical_p are not supported and ignored");
        warnings.clear();
        read(
                "{\"suppress_tokens\":[],\"bad_words_ids\":null,\"no_repeat_ngram_size\":0,\"num_beams\":1,\"typical_p\":1.0,"
                        + "\"transformers_version\":\"5\"}");
        assertThat(warnings).isEmpty();
    }

    @Test
    void penalty_without_temperature_is_greedy() {
        assertThat(read("{\"repetition_penalty\":1.1}").requestsSampling()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"temperature\":-3}",
                "{\"top_k\":-5}",
                "{\"do_sample\":\"x\"}",
                "{\"top_p\":0}",
                "{\"top_p\":\"x\"}",
                "{\"repetition_penalty\":0}",
                "{\"max_new_tokens\":\"x\"}"
            })
    void invalid_values_are_reported_and_ignored(String json) {
        assertThat(read(json)).isEqualTo(SamplingDefaults.NONE);
        assertThat(warnings)
                .singleElement()
                .asString()
                .startsWith("generation_config.json: ")
                .endsWith("; it is ignored");
    }
}
