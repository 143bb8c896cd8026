package io.roseinfer.server.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FieldsTest {
    private static Fields fields(String json) {
        return Fields.parse(json.getBytes(StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @CsvSource({"3, 3", "3.0, 3", "-2e2, -200", "9007199254740991.0, 9007199254740991"})
    void integer_may_have_a_zero_fraction(String json, long value) {
        assertThat(fields("{\"a\": " + json + "}").integer("a")).hasValue(value);
    }

    /** From 2^53 on, a number with a fraction stands for several integers. */
    @ParameterizedTest
    @ValueSource(strings = {"3.5", "9007199254740992.0", "1e30", "1e300", "9223372036854775808"})
    void number_that_is_not_exactly_an_integer_is_rejected(String json) {
        assertThatThrownBy(() -> fields("{\"a\": " + json + "}").integer("a"))
                .isInstanceOf(ApiError.class)
                .hasMessageContaining("it must be an integer");
    }

    @Test
    void unread_fields_are_named_up_to_twenty() {
        String json =
                IntStream.range(0, 100).mapToObj(i -> "\"f" + i + "\": 1").collect(Collectors.joining(", ", "{", "}"));
        assertThat(fields(json).unread()).hasSize(20);
    }
}
