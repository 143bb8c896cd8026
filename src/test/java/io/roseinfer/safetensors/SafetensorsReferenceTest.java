package io.roseinfer.safetensors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.checkpoint.Checkpoint;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The reader's result for every input of the reference table, and its intended differences. */
class SafetensorsReferenceTest {
    @TempDir
    private Path directory;

    static List<ReferenceCase> cases() {
        return ReferenceCase.all();
    }

    @ParameterizedTest
    @MethodSource("cases")
    void input_of_the_reference_table_gets_its_verdict(ReferenceCase input) throws IOException {
        Path file = Files.write(directory.resolve("x.safetensors"), input.bytes());
        if (input.accepted()) {
            try (Checkpoint source = SafetensorsFile.open(file)) {
                assertThat(source.names()).allMatch(name -> source.info(name).isPresent());
            }
        } else {
            assertThatThrownBy(() -> SafetensorsFile.open(file))
                    .isInstanceOf(BadModel.class)
                    .hasMessageStartingWith(file + ": ")
                    .hasMessageContaining(input.refusal());
        }
    }

    @Test
    void roseinfer_is_stricter_than_the_reference_only_by_decision() {
        Set<String> stricter = cases().stream()
                .filter(input -> input.accepted() != input.acceptedByReference())
                .map(ReferenceCase::name)
                .collect(Collectors.toSet());
        assertThat(cases()).hasSize(100);
        assertThat(stricter)
                .containsExactlyInAnyOrder(
                        "dup tensor key same",
                        "dup key inside __metadata__",
                        "dup by escape a / \\u0061",
                        "info as array",
                        "zero dim first [0,2^63,2]");
    }
}
