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

/** Compares the output of benchmarks for fixed results with golden files, byte for byte. */
class ResultGoldensTest {
    private static final Map<String, String> WRITTEN = ResultGoldens.all();

    @TestFactory
    Stream<DynamicTest> result_equals_its_golden_file() {
        return WRITTEN.entrySet().stream()
                .map(file -> DynamicTest.dynamicTest(
                        file.getKey(),
                        () -> assertThat(file.getValue())
                                .isEqualTo(Files.readString(ResultGoldens.FOLDER.resolve(file.getKey())))));
    }

    @Test
    void every_golden_file_is_compared() throws IOException {
        try (Stream<Path> stored = Files.list(ResultGoldens.FOLDER)) {
            List<String> names =
                    stored.map(file -> file.getFileName().toString()).toList();
            assertThat(WRITTEN.keySet()).containsExactlyInAnyOrderElementsOf(names);
        }
    }
}
