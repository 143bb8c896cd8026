package io.roseinfer.cli;

import static java.util.function.Predicate.not;
import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.Document;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.cli.CliRunner.Outcome;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.ParameterException;

/** Compares the commands, flags and output lines in documents with the command line. */
@Tag("process")
class DocumentCommandsTest {
    private static final List<String> COMMANDS = List.of(
            "generate",
            "chat",
            "serve",
            "batch",
            "report",
            "doctor",
            "bench streaming",
            "bench scheduler",
            "bench model",
            "bench serve",
            "bench sweep",
            "bench ab",
            "bench replay");

    private static final Pattern OURS = Pattern.compile("(?:tools|bin)/roseinfer(?= |$)(.*)");
    private static final Pattern SCRIPT = Pattern.compile("(?<![\\w/.])((?:tools|bin)(?:/[\\w-]+)+)(.*)");
    private static final Pattern FLAG = Pattern.compile("(?<![\\w-])--[a-z][\\w-]*");
    private static final Pattern TESTS = Pattern.compile("(?:-Dtest='?|run-test-class )([\\w,#]+)");
    private static final Pattern BOLD = Pattern.compile("\\*\\*([^*]+)\\*\\*");

    /** Flags of the java command that programs with the library need. */
    private static final Set<String> OF_JAVA =
            Set.of("--add-modules", "--enable-native-access", "--illegal-native-access");

    /** Flags of vLLM in a table of their counterparts. */
    private static final Set<String> OF_VLLM =
            Set.of("--endpoint", "--result-dir", "--save-detailed", "--disable-tqdm", "--tokenizer");

    private static List<Document> documents;

    @BeforeAll
    static void readDocuments() {
        documents = Document.all();
    }

    /** Returns the errors of a command line. */
    private static Stream<String> complaints(String commandLine) {
        try {
            CliRunner.parse(Document.words(commandLine).toArray(String[]::new));
            return Stream.empty();
        } catch (ParameterException | BadInput wrong) {
            return Stream.of(commandLine.strip() + ": " + wrong.getMessage());
        }
    }

    @Test
    void documented_commands_parse() {
        List<String> shown = new ArrayList<>();
        List<String> wrong = new ArrayList<>();
        for (Document document : documents) {
            Stream.concat(document.commands().stream(), document.code().stream())
                    .flatMap(command -> OURS.matcher(command).results())
                    .map(command -> command.group(1))
                    .peek(shown::add)
                    .flatMap(DocumentCommandsTest::complaints)
                    .map(complaint -> document.path() + ": " + complaint)
                    .forEach(wrong::add);
        }
        assertThat(shown).hasSizeGreaterThan(20);
        assertThat(wrong).isEmpty();
    }

    private static Set<String> flags(String text) {
        return FLAG.matcher(text).results().map(MatchResult::group).collect(Collectors.toCollection(TreeSet::new));
    }

    /** Returns the flags of all commands; negatable flags in both forms. */
    private static Set<String> ourFlags() {
        Set<String> flags = new TreeSet<>(OF_JAVA);
        for (String command : COMMANDS) {
            String help = CliRunner.run((command + " --help").split(" "))
                    .out()
                    .replaceAll("--\\[no-\\]([\\w-]+)", "--$1 --no-$1");
            flags.addAll(flags(help));
        }
        flags.addAll(flags(CliRunner.run("--help").out()));
        flags.add("--version");
        return flags;
    }

    @Test
    void documented_flags_exist() {
        Set<String> ours = ourFlags();
        List<String> wrong = documents.stream()
                .flatMap(document -> document.code().stream()
                        .filter(code -> code.startsWith("--"))
                        .flatMap(code -> flags(code).stream())
                        .filter(not(ours::contains))
                        .filter(not(OF_VLLM::contains))
                        .map(flag -> document.path() + ": " + flag))
                .toList();
        assertThat(ours).contains("--no-paged-attn", "--paged-attn", "--prefill-max-batch-size");
        assertThat(wrong).isEmpty();
    }

    /** Returns the script of a name in a bundle's bin or in tools. */
    private static Path script(String name) {
        Path bundled = Path.of(name.replaceFirst("^bin/", "tools/bundled/"));
        return Files.exists(bundled) ? bundled : Path.of(name.replaceFirst("^bin/", "tools/"));
    }

    /** Returns the errors of a call of a script: the script is missing, or does not contain a flag. */
    private static Stream<String> complaints(MatchResult call) {
        Path script = script(call.group(1));
        if (!Files.isExecutable(script)) {
            return Stream.of("missing script " + call.group(1));
        }
        if (script.endsWith("roseinfer")) {
            return Stream.empty();
        }
        try {
            String text = Files.readString(script);
            return flags(String.join(" ", Document.words(call.group(2)))).stream()
                    .filter(not(text::contains))
                    .map(flag -> call.group(1) + " has no " + flag);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void documented_scripts_exist_with_their_flags() {
        List<String> wrong = documents.stream()
                .flatMap(document -> document.commands().stream()
                        .flatMap(command -> SCRIPT.matcher(command).results())
                        .flatMap(DocumentCommandsTest::complaints)
                        .map(complaint -> document.path() + ": " + complaint))
                .toList();
        assertThat(wrong).isEmpty();
    }

    @Test
    void documented_tests_exist() throws IOException {
        Set<String> tests;
        try (Stream<Path> files = Files.walk(Path.of("src/test/java"))) {
            tests = files.map(file -> file.getFileName().toString().replace(".java", ""))
                    .collect(Collectors.toSet());
        }
        List<String> wrong = documents.stream()
                .flatMap(document -> Stream.concat(document.commands().stream(), document.code().stream())
                        .flatMap(command -> TESTS.matcher(command).results())
                        .flatMap(named -> Stream.of(named.group(1).split(",")))
                        .map(name -> name.replaceFirst("#.*", ""))
                        .filter(not(tests::contains))
                        .map(name -> document.path() + ": " + name))
                .toList();
        assertThat(wrong).isEmpty();
    }

    /** Returns the labels before the colons of printed lines, without lists of percentiles. */
    private static Stream<String> labels(String... args) {
        Outcome outcome = CliRunner.run(args);
        assertThat(outcome.code()).as(outcome.err()).isZero();
        return outcome.out()
                .lines()
                .filter(line -> line.contains(": "))
                .map(line -> line.substring(0, line.indexOf(": ")).replaceFirst(" p50/.*", ""));
    }

    @Test
    void printed_lines_and_their_definitions_match() {
        Set<String> defined = Document.at("src/site/markdown/reference/metrics.md")
                .section("Lines of `bench`")
                .lines()
                .filter(line -> line.startsWith("| **"))
                .flatMap(line ->
                        BOLD.matcher(line.substring(0, line.indexOf(" | "))).results())
                .map(bold -> bold.group(1))
                .collect(Collectors.toSet());
        Set<String> printed = labels(
                        "bench",
                        "--num-requests",
                        "40",
                        "--max-new-tokens",
                        "4",
                        "--submit-interval-ms",
                        "0.01",
                        "--submit-schedule",
                        "absolute",
                        "--max-inflight-requests",
                        "1")
                .collect(Collectors.toSet());
        assertThat(defined).isEqualTo(printed);
    }
}
