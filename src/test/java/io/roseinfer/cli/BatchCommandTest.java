package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.cli.CliRunner.Outcome;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Tests of {@code roseinfer batch}; tests that kill it start a separate process. */
@Tag("process")
@Timeout(240)
class BatchCommandTest {
    private static final long SEED = 7;

    @TempDir
    private Path folder;

    private Path input(int lines) throws IOException {
        Path file = folder.resolve("in.jsonl");
        Files.writeString(
                file,
                IntStream.range(0, lines)
                        .mapToObj(i -> "{\"custom_id\":\"r" + i + "\",\"method\":\"POST\",\"url\":\"/v1/completions\","
                                + "\"body\":{\"prompt\":[" + i % 100 + "," + i / 100 + "],\"max_tokens\":4}}\n")
                        .collect(Collectors.joining()));
        return file;
    }

    private String[] command(Path from, Path to, String... flags) {
        List<String> command = new ArrayList<>(
                List.of("batch", "-i", from.toString(), "-o", to.toString(), "--device=sim", "--model=builtin:tiny"));
        command.addAll(List.of(flags));
        return command.toArray(String[]::new);
    }

    private Outcome run(Path from, Path to, String... flags) {
        return CliRunner.run(command(from, to, flags));
    }

    private static Set<String> lines(Path file) throws IOException {
        List<String> lines = Files.readAllLines(file);
        assertThat(lines).doesNotHaveDuplicates();
        return Set.copyOf(lines);
    }

    @Test
    void batch_prints_a_summary_on_standard_error() throws IOException {
        Path to = folder.resolve("out.jsonl");
        Outcome outcome = run(input(20), to);
        assertThat(outcome.code()).isZero();
        assertThat(outcome.out()).isEmpty();
        assertThat(outcome.err())
                .containsPattern("roseinfer: 20 lines in \\d+\\.\\d\\d s: 20 answered, 0 refused, 0 skipped;"
                        + " 40 prompt tokens, \\d+ completion tokens, \\d+\\.\\d tokens/s\\R");
        assertThat(lines(to)).hasSize(20).allMatch(line -> line.contains("\"model\":\"builtin:tiny\""));
    }

    @Test
    void ordered_output_depends_only_on_the_seed() throws IOException {
        Path from = input(20);
        run(from, folder.resolve("one"), "--ordered");
        run(from, folder.resolve("two"), "--ordered", "--in-flight=3", "--max-batch-size=2", "--replicas=2");
        run(from, folder.resolve("three"), "--ordered", "--seed=1");
        assertThat(folder.resolve("one")).hasSameBinaryContentAs(folder.resolve("two"));
        assertThat(lines(folder.resolve("three")))
                .hasSize(20)
                .doesNotContainAnyElementsOf(lines(folder.resolve("one")));
    }

    /** DeepSeek R1's replies begin with reasoning, so all of a reply without its end is reasoning. */
    @Test
    void reply_formats_can_be_chosen() throws IOException {
        Path from = folder.resolve("in.jsonl");
        Files.writeString(
                from,
                "{\"custom_id\":\"a\",\"method\":\"POST\",\"url\":\"/v1/chat/completions\",\"body\":"
                        + "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],\"max_tokens\":4}}\n");
        for (String parser : List.of("none", "deepseek_r1")) {
            Path to = folder.resolve(parser);
            Outcome outcome = run(from, to, "--reasoning-parser=" + parser);
            assertThat(outcome.code()).as(outcome.err()).isZero();
            assertThat(Files.readString(to).contains("\"reasoning_content\":\""))
                    .isEqualTo(parser.equals("deepseek_r1"));
        }
    }

    @Test
    void chat_without_a_maximum_may_fill_a_pool_that_is_smaller_than_the_context() throws IOException {
        Path from = folder.resolve("in.jsonl");
        Files.writeString(
                from,
                "{\"custom_id\":\"a\",\"method\":\"POST\",\"url\":\"/v1/chat/completions\",\"body\":"
                        + "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],\"ignore_eos\":true}}\n");
        Path to = folder.resolve("out.jsonl");
        Outcome outcome = run(from, to, "--kv-blocks=8");
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(Files.readString(to)).contains("\"total_tokens\":129");
    }

    @Test
    void existing_output_is_rejected_without_resume() throws IOException {
        Path from = input(20);
        Path to = folder.resolve("out.jsonl");
        run(from, to);
        Outcome again = run(from, to);
        assertThat(again.code()).isEqualTo(2);
        assertThat(again.err()).contains("exists; continue it with --resume").hasLineCount(1);
        Outcome resumed = run(from, to, "--resume");
        assertThat(resumed.code()).isZero();
        assertThat(resumed.err()).contains("20 lines in ", "0 answered, 0 refused, 20 skipped");
    }

