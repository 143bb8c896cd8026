package io.roseinfer.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.bench.report.Environment.Validation;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EnvironmentTest {
    private static Environment of(List<Validation> validations) {
        return Environment.simulated("25", Optional.empty(), "costs", validations);
    }

    @ParameterizedTest
    @CsvSource({"3.5, 0.035", "'3,4', 0.04", "'4,3', 0.04", "'3,', ", "',3', ", "'', "})
    void error_is_the_largest_of_all_engines(String percents, @Nullable Double error) {
        List<Validation> validations = Arrays.stream(percents.split(",", -1))
                .map(percent -> percent.isEmpty()
                        ? Validation.NONE
                        : new Validation(percent, Map.of("tpot", Double.parseDouble(percent) / 100)))
                .toList();
        assertThat(Validation.error(of(validations).errors(), "median_tpot_ms"))
                .isEqualTo(error == null ? OptionalDouble.empty() : OptionalDouble.of(error));
    }

    @Test
    void only_metrics_with_an_error_of_every_engine_have_one() {
        assertThat(of(List.of(
                                new Validation("one", Map.of("ttft", 0.1, "itl", 0.2)),
                                new Validation("other", Map.of("ttft", 0.05, "e2el", 0.2))))
                        .errors())
                .isEqualTo(Map.of("ttft", 0.1));
    }

    @ParameterizedTest
    @CsvSource({
        "median_ttft_ms, true",
        "p90_ttft_ms, true",
        "mean_ttft_ms, false",
        "p75_ttft_ms, false",
        "p90_itl_ms, false"
    })
    void error_is_of_the_compared_percentiles_of_its_metric(String metric, boolean compared) {
        assertThat(Validation.error(Map.of("ttft", 0.1), metric).isPresent()).isEqualTo(compared);
    }

    @Test
    void file_with_one_error_states_it_for_ttft_and_tpot() {
        Validation read =
                ResultJson.mapper().readValue("{\"words\": \"3 %\", \"largest_error\": 0.03}", Validation.class);
        assertThat(read.errors()).isEqualTo(Map.of("ttft", 0.03, "tpot", 0.03));
    }

    @Test
    void validations_are_the_same_after_a_file() {
        Environment written = of(List.of(Validation.NONE, new Validation("3 %", Map.of("ttft", 0.02, "e2el", 0.03))));
        String json = ResultJson.mapper().writeValueAsString(written);
        assertThat(ResultJson.mapper().readValue(json, Environment.class)).isEqualTo(written);
        assertThat(written.validation()).isEqualTo("not validated; 3 %");
    }

    @Test
    void no_error_is_stated_in_files_without_validations() {
        String json = ResultJson.mapper().writeValueAsString(of(List.of()));
        Environment read = ResultJson.mapper().readValue(json, Environment.class);
        assertThat(read.errors()).isEmpty();
    }
}
