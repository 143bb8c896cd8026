package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.cli.CliRunner.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

class HelpTest {
    private static final String GENERAL = "General";

    private static Stream<CommandSpec> specs(CommandLine command) {
        return Stream.concat(
                Stream.of(command.getCommandSpec()),
                command.getSubcommands().values().stream().flatMap(HelpTest::specs));
    }

    /** All commands with their help texts. */
    static List<Named<Help>> helps() {
        return specs(CliRunner.commands())
                .map(spec -> Named.of(spec.qualifiedName(), new Help(spec, text(spec, 80))))
                .toList();
    }

    private static String text(CommandSpec spec, int columns) {
        List<String> words = List.of((spec.qualifiedName() + " --help").split(" "));
        // The default benchmark is streaming.
        List<String> args = words.equals(List.of("roseinfer", "bench", "--help"))
                ? List.of("bench", "streaming", "--help")
                : words.subList(1, words.size());
        Outcome outcome = CliRunner.run(Map.of("COLUMNS", Integer.toString(columns)), args.toArray(String[]::new));
        assertThat(outcome.code()).isZero();
        assertThat(outcome.err()).isEmpty();
        return outcome.out();
    }

    /** Lines end between words: a name such as {@code llama-3.2-1b} is on one line. */
    @ParameterizedTest
    @MethodSource("helps")
    void descriptions_break_at_spaces_only(Help narrow) {
        Set<String> words = new HashSet<>(List.of(text(narrow.spec(), 120).split("\\s+")));
        List<String> lines =
                narrow.text().lines().filter(line -> !line.isBlank()).toList();
        for (int i = 1; i < lines.size(); i++) {
            String before = lines.get(i - 1);
            String end = before.substring(before.lastIndexOf(' ') + 1);
            String start = lines.get(i).strip().split(" ")[0];
            if (!end.startsWith("--")) {
                assertThat(words).doesNotContain(end + start);
            }
        }
    }

    /** The help text of a command. */
    record Help(CommandSpec spec, String text) {
        private static final Pattern HEADING = Pattern.compile("([A-Z][a-z]+( [a-z]+)*):");
        private static final Pattern ENTRY = Pattern.compile(" {2,6}(-[a-zA-Z], )?--.*");

        /** Returns the heading and text of each flag without white space, by its names. */
        Map<String, String> entries() {
            Map<String, String> entries = new LinkedHashMap<>();
            String heading = "";
            String names = "";
            for (String line : text.lines().toList()) {
                Matcher section = HEADING.matcher(line);
                if (section.matches()) {
                    heading = section.group(1);
                    names = "";
                } else if (ENTRY.matcher(line).matches()) {
                    names = line.strip().replaceFirst("(=| {2}).*", "");
                    entries.put(names, heading + ": " + line.replaceAll("\\s", ""));
                } else if (!names.isEmpty()) {
                    entries.merge(names, line.replaceAll("\\s", ""), String::concat);
                }
            }
            return entries;
        }

        /** Returns the flags of the command's spec. */
        List<OptionSpec> flags() {
            return spec.options();
        }

        String entry(OptionSpec flag) {
            List<String> found = entries().entrySet().stream()
                    .filter(entry -> List.of(entry.getKey().replace("[no-]", "").split(", "))
                            .containsAll(List.of(flag.names())))
                    .map(Map.Entry::getValue)
                    .toList();
            assertThat(found).as("entries of " + flag.longestName()).hasSize(1);
            return found.getFirst();
        }
    }

    @ParameterizedTest
    @MethodSource("helps")
    void every_flag_has_a_heading(Help help) {
        assertThat(help.flags()).isNotEmpty().allSatisfy(flag -> {
            boolean general = List.of("--help", "--version", "--trace").contains(flag.longestName());
            assertThat(help.entry(flag)).matches("[A-Z].*: .*");
            assertThat(help.entry(flag).startsWith(GENERAL + ":"))
                    .as(flag.longestName())
                    .isEqualTo(general);
        });
    }

    @ParameterizedTest
    @MethodSource("helps")
    void heading_appears_once(Help help) {
        assertThat(help.text().lines().filter(line -> Help.HEADING.matcher(line).matches()))
                .isNotEmpty()
                .doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @MethodSource("helps")
    void defaults_use_the_syntax_of_the_flags(Help help) {
        assertThat(help.flags())
                .allSatisfy(flag ->
                        assertThat(help.entry(flag)).doesNotContainPattern("Default:([A-Z_]+|Infinity)($|\\()"));
    }

    @ParameterizedTest
    @CsvSource({"--model, builtin:tiny", "--num-requests, 16", "--submit-schedule, relative", "--top-p, 1.0"})
    void default_value_is_shown(String flag, String value) {
        Help help = streaming();
        assertThat(help.entry(help.spec().findOption(flag))).contains("Default:" + value);
    }

    @ParameterizedTest
    @CsvSource({
        "--num-requests, 1 or more",
        "--threads, 1 to 1024",
        "--top-p, above 0 and at most 1",
        "--request-rate, 'above 0, or inf'"
    })
    void numeric_range_is_shown(String flag, String range) {
        Help help = streaming();
        assertThat(help.entry(help.spec().findOption(flag))).endsWith(("(" + range + ")").replace(" ", ""));
    }

    private static Help streaming() {
        CommandSpec spec = specs(CliRunner.commands())
                .filter(command -> command.qualifiedName().equals("roseinfer bench streaming"))
                .findFirst()
                .orElseThrow();
        return new Help(spec, text(spec, 80));
    }

    @ParameterizedTest
    @MethodSource("helps")
    void help_mentions_no_java_types(Help help) {
        assertThat(help.text()).startsWith("Usage: roseinfer").doesNotContain("Optional", "null]", "[]");
    }

    @ParameterizedTest
    @MethodSource("helps")
    void help_is_at_most_80_columns_wide_on_a_terminal_of_80(Help help) {
        assertThat(help.text().lines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(80));
    }

    @ParameterizedTest
    @CsvSource({"80, 80", "30, 80", "300, 110", "wide, 110"})
    void help_is_as_wide_as_the_terminal_between_80_and_110_columns(String columns, int width) {
        String help = CliRunner.run(Map.of("COLUMNS", columns), "bench", "serve", "--help")
                .out();
        assertThat(help.lines().mapToInt(String::length).max().orElseThrow()).isBetween(width - 8, width);
    }

    @Test
    void version_equals_the_project_version() throws IOException {
        String pom = Files.readString(Path.of("pom.xml"));
        assertThat(pom)
                .contains("<artifactId>roseinfer</artifactId>\n  <version>" + RootCommand.VERSION + "</version>");
        assertThat(CliRunner.run("--version").out())
                .isEqualTo("roseinfer " + RootCommand.VERSION + " (Java " + Runtime.version() + ")"
                        + System.lineSeparator());
    }

    @ParameterizedTest
    @CsvSource({
        "bench, bench streaming",
        "bench --pretok, bench streaming --pretok",
        "--trace bench --pretok, --trace bench streaming --pretok",
        "bench scheduler, bench scheduler",
        "bench streaming --pretok, bench streaming --pretok",
        "generate --prompt bench, generate --prompt bench",
        "bench --prompt bench, bench streaming --prompt bench"
    })
    void bench_without_a_benchmark_means_bench_streaming(String given, String expected) {
        assertThat(Cli.withDefaultBenchmark(given.split(" "))).containsExactly(expected.split(" "));
    }
}
