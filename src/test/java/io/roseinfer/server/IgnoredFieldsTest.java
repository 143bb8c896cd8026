package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Names of ignored fields are logged. */
class IgnoredFieldsTest {
    private final List<String> logged = new ArrayList<>();
    private final IgnoredFields fields = new IgnoredFields(logged::add);

    @Test
    void name_is_logged_once() {
        fields.log(List.of("max_token"));
        fields.log(List.of("max_token", "mirror"));
        assertThat(logged)
                .containsExactly(
                        "ignoring the field \"max_token\" of requests", "ignoring the field \"mirror\" of requests");
    }

    @Test
    void names_are_logged_up_to_a_maximum() {
        for (int i = 0; i < 2 * IgnoredFields.MAX_NAMES; i++) {
            fields.log(List.of("field" + i));
        }
        assertThat(logged).hasSize(IgnoredFields.MAX_NAMES);
    }
}
