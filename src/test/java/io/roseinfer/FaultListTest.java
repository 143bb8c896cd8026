package io.roseinfer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** {@code faults.txt} says which test covers which fault; this holds it to the tests there are. */
class FaultTableTest {
    private static final Pattern BAR = Pattern.compile("\\s*\\|\\s*");

    record Row(String id, String fault, String tests) {}

    static Stream<Row> rows() throws IOException {
        try (InputStream file = FaultTableTest.class.getResourceAsStream("/faults.txt")) {
            String text = new String(Objects.requireNonNull(file).readAllBytes(), StandardCharsets.UTF_8);
            return text
                    .lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .map(line -> BAR.split(line, 3))
                    .map(cells -> new Row(cells[0], cells[1], cells[2]))
                    .toList()
                    .stream();
        }
    }

    @Test
    void every_fault_of_scheduler_and_engine_has_its_row() throws IOException {
        List<String> ids = rows().map(Row::id).toList();
        assertThat(ids)
                .doesNotHaveDuplicates()
                .containsAll(IntStream.rangeClosed(1, 15).mapToObj(i -> "F" + i).toList())
                .containsAll(IntStream.rangeClosed(1, 17).mapToObj(i -> "H" + i).toList());
    }

    @ParameterizedTest
    @MethodSource("rows")
    void every_test_that_is_named_is_there(Row row) throws ClassNotFoundException {
        if (row.tests().startsWith("- ")) {
            assertThat(row.tests()).as("why %s cannot occur", row.id()).hasSizeGreaterThan(10);
            return;
        }
        for (String test : row.tests().split(" +", -1)) {
            int hash = test.indexOf('#');
            Class<?> type = Class.forName("io.roseinfer." + test.substring(0, hash));
            assertThat(Arrays.stream(type.getDeclaredMethods()).filter(FaultTableTest::isTest))
                    .as("%s: %s", row.id(), test)
                    .extracting(Method::getName)
                    .contains(test.substring(hash + 1));
        }
    }

    private static boolean isTest(Method method) {
        return Arrays.stream(method.getAnnotations())
                .map(Annotation::annotationType)
                .anyMatch(type -> type == Test.class || type == ParameterizedTest.class);
    }
}
