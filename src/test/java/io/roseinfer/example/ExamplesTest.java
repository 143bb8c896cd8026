package io.roseinfer.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.Document;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The programs in {@code tools/examples} and the README's, each run as its users run it: by Java, from its source. Those that compute
 * little run without optimized code, which would take longer to compile.
 */
@Tag("process")
class ExamplesTest {
    private static final Path EXAMPLES = Path.of("tools/examples");

    @TempDir
    Path folder;

    /** Flags for programs that compute little: scalar kernels and the quick compiler. */
    private static final List<String> SHORT = List.of("-XX:TieredStopAtLevel=1");

    private static final List<String> LONG = List.of("--add-modules=jdk.incubator.vector");

    private List<String> run(String name, List<String> flags, String input) throws IOException, InterruptedException {
        return run(EXAMPLES.resolve(name + ".java"), flags, input);
    }

    private List<String> run(Path program, List<String> flags, String input) throws IOException, InterruptedException {
        Path errors = folder.resolve("errors");
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--source=25",
                "--enable-native-access=ALL-UNNAMED",
                "-XX:+UseSerialGC"));
        command.addAll(flags);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.toString()));
        Process process = new ProcessBuilder(command)
                .redirectInput(Files.writeString(folder.resolve("input"), input).toFile())
                .redirectError(errors.toFile())
                .start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(Files.readString(errors)).isZero();
        return out.lines().toList();
    }

    /** Returns the numbers of a line after its first column of fixed width. */
    private static double[] numbers(String line, int first) {
        return Stream.of(line.substring(first).strip().split("\\s+"))
                .mapToDouble(number -> Double.parseDouble(number.replace("%", "")))
                .toArray();
    }

    @Test
    void hello_prints_two_stories() throws Exception {
        assertThat(run("Hello", SHORT, ""))
                .hasSize(3)
                .satisfiesExactly(
                        story -> assertThat(story).startsWith("Once upon a time, there was a curious young girl"),
                        other -> assertThat(other).startsWith("The lighthouse").hasSizeGreaterThan(30),
                        end -> assertThat(end).isEqualTo("24 tokens, ended by LENGTH"));
    }

    @Test
    void readme_program_runs() throws Exception {
        String program = Document.at("README.md").fences().stream()
                .filter(fence -> fence.language().equals("java") && fence.body().contains("void main("))
                .findFirst()
                .orElseThrow()
                .body();
        assertThat(run(Files.writeString(folder.resolve("Stories.java"), program), SHORT, ""))
                .satisfiesExactly(
                        story -> assertThat(story).startsWith(", there was a curious young girl"),
                        other -> assertThat(other).endsWith(" (LENGTH)"));
    }

    /** The built-in model sees 2,048 tokens; each of the last 15 lines has about 200. */
    @Test
    void chat_continues_from_cached_turns_and_forgets_its_beginning_beyond_the_context() throws Exception {
        String question = "What is the capital of France?";
        List<String> said =
                run("ChatLoop", LONG, "Hello\n\n" + question + "\n" + ((question + " ").repeat(25) + "\n").repeat(15));
        List<String> cached =
                said.stream().filter(line -> line.endsWith(" tokens cached]")).toList();
        assertThat(cached.get(0)).contains("[0 of ");
        assertThat(cached.get(1)).containsPattern("Paris\\. \\[16 of \\d+ tokens cached]$");
        List<Integer> prompts = cached.stream()
                .skip(2)
                .map(line -> Integer.valueOf(line.replaceFirst(".* of (\\d+) tokens cached]$", "$1")))
                .toList();
        assertThat(prompts).hasSize(15).allMatch(tokens -> tokens <= 2048 - 80);
        assertThat(prompts.getLast()).isGreaterThan(1500);
    }

    @Test
    void higher_temperatures_choose_less_likely_tokens_and_a_filter_takes_that_back() throws Exception {
        List<double[]> rows = run("SamplerStudy", LONG, "").stream()
                .skip(1)
                .map(line -> numbers(line, 28))
                .toList();
        assertThat(rows).hasSize(8);
        assertThat(rows.getFirst()[1]).as("texts of greedy requests").isEqualTo(1);
        assertThat(rows.subList(0, 5)).extracting(row -> -row[0]).isSorted();
        assertThat(rows.subList(5, 8)).allSatisfy(row -> assertThat(row[0]).isGreaterThan(rows.get(4)[0]));
    }

    @Test
    void smaller_pools_take_more_steps_and_preempt() throws Exception {
        List<double[]> rows = run("SchedulerExperiment", SHORT, "").stream()
                .skip(1)
                .map(line -> numbers(line, 0))
                .toList();
        assertThat(rows).hasSize(6);
        assertThat(rows).extracting(row -> row[1]).isSorted();
        assertThat(rows.getFirst()[2])
                .as("preemptions where there are blocks for all")
                .isZero();
        assertThat(rows.getLast()[2]).as("preemptions in the smallest pool").isPositive();
    }

    @Test
    void every_example_is_in_the_list() throws IOException {
        String list = Files.readString(EXAMPLES.resolve("README.md"));
        try (Stream<Path> files = Files.list(EXAMPLES)) {
            assertThat(files.map(file -> file.getFileName().toString()).filter(name -> name.endsWith(".java")))
                    .isNotEmpty()
                    .allSatisfy(name -> assertThat(list).contains("| `" + name.replace(".java", "") + "` |"));
        }
    }
}
