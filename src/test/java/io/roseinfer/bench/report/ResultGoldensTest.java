package io.roseinfer.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** What benchmarks write about fixed results stays as it is stored, byte for byte. */
class ResultGoldensTest {
    private static final Map<String, String> WRITTEN = ResultGoldens.all();

    @TestFactory
    Stream<DynamicTest> a_result_is_written_as_it_is_stored() {
        return WRITTEN.entrySet().stream()
                .map(file -> DynamicTest.dynamicTest(
                        file.getKey(),
                        () -> assertThat(file.getValue())
                                .isEqualTo(Files.readString(ResultGoldens.FOLDER.resolve(file.getKey())))));
    }

    @Test
    void every_stored_file_is_written() throws IOException {
        try (Stream<Path> stored = Files.list(ResultGoldens.FOLDER)) {
            List<String> names =
                    stored.map(file -> file.getFileName().toString()).toList();
            assertThat(WRITTEN.keySet()).containsExactlyInAnyOrderElementsOf(names);
        }
    }
}
