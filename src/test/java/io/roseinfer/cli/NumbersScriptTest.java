package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Checks that {@code tools/numbers} names sections, studies and classes that exist. */
class NumbersScriptTest {
    private static final Pattern ENTRY = Pattern.compile("^    '([^|']+)\\|([^']+)'$", Pattern.MULTILINE);

    private record Entry(String section, List<String> command) {}

    private static List<Entry> entries() throws IOException {
        return ENTRY.matcher(Files.readString(Path.of("tools/numbers")))
                .results()
                .map(match -> new Entry(match.group(1), List.of(match.group(2).split(" "))))
                .toList();
    }

    @Test
    void every_section_is_on_the_page() throws IOException {
        List<String> headings = Files.readAllLines(Path.of("src/site/markdown/explanation/numbers.md")).stream()
                .filter(line -> line.startsWith("#"))
                .map(line -> line.replaceFirst("#+ ", ""))
                .toList();
        assertThat(entries())
                .hasSizeGreaterThan(20)
                .allSatisfy(entry -> assertThat(headings).contains(entry.section()));
    }

    @Test
    void every_command_exists() throws IOException {
        String studies = Files.readString(Path.of("tools/examples/studies"));
        try (Stream<Path> tests = Files.walk(Path.of("src/test/java"))) {
            List<String> classes =
                    tests.map(file -> file.getFileName().toString()).toList();
            assertThat(entries()).allSatisfy(entry -> {
                assertThat(Path.of(entry.command().getFirst())).isExecutable();
                if (entry.command().getFirst().endsWith("studies")) {
                    assertThat(studies).contains("\n" + entry.command().get(1) + ")\n");
                }
                if (entry.command().getFirst().endsWith("run-test-class")) {
                    assertThat(classes).contains(entry.command().get(1) + ".java");
                }
            });
        }
    }
}
