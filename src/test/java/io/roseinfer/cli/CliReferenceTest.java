package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.hub.HubSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Checks that the committed CLI reference is the generated one. */
class CliReferenceTest {
    private static String page() throws IOException {
        return Files.readString(Path.of(CliReferencePage.PATH));
    }

    @Test
    void page_equals_the_commands() throws IOException {
        assertThat(page())
                .as("The commands have changed; rewrite the page with: " + CliReferencePage.COMMAND)
                .isEqualTo(CliReferencePage.text());
    }

    @Test
    void every_variable_of_the_hub_is_listed() throws IOException {
        String page = page();
        assertThat(HubSettings.VARIABLES)
                .allSatisfy(name -> assertThat(List.of(name, name.toLowerCase(Locale.ROOT)))
                        .anySatisfy(spelling -> assertThat(page).contains("`" + spelling + "`")));
    }

    @Test
    void every_variable_of_the_launcher_is_listed() throws IOException {
        String launcher = Files.readString(Path.of("tools/roseinfer"));
        List<String> names = Pattern.compile("(?m)^# +(ROSEINFER_\\w+) ")
                .matcher(launcher)
                .results()
                .map((MatchResult found) -> found.group(1))
                .toList();
        assertThat(names).isNotEmpty();
        String page = page();
        assertThat(names).allSatisfy(name -> assertThat(page).contains("| `" + name + "` |"));
    }
}
