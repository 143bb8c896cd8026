package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.roseinfer.base.StrictJson;
import io.roseinfer.bench.replay.EngineLoad;
import io.roseinfer.bench.replay.RecordedRun;
import io.roseinfer.cli.CliRunner.Outcome;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Runs {@code tools/examples/accuracy} on recordings of this machine. */
class AccuracyScriptTest {
    @TempDir
    private static Path folder;

    private static String fit = "";
    private static String run = "";
    private static String again = "";
    private static String other = "";
    private static String otherAgain = "";
    private static String sameLoad = "";
    private static String sameLengths = "";

    /**
     * Records in a separate JVM, without the vector kernels, which take longer to compile than to run.
     */
    @BeforeAll
    static void record() throws Exception {
        fit = file("fit");
        run = file("run");
        again = file("again");
        other = file("other");
        sameLoad = file("same-load");
        otherAgain = file("other-again");
        sameLengths = file("same-lengths");
        Outcome recorded = CommandJvm.run(
                Recorder.class,
                fit,
                "1",
                "100",
                run,
                "2",
                "100",
                again,
                "2",
                "100",
                other,
                "3",
                "100",
                otherAgain,
                "3",
                "100",
                sameLoad,
                "2",
                "100",
                sameLengths,
                "2",
                "50");
        assertThat(recorded.code()).as(recorded.err()).isZero();
        RecordedSteps.timeByTokens(Path.of(fit));
        RecordedSteps.timeByTokens(Path.of(sameLengths));
    }

    private static String file(String name) {
        return folder.resolve(name + ".json").toString();
    }

    /** Records runs; the arguments are the file, the seed and the rate of each. */
    static final class Recorder {
        private Recorder() {}

        public static void main(String[] args) {
            for (int i = 0; i < args.length; i += 3) {
                Outcome run = CliRunner.run(
                        "bench",
                        "serve",
                        "--backend=engine",
                        "--device=cpu",
                        "--threads=1",
                        "--model=builtin:tiny",
                        "--num-prompts=12",
                        "--request-rate=" + args[i + 2],
                        "--random-input-len=16",
                        "--random-output-len=8",
                        "--metric-percentiles=50,90,99",
                        "--max-dispatch-lag-ms=1000",
                        "--seed=" + args[i + 1],
                        "--json=" + args[i]);
                assertThat(run.code()).as(run.err()).isZero();
            }
        }
    }

    private Outcome accuracy(String... arguments) throws IOException, InterruptedException {
        Path launcher = folder.resolve("roseinfer");
        String command = CommandJvm.command(List.of("--enable-native-access=ALL-UNNAMED")).stream()
                .map(word -> "'" + word + "'")
                .collect(Collectors.joining(" "));
        Files.writeString(launcher, "#!/bin/sh\nexec " + command + " \"$@\"\n");
        assertThat(launcher.toFile().setExecutable(true)).isTrue();
        Path errors = folder.resolve("errors");
        List<String> words = new ArrayList<>(List.of("python3", "tools/examples/accuracy"));
        words.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(words).redirectError(errors.toFile());
        builder.environment().put("ROSEINFER", launcher.toString());
        Process process = builder.start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Outcome(process.waitFor(), out, Files.readString(errors));
    }

    @Test
    void prediction_is_compared_with_two_recordings_and_its_notes_are_kept() throws Exception {
        Outcome table = accuracy(fit, run, again);
        assertThat(table.code()).as(table.err()).isZero();
        assertThat(table.out())
                .containsPattern("\\| run \\| ([0-9.]+: [+-][0-9.]+, [+-][0-9.]+ \\| ?){12}\n")
                .containsPattern("Largest difference, predicted: ttft [+-][0-9.]+ % \\(run, p[0-9]+\\), tpot .* %"
                        + " \\(run, p[0-9]+\\), itl .* % \\(run, p[0-9]+\\), e2el .* % \\(run, p[0-9]+\\)\n")
                .contains("recorded with builtin:tiny, not validated against real runs")
                .doesNotContain("has the same lengths");
    }

