package io.roseinfer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Checks that the tests named in {@code faults.txt} exist. */
class FaultListTest {
    /** The lists and their numbers of faults. */
    private static final Map<String, Integer> LISTS =
            Map.of("A", 28, "B", 14, "C", 11, "D", 15, "E", 24, "F", 15, "H", 17);

    private static final Set<String> REASONS = Set.of("cannot occur", "not built");

    /** A line after a fault: {@code test: Class#method}, or a text with one of the other keys. */
    record Line(String key, String text) {}

    record Fault(String id, String what, List<Line> lines) {
        List<String> texts(String key) {
            return lines.stream()
                    .filter(line -> line.key().equals(key))
                    .map(Line::text)
                    .toList();
        }

        List<String> reasons() {
            return REASONS.stream().flatMap(key -> texts(key).stream()).toList();
        }

        @Override
        public String toString() {
            return id;
        }
    }

    static List<Fault> faults() throws IOException {
        List<Fault> faults = new ArrayList<>();
        try (InputStream file = FaultListTest.class.getResourceAsStream("/faults.txt")) {
            String text = new String(Objects.requireNonNull(file).readAllBytes(), StandardCharsets.UTF_8);
            text.lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .forEach(line -> {
                        if (line.startsWith("  ")) {
                            String[] parts = line.strip().split(": ", 2);
                            faults.getLast().lines().add(new Line(parts[0], parts[1]));
                        } else {
                            String[] parts = line.split(" ", 2);
                            faults.add(new Fault(parts[0], parts[1], new ArrayList<>()));
                        }
                    });
        }
        return faults;
    }

    @Test
    void every_fault_is_listed_once() throws IOException {
        Stream<String> ids = LISTS.entrySet().stream()
                .flatMap(list -> IntStream.rangeClosed(1, list.getValue()).mapToObj(i -> list.getKey() + i));
        assertThat(faults()).extracting(Fault::id).containsExactlyInAnyOrderElementsOf(ids.toList());
    }

    @ParameterizedTest
    @MethodSource("faults")
    void every_fault_has_a_test_or_a_reason(Fault fault) {
        assertThat(fault.lines()).extracting(Line::key).isSubsetOf("test", "note", "cannot occur", "not built");
        assertThat(fault.texts("test").size() + fault.reasons().size())
                .as("tests and reasons")
                .isPositive();
        assertThat(fault.reasons()).hasSizeLessThanOrEqualTo(1);
    }

    @ParameterizedTest
    @MethodSource("faults")
    void every_named_test_exists(Fault fault) throws ClassNotFoundException {
        for (String test : fault.texts("test")) {
            int hash = test.indexOf('#');
            Class<?> type = Class.forName("io.roseinfer." + test.substring(0, hash));
            assertThat(type.isAnnotationPresent(Disabled.class)).as(test).isFalse();
            assertThat(Arrays.stream(type.getDeclaredMethods()).filter(FaultListTest::isTest))
                    .as(test)
                    .extracting(Method::getName)
                    .contains(test.substring(hash + 1));
        }
    }

    private static boolean isTest(Method method) {
        List<Class<? extends Annotation>> types = Arrays.stream(method.getAnnotations())
                .<Class<? extends Annotation>>map(Annotation::annotationType)
                .toList();
        return !types.contains(Disabled.class)
                && (types.contains(Test.class) || types.contains(ParameterizedTest.class));
    }
}
