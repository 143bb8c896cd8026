package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.cli.CliRunner.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HelpTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "--model",
                "--hf-model-id",
                "--device",
                "--dtype",
                "--prompt",
                "--prompt-repeats",
                "--unique-prompts",
                "--pretok",
                "--tokenize-workers",
                "--num-requests",
                "--max-new-tokens",
                "--max-batch-size",
                "--prefill-max-batch-size",
                "--prefill-max-tokens",
                "--prefill-admission-policy",
                "--prefill-admission-lookahead",
                "--prefill-force-fifo-every",
                "--preemption-policy",
                "--step-policy",
                "--decode-first",
                "--max-active-requests",
                "--max-inflight-requests",
                "--stream-interval",
                "--submit-interval-ms",
                "--submit-schedule",
                "--no-stop-on-eos",
                "--no-prefix-cache",
                "--[no-]paged-attn",
                "--[no-]cuda-graph",
                "--nvtx",
                "--warmup-runs",
                "--repeat-runs",
                "--temperature",
                "--top-k",
                "--top-p",
                "--do-sample",
                "--seed",
                "--threads",
                "--kv-blocks",
                "--block-size",
                "--[no-]chunked-prefill",
                "--[no-]batch-invariant",
                "--json",
                "--print-ids",
                "--timeline",
                "--profile-ops",
                "--prompt-ids",
                "--memory-plan"
            })
    void bench_help_has_every_flag(String flag) {
        Outcome outcome = CliRunner.run("bench", "--help");
        assertThat(outcome.code()).isZero();
        assertThat(outcome.out()).containsPattern("[ ,]\\Q" + flag + "\\E[ =,\\n]");
    }

    @ParameterizedTest
    @CsvSource({
        "--model, builtin:tiny",
        "--prompt, Once upon a time",
        "--num-requests, 16",
        "--max-new-tokens, 16",
        "--max-batch-size, 8",
        "--warmup-runs, 0",
        "--repeat-runs, 1",
        "--submit-schedule, relative",
        "--prefill-admission-lookahead, 64"
    })
    void bench_help_tells_defaults(String flag, String value) {
        String help = CliRunner.run("bench", "--help").out();
        String entry = help.substring(help.indexOf(flag));
        assertThat(entry.lines()
                        .skip(1)
                        .filter(line -> line.contains("Default: "))
                        .findFirst())
                .hasValueSatisfying(line -> assertThat(line.strip()).isEqualTo("Default: " + value));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "bench",
                "bench streaming",
                "bench scheduler",
                "generate",
                "chat",
                "serve",
                "batch",
                "report",
                "doctor"
            })
    void any_command_help_speaks_of_no_java_types(String command) {
        String[] args = (command + " --help").split(" ");
        Outcome outcome = CliRunner.run(args);
        assertThat(outcome.code()).isZero();
        assertThat(outcome.out()).startsWith("Usage: roseinfer ").doesNotContain("Optional", "null", "[]");
        assertThat(outcome.err()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "bench",
                "bench serve",
                "bench model",
                "bench scheduler",
                "generate",
                "chat",
                "serve",
                "batch",
                "report",
                "doctor"
            })
    void any_command_help_spells_defaults_as_the_flags_take_them(String command) {
        assertThat(CliRunner.run((command + " --help").split(" ")).out())
                .startsWith("Usage: roseinfer ")
                .doesNotContainPattern("Default: ([A-Z_]+|Infinity)\\R");
    }

    @ParameterizedTest
    @CsvSource({"80, 80", "30, 80", "300, 110", "wide, 110"})
    void help_is_as_wide_as_the_terminal_between_80_and_110_columns(String columns, int width) {
        String help = CliRunner.run(Map.of("COLUMNS", columns), "bench", "serve", "--help")
                .out();
        assertThat(help.lines().mapToInt(String::length).max().orElseThrow()).isBetween(width - 8, width);
    }

    @Test
    void version_is_that_of_the_project() throws IOException {
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
    void with_default_benchmark_command_line_inserts_streaming_after_bench_alone(String given, String expected) {
        assertThat(Cli.withDefaultBenchmark(given.split(" "))).containsExactly(expected.split(" "));
    }
}