    @Test
    void run_recorded_once_is_compared_with_its_prediction() throws Exception {
        Outcome table = accuracy(fit, run, "-");
        assertThat(table.code()).as(table.err()).isZero();
        assertThat(table.out())
                .containsPattern("\\| run \\| ([0-9.]+: [+-][0-9.]+ \\| ?){12}\n")
                .contains("Validation: ")
                .doesNotContain("Largest difference of AGAIN");
    }

    @Test
    void validation_has_the_errors_and_the_load_of_several_runs() throws Exception {
        String folders = Files.createDirectories(folder.resolve("seed")).toString();
        String same = Files.copy(Path.of(other), Path.of(folders, "run.json")).toString();
        Outcome table = accuracy(fit, run, again, same, otherAgain);
        assertThat(table.code()).as(table.err()).isZero();
        assertThat(table.out().lines().filter(line -> line.startsWith("| " + folder)))
                .hasSize(2);
        String line = table.out()
                .lines()
                .filter(each -> each.startsWith("Validation: "))
                .findFirst()
                .orElse("");
        JsonNode validation = StrictJson.parse(line.substring(line.indexOf('{')).getBytes(StandardCharsets.UTF_8));
        assertThat(validation.get("largest_error_percent").propertyNames())
                .containsExactly("ttft", "tpot", "itl", "e2el");
        assertThat(validation.get("max_batch_size").toString()).isEqualTo("[8,8]");
        EngineLoad load = load(run).max(load(same));
        assertThat(validation.at("/busiest/requests").doubleValue()).isCloseTo(load.requests(), within(0.051));
        assertThat(validation.at("/busiest/waiting").doubleValue()).isCloseTo(load.waiting(), within(0.0051));
        assertThat(validation.at("/longest/prompt_tokens").intValue()).isEqualTo(load.promptTokens());
        assertThat(validation.at("/longest/output_tokens").intValue()).isEqualTo(load.outputTokens());
    }

    private static EngineLoad load(String file) {
        return EngineLoad.of(RecordedRun.read(Path.of(file)).result(), 1);
    }

    @Test
    void costs_of_the_same_lengths_at_another_rate_are_named() throws Exception {
        Outcome table = accuracy(sameLengths, run, again);
        assertThat(table.code()).as(table.err()).isZero();
        assertThat(table.out())
                .contains("Note (run): " + sameLengths + " has the same lengths as the recording, at another rate\n");
    }

    @Test
    void costs_recorded_with_the_load_of_a_run_are_refused() throws Exception {
        for (String costs : List.of(sameLoad, fit + "," + sameLoad)) {
            Outcome refused = accuracy(costs, run, again);
            assertThat(refused.code()).isEqualTo(1);
            assertThat(refused.out()).isEmpty();
            assertThat(refused.err())
                    .isEqualTo("accuracy: " + sameLoad + " has the load of " + run
                            + " (lengths and scheduled times of all 12 requests), so its fit is in-sample; COSTS need another load:"
                            + " record one with another --seed\n");
        }
    }

    @Test
    void files_that_cannot_be_compared_are_refused_in_one_line() throws Exception {
        String without = file("without-requests");
        Files.writeString(
                Path.of(without),
                Files.readString(Path.of(run)).replaceFirst("\"requests\"(\\s*:\\s*\\[)", "\"others\"$1"));
        List<Outcome> refused = List.of(
                accuracy(fit, fit, run),
                accuracy(fit, run, other),
                accuracy(fit, run, "missing.json"),
                accuracy(fit, without, run),
                accuracy("unknown", run, again),
                accuracy("h200-gpt2", run, again),
                accuracy("roofline:h100", run, again));
        assertThat(refused).extracting(Outcome::code).containsOnly(1);
        assertThat(refused.stream().flatMap(outcome -> outcome.err().lines()).toList())
                .zipSatisfy(
                        Stream.of(
                                        "has the requests of",
                                        "are of different commands",
                                        "missing.json is not a result file",
                                        without + " has no requests; record it with",
                                        "--step-costs is unknown: no such file",
                                        ", but h200-gpt2 needs runs of an H200; record them there",
                                        ", but roofline:h100 needs runs of an H100; record them there")
                                .toList(),
                        (line, words) ->
                                assertThat(line).startsWith("accuracy: ").contains(words));
    }
}
