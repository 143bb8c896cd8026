package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.CustomDevice;
import io.roseinfer.cli.CliRunner.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Tests of {@code --device} with a class or a source file. */
@Tag("process")
class CustomDeviceTest {
    private static final Path EXAMPLES = Path.of("tools/examples/devices");
    private static final String CUSTOM = CustomDevice.class.getName();

    @TempDir
    private Path folder;

    private static Outcome run(String command) {
        return CliRunner.run(command.split(" "));
    }

    @Test
    void example_prints_the_shape_of_each_step_of_the_cpu() throws Exception {
        String prompt = "generate --prompt-ids 5,6,7 --max-new-tokens 3 --device ";
        Outcome printed = CommandJvm.run((prompt + EXAMPLES + "/PrintedSteps.java").split(" "));
        assertThat(printed.code()).as(printed.err()).isZero();
        assertThat(printed.out()).isNotBlank().isEqualTo(run(prompt + "cpu").out());
        assertThat(printed.err().lines().filter(line -> line.endsWith("samples")))
                .containsExactly(
                        "1 rows, 3 tokens, 1 samples", "1 rows, 1 tokens, 1 samples", "1 rows, 1 tokens, 1 samples");
    }

    @Test
    void failure_of_a_runner_made_by_a_proxy_names_the_class_of_the_file() throws IOException {
        String printed = Files.readString(EXAMPLES.resolve("PrintedSteps.java"));
        Path thrown = Files.writeString(
                folder.resolve("PrintedSteps.java"),
                printed.replace("System.err.println(", "throw new IllegalStateException("));
        Outcome outcome = run("generate --prompt-ids 5,6,7 --max-new-tokens 3 --device " + thrown);
        assertThat(outcome.code()).isEqualTo(7);
        assertThat(outcome.err())
                .contains("the device PrintedSteps threw java.lang.IllegalStateException: 1 rows, 3 tokens, 1 samples"
                        + " at PrintedSteps.lambda$load$0(PrintedSteps.java:");
    }

