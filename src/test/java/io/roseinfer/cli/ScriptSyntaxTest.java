package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Checks the text of scripts for errors that only older versions of bash report. */
class ScriptSyntaxTest {
    private static final Pattern EMPTY_ARRAY = Pattern.compile("\\b(\\w+)=\\(\\)");

    static List<Path> scripts() throws IOException {
        try (Stream<Path> files = Files.walk(Path.of("tools"), 2)) {
            return files.filter(Files::isRegularFile)
                    .filter(Files::isExecutable)
                    .toList();
        }
    }

    /** Bash before 4.4, as on macOS, treats an empty array as unset, so {@code set -u} ends the script. */
    @ParameterizedTest
    @MethodSource("scripts")
    void empty_arrays_are_expanded_conditionally(Path script) throws IOException {
        String text = Files.readString(script);
        List<String> arrays = EMPTY_ARRAY
                .matcher(text)
                .results()
                .map((MatchResult array) -> array.group(1))
                .toList();
        for (String array : arrays) {
            String expansion = "\"${" + array + "[@]}\"";
            String guarded = "${" + array + "[@]+" + expansion + "}";
            assertThat(text.replace(guarded, "")).as(array).doesNotContain(expansion);
        }
    }
}
