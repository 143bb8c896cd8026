package io.roseinfer.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.bench.report.Environment.Validation;
import java.util.Arrays;
import java.util.List;
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
    void largest_error_is_of_all_engines(String percents, @Nullable Double error) {
        List<Validation> validations = Arrays.stream(percents.split(",", -1))
                .map(percent -> percent.isEmpty()
                        ? Validation.NONE
                        : new Validation(percent, OptionalDouble.of(Double.parseDouble(percent) / 100)))
                .toList();
        assertThat(of(validations).largestError())
                .isEqualTo(error == null ? OptionalDouble.empty() : OptionalDouble.of(error));
    }

    @Test
    void validations_are_the_same_after_a_file() {
        Environment written = of(List.of(Validation.NONE, new Validation("3 %", OptionalDouble.of(0.03))));
        String json = ResultJson.mapper().writeValueAsString(written);
        assertThat(ResultJson.mapper().readValue(json, Environment.class)).isEqualTo(written);
        assertThat(written.validation()).isEqualTo("not validated; 3 %");
    }

    @Test
    void no_error_is_stated_in_files_without_validations() {
        String json = ResultJson.mapper().writeValueAsString(of(List.of()));
        Environment read = ResultJson.mapper().readValue(json, Environment.class);
        assertThat(read.largestError()).isEmpty();
    }
}
