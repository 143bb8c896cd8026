package io.roseinfer.sampling;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadInput;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class SamplingParamsTest {

    static Stream<Arguments> outOfRange() {
        return Stream.of(
                refused("temperature", p -> p.withTemperature(Float.NaN)),
                refused("temperature", p -> p.withTemperature(-0.1f)),
                refused("temperature", p -> p.withTemperature(Float.POSITIVE_INFINITY)),
                refused("topK", p -> p.withTopK(-1)),
                refused("topP", p -> p.withTopP(0)),
                refused("topP", p -> p.withTopP(1.01f)),
                refused("topP", p -> p.withTopP(Float.NaN)),
                refused("minP", p -> p.withMinP(1)),
                refused("minP", p -> p.withMinP(-0.1f)),
                refused("repetitionPenalty", p -> p.withRepetitionPenalty(0)),
                refused("repetitionPenalty", p -> p.withRepetitionPenalty(0.009f)),
                refused("presencePenalty", p -> p.withPresencePenalty(2.1f)),
                refused("frequencyPenalty", p -> p.withFrequencyPenalty(-2.1f)),
                refused("logprobs", p -> p.withLogprobs(21)));
    }

    private static Arguments refused(String name, Function<SamplingParams, SamplingParams> change) {
        return Arguments.of(name, change);
    }

    @ParameterizedTest
    @MethodSource("outOfRange")
    void value_out_of_range_is_rejected_by_name(String name, Function<SamplingParams, SamplingParams> change) {
        assertThatThrownBy(() -> change.apply(SamplingParams.greedy()))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining(name);
    }

    @Test
    void range_bounds_are_allowed() {
        assertThatCode(() -> SamplingParams.greedy()
                        .withTemperature(100)
                        .withTopK(1_000_000)
                        .withTopP(1)
                        .withMinP(0)
                        .withPresencePenalty(-2)
                        .withFrequencyPenalty(2)
                        .withLogprobs(20))
                .doesNotThrowAnyException();
    }
}
