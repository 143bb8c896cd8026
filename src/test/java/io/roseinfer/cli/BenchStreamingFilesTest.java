package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.StrictJson;
import io.roseinfer.cli.CliRunner.Outcome;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Tests of the files of {@code --json} and {@code --timeline}. */
@Tag("process")
class BenchStreamingFilesTest {
    @TempDir
    Path folder;

    @Test
    void zst_file_is_the_compressed_json_document() throws IOException {
        JsonNode document = SimBench.results(folder, "run.json.zst", "--num-requests", "2", "--repeat-runs", "3");
        assertThat(document.at("/schema").intValue()).isEqualTo(1);
        assertThat(document.at("/runs")).hasSize(3);
    }

    @Test
    void pipe_gets_one_document_of_all_runs() throws Exception {
        Path pipe = folder.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        // Opening a pipe for both reading and writing does not block.
        try (RandomAccessFile reader = new RandomAccessFile(pipe.toFile(), "rw")) {
            Outcome outcome = SimBench.run(
                    "--json", pipe.toString(), "--num-requests", "1", "--max-new-tokens", "1", "--repeat-runs", "2");
            assertThat(outcome.code()).as(outcome.err()).isZero();
            byte[] written = new byte[1 << 16];
            JsonNode document = StrictJson.parse(Arrays.copyOf(written, reader.read(written)));
            assertThat(document.get("runs").size()).isEqualTo(2);
        }
    }

    @EnabledOnOs(value = OS.LINUX, disabledReason = "needs a shell")
    @Test
    void standard_output_gets_one_document_after_the_text_of_others() throws Exception {
        Path file = folder.resolve("all");
        List<String> shell =
                new ArrayList<>(List.of("sh", "-c", "(echo before; \"$@\"; echo after) > \"$0\"", file.toString()));
        shell.addAll(CommandJvm.command(
                "bench",
                "--device=sim",
                "--model=builtin:tiny",
                "--num-requests=1",
                "--max-new-tokens=1",
                "--repeat-runs=2",
                "--json=/dev/stdout"));
        Process process = new ProcessBuilder(shell)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        assertThat(process.waitFor()).isZero();
        List<String> all = Files.readAllLines(file);
        assertThat(all).startsWith("before").endsWith("after");
        assertThat(all).contains("=== run 1/2 ===", "=== run 2/2 ===");
        assertThat(all.stream().filter(line -> line.startsWith("{"))).hasSize(1);
    }

    /** Keeps the output, and the content of a file at the time a given line is printed. */
    private static final class Watching extends StringWriter {
        private final Path file;
        private final String line;
        private String seen = "nothing";

        Watching(Path file, String line) {
            this.file = file;
            this.line = line;
        }

        @Override
        public void write(String text, int from, int length) {
            super.write(text, from, length);
            if (text.startsWith(line, from)) {
                try {
                    seen = Files.exists(file) ? Files.readString(file) : "no file";
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"--json, '\"submit_wall_s\"'", "--timeline, '\"process_name\"'"})
    void finished_run_is_in_the_file_during_the_next_one(String flag, String oncePerRun) {
        Path file = folder.resolve("run.json");
        Watching out = new Watching(file, "=== run 3/3");
        Outcome outcome = CliRunner.run(
                out,
                Map.of(),
                "bench",
                "--model=random:gpt2",
                "--device=sim",
                "--num-requests=2",
                "--warmup-runs=1",
                "--repeat-runs=3",
                flag,
                file.toString());
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(out.seen.split(oncePerRun, -1)).hasSize(1 + 2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"trace.json", "trace.json.zst", "trace.json.gz"})
    void timeline_has_all_runs_and_prints_no_additional_line(String name) throws IOException {
        Path file = folder.resolve(name);
        Outcome outcome = SimBench.run("--timeline", file.toString(), "--num-requests", "3", "--repeat-runs", "2");
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.err()).isEmpty();
        assertThat(outcome.out()).doesNotContainIgnoringCase("timeline", "trace");
        JsonNode trace = SimBench.read(file);
        assertThat(trace.at("/dropped_steps").intValue()).isZero();
        assertThat(SimBench.elements(trace.at("/traceEvents"))
                        .filter(event -> event.at("/name").stringValue().equals("thread_name"))
                        .map(event -> event.at("/pid").intValue() + " "
                                + event.at("/args/name").stringValue()))
                .containsExactly(
                        "1 engine",
                        "1 request 0",
                        "1 request 1",
                        "1 request 2",
                        "2 engine",
                        "2 request 0",
                        "2 request 1",
                        "2 request 2");
    }

    @Test
    void timeline_in_a_missing_directory_is_rejected_before_the_run() {
        Outcome outcome =
                SimBench.run("--timeline", folder.resolve("none/trace.json").toString());
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.out()).isEmpty();
        assertThat(outcome.err())
                .contains("--timeline")
                .contains("create it first")
                .hasLineCount(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"run.json", "./run.json", "link/run.json"})
    void one_file_for_json_and_timeline_is_rejected_for_every_path(String name) throws IOException {
        Files.createSymbolicLink(folder.resolve("link"), folder);
        Outcome outcome = SimBench.run("--json", folder + "/run.json", "--timeline", folder + "/" + name);
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("--json and --timeline both name").hasLineCount(1);
        assertThat(folder.resolve("run.json")).doesNotExist();
    }

    /** The temporary directory is missing, so the JVM cannot extract native libraries. */
    @Test
    void missing_zstd_library_is_reported_before_the_run() throws Exception {
        Path file = Files.writeString(folder.resolve("run.json.zst"), "an older result");
        Process process = new ProcessBuilder(CommandJvm.command(
                        List.of("-Djava.io.tmpdir=" + folder.resolve("none")),
                        "bench",
                        "--device=sim",
                        "--model=random:gpt2",
                        "--json=" + file))
                .redirectError(folder.resolve("stderr").toFile())
                .start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isEqualTo(2);
        assertThat(out).isEmpty();
        assertThat(folder.resolve("stderr")).content().contains("zstd", ".gz");
        assertThat(file).hasContent("an older result");
    }
}