    @Test
    void every_example_is_in_the_list() throws IOException {
        String list = Files.readString(EXAMPLES.resolveSibling("README.md"));
        try (Stream<Path> files = Files.list(EXAMPLES)) {
            assertThat(files.map(file -> "| `" + file.getFileName() + "` |"))
                    .isNotEmpty()
                    .allSatisfy(row -> assertThat(list).contains(row));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "bench model --prefill 8 --decode 1 --repeat-runs 1 --warmup-ms 0",
                "bench scheduler --num-requests 2 --repeat-runs 1",
                "bench --num-requests 2 --max-new-tokens 4 --repeat-runs 1",
                "bench serve --backend engine --num-prompts 2 --random-input-len 8 --random-output-len 4"
            })
    void result_file_describes_the_device(String command) throws IOException {
        Path results = folder.resolve("results.json");
        Outcome outcome = run(command + " --threads 2 --dtype int8 --device " + CUSTOM + " --json " + results);
        assertThat(outcome.code()).as(outcome.err()).isZero();
        JsonNode settings =
                JsonMapper.shared().readTree(Files.readString(results)).findValue("settings");
        Map<String, String> seen = Stream.of("device", "dtype", "threads", "batch_invariant", "cuda_graph")
                .collect(Collectors.toMap(
                        name -> name, name -> settings.get(name).asString("null")));
        assertThat(seen)
                .isEqualTo(Map.of(
                        "device",
                        CUSTOM,
                        "dtype",
                        "null",
                        "threads",
                        "5",
                        "batch_invariant",
                        "null",
                        "cuda_graph",
                        "null"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "bench model --prefill 8 --decode none --repeat-runs 1 --warmup-ms 0",
                "bench scheduler --num-requests 1 --repeat-runs 1",
                "bench --num-requests 1 --max-new-tokens 1",
                "bench serve --backend engine --num-prompts 1 --random-input-len 8 --random-output-len 1"
            })
    void result_file_has_the_hash_of_the_class(String command) throws IOException {
        Path results = folder.resolve("results.json");
        Outcome outcome = run(command + " --device " + EXAMPLES + "/PrintedSteps.java --json " + results);
        assertThat(outcome.code()).as(outcome.err()).isZero();
        JsonNode hashes =
                JsonMapper.shared().readTree(Files.readString(results)).findValue("policies");
        assertThat(hashes.get("PrintedSteps").asString()).matches("[0-9a-f]{64}");
    }

    @Test
    void flags_without_effect_are_named() {
        Outcome outcome = run("generate --prompt a --max-new-tokens 1 --threads 2 --dtype int8 --kv-cache-dtype fp8"
                + " --no-cuda-graph --batch-invariant --device " + CUSTOM);
        assertThat(outcome.code()).isZero();
        assertThat(outcome.err())
                .contains(Stream.of(
                                "--threads 2",
                                "--dtype int8",
                                "--kv-cache-dtype fp8",
                                "--no-cuda-graph",
                                "--batch-invariant")
                        .map(flag ->
                                flag + " has no effect on adder-7: a custom device takes its options as the argument"
                                        + " of its constructor")
                        .toList());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "new | 2 | whose constructor failed: java.lang.IllegalStateException: boom",
                "load | 4 | the device io.roseinfer.CustomDevice threw java.lang.IllegalStateException: boom at",
                "link | 4 | the device io.roseinfer.CustomDevice threw java.lang.UnsatisfiedLinkError: no adder at",
                "input | 4 | the device io.roseinfer.CustomDevice threw io.roseinfer.base.RoseException$BadInput: the adder",
                "model | 3 | the adder has no such model",
                "submit | 7 | the device io.roseinfer.CustomDevice threw java.lang.IllegalStateException: boom at",
                "status | 7 | the device io.roseinfer.CustomDevice threw java.lang.NullPointerException: outcome at",
                "vocabulary | 7 | the device io.roseinfer.CustomDevice sampled token id "
            })
    void failure_is_one_line_and_sets_the_exit_code(String fault, int code, String message) {
        Outcome outcome = run("generate --prompt a --device " + CUSTOM + ":" + fault);
        assertThat(outcome.code()).isEqualTo(code);
        assertThat(outcome.err()).contains(message).hasLineCount(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "bench model --prefill 8 --decode 1",
                "bench scheduler --num-requests 2",
                "bench --num-requests 2",
                "bench serve --backend engine --num-prompts 4 --random-input-len 8",
                "bench serve --backend engine --num-prompts 4 --random-input-len 8 --replicas 2"
            })
    void failing_step_ends_a_benchmark_and_names_the_device(String command) {
        Outcome outcome = run(command + " --device " + CUSTOM + ":await");
        assertThat(outcome.code()).as(outcome.err()).isEqualTo(7);
        assertThat(outcome.err()).contains("the device " + CUSTOM + " threw java.lang.IllegalStateException: boom");
    }

    @Test
    void class_that_is_no_backend_is_rejected_with_the_interface() {
        Outcome outcome = run("generate --prompt a --device java.lang.String");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err())
                .startsWith("roseinfer: --device is 'java.lang.String'")
                .contains("implements io.roseinfer.backend.Backend")
                .hasLineCount(1);
    }

    @Test
    void class_without_a_package_is_found_on_the_class_path() throws Exception {
        Path source = Files.writeString(folder.resolve("Unpackaged.java"), "public class Unpackaged {}");
        assertThat(ToolProvider.getSystemJavaCompiler().run(null, null, null, source.toString()))
                .isZero();
        Process process = new ProcessBuilder(CommandJvm.command(
                        List.of("-Xbootclasspath/a:" + folder), "generate", "--prompt=a", "--device=Unpackaged"))
                .start();
        assertThat(process.errorReader().readAllAsString())
                .startsWith("roseinfer: --device is 'Unpackaged'; it must be")
                .doesNotContain("not found");
        assertThat(process.waitFor()).isEqualTo(2);
    }

    @Test
    void simulated_benchmark_rejects_a_custom_device_by_name() {
        Outcome outcome = run("bench serve --backend sim --num-prompts 2 --device " + CUSTOM);
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("--backend sim does not simulate --device " + CUSTOM);
    }
}
