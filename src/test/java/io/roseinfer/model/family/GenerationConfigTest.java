package io.roseinfer.model.family;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.model.ConfigJson;
import io.roseinfer.sampling.SamplingDefaults;
import io.roseinfer.sampling.SamplingParams;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
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
        assertThat(defaults.draws()).isTrue();
        assertThat(warnings).isEmpty();
    }

    @Test
    void a_file_that_says_nothing_of_them_has_none() {
        assertThat(read("{\"eos_token_id\":2,\"temperature\":null}")).isEqualTo(SamplingDefaults.NONE);
        assertThat(SamplingDefaults.NONE.draws()).isFalse();
    }

    @Test
    void a_penalty_alone_draws_nothing() {
        assertThat(read("{\"repetition_penalty\":1.1}").draws()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"temperature\":-3}",
                "{\"top_p\":0}",
                "{\"top_p\":\"x\"}",
                "{\"repetition_penalty\":0}",
                "{\"max_new_tokens\":\"x\"}"
            })
    void what_makes_no_sense_is_told_and_ignored(String json) {
        assertThat(read(json)).isEqualTo(SamplingDefaults.NONE);
        assertThat(warnings)
                .singleElement()
                .asString()
                .startsWith("generation_config.json: ")
                .endsWith("; it is ignored");
    }
}