    @Test
    void missing_spark_jar_is_reported_in_one_line() throws IOException {
        Outcome outcome = run(input(1), folder.resolve("out"), "--spark=local[2]");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err())
                .contains("--spark needs roseinfer-spark.jar and the cluster's jars on the class path")
                .hasLineCount(1);
        assertThat(folder.resolve("out")).doesNotExist();
    }

    @Test
    void flags_without_effect_on_a_cluster_are_noted() throws IOException {
        Outcome outcome = run(input(1), folder.resolve("out"), "--spark=local[2]", "--ordered", "--seed=3");
        assertThat(outcome.err()).contains("--ordered has no effect").doesNotContain("--seed has");
    }

    @Test
    void output_path_equal_to_the_input_is_rejected() throws IOException {
        Path from = input(1);
        Path link = Files.createSymbolicLink(folder.resolve("link"), from);
        for (Path to : List.of(from, link)) {
            Outcome outcome = run(from, to, "--resume");
            assertThat(outcome.code()).isEqualTo(2);
            assertThat(outcome.err()).contains("--input and --output both name").hasLineCount(1);
        }
        assertThat(Files.readAllLines(from)).hasSize(1);
    }

    @Test
    void missing_input_is_reported_before_the_output_is_created() {
        Path to = folder.resolve("out.jsonl");
        Outcome outcome = run(folder.resolve("none"), to);
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("--input ", "no such file").hasLineCount(1);
        assertThat(to).doesNotExist();
    }

    private Process start(Path from, Path to) throws IOException {
        return new ProcessBuilder(
                        CommandJvm.withDefaultSignals("TERM,INT", command(from, to, "--resume", "--in-flight=16")))
                .start();
    }

    /** Waits until a file has grown by {@code bytes} or its writer has ended. */
    private static void awaitGrowth(Path file, long bytes, Process writer) throws Exception {
        long before = Files.exists(file) ? Files.size(file) : 0;
        while ((!Files.exists(file) || Files.size(file) < before + bytes)
                && !writer.waitFor(1, TimeUnit.MILLISECONDS)) {
            // The writer goes on.
        }
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "needs env --default-signal")
    void killed_batch_resumes_to_the_same_output() throws Exception {
        Path from = input(5_000);
        Path expected = folder.resolve("expected");
        run(from, expected);
        Random random = new Random(SEED);
        Path to = folder.resolve("out.jsonl");
        int killed = 0;
        for (int i = 0; i < 3; i++) {
            Process process = start(from, to);
            awaitGrowth(to, 1 + random.nextInt(250_000), process);
            process.destroyForcibly();
            killed += process.waitFor() == 128 + 9 ? 1 : 0;
        }
        assertThat(killed).as("seed %d", SEED).isPositive();
        assertThat(run(from, to, "--resume").code()).isZero();
        assertThat(lines(to)).isEqualTo(lines(expected));
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "needs env --default-signal")
    void stopped_batch_suggests_resume() throws Exception {
        Path from = input(200_000);
        Path to = folder.resolve("out.jsonl");
        Process process = start(from, to);
        awaitGrowth(to, 1, process);
        new ProcessBuilder("kill", "-TERM", Long.toString(process.pid()))
                .start()
                .waitFor();
        String errors = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isEqualTo(143);
        assertThat(errors).contains("stopped before the end; continue by repeating the command with --resume");
        assertThat(Files.readString(to)).endsWith("}\n");
    }

    static boolean hasFullDevice() {
        return Files.isWritable(Path.of("/dev/full"));
    }

    @Test
    @EnabledIf("hasFullDevice")
    void full_disk_exits_with_6_without_advice_to_resume() throws IOException {
        Outcome outcome = run(input(3), Path.of("/dev/full"));
        assertThat(outcome.code()).isEqualTo(6);
        assertThat(outcome.err()).contains("No space left on device").doesNotContain("--resume");
    }

    /** A limit on the size of files acts like a full disk. */
    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "needs a shell")
    void advice_to_resume_follows_the_reason_why_the_output_cannot_be_written() throws Exception {
        List<String> shell = new ArrayList<>(List.of("sh", "-c", "ulimit -f 4096; exec \"$0\" \"$@\""));
        shell.addAll(
                CommandJvm.command(List.of("-XX:-UsePerfData"), command(input(6_000), folder.resolve("out.jsonl"))));
        Process process = new ProcessBuilder(shell)
                .redirectError(folder.resolve("err").toFile())
                .start();
        assertThat(process.waitFor()).isEqualTo(6);
        assertThat(folder.resolve("err"))
                .content()
                .contains("out.jsonl cannot be written: ")
                .endsWith("; continue with --resume, which keeps the responses so far" + System.lineSeparator());
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void closed_standard_output_exits_with_141_silently() throws Exception {
        Process process = new ProcessBuilder(CommandJvm.command(command(input(3), Path.of("-"))))
                .redirectError(folder.resolve("err").toFile())
                .start();
        process.getInputStream().close();
        assertThat(process.waitFor(100, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isEqualTo(141);
        assertThat(folder.resolve("err")).content().doesNotContain("written", "resume");
    }

    @EnabledOnOs(value = OS.LINUX, disabledReason = "needs a shell")
    @Test
    void standard_output_keeps_what_others_write_to_its_file() throws Exception {
        Path file = folder.resolve("all");
        List<String> shell = new ArrayList<>(
                List.of("sh", "-c", "(echo before; \"$@\"; echo after) > \"$0\" 2>&1", file.toString()));
        shell.addAll(CommandJvm.command(command(input(3), Path.of("-"), "--ordered")));
        assertThat(new ProcessBuilder(shell).start().waitFor()).isZero();
        List<String> all = Files.readAllLines(file);
        assertThat(all).startsWith("before").endsWith("after");
        assertThat(all.stream().filter(line -> line.startsWith("{"))).hasSize(3);
        assertThat(all).anyMatch(line -> line.startsWith("roseinfer: 3 lines in "));
    }

    @Test
    void missing_directory_of_the_output_is_named() throws IOException {
        Path missing = folder.resolve("missing");
        Outcome outcome = run(input(3), missing.resolve("out.jsonl"));
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains(": no such directory: " + missing);
    }

    @Test
    void standard_output_cannot_be_resumed() throws IOException {
        Outcome outcome = run(input(3), Path.of("-"), "--resume");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("--resume needs a regular file");
    }
}
