package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.cli.CliRunner.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("process")
class ReportCommandTest {
    @TempDir
    private Path directory;

    @Test
    void report_is_written_from_benchmark_results() throws IOException {
        Path json = directory.resolve("run.json");
        assertThat(SimBench.run("--num-requests", "4", "--json", json.toString())
                        .code())
                .isZero();
        Path page = directory.resolve("page.html");
        Outcome outcome = CliRunner.run("report", json.toString(), "-o", page.toString());
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.out()).isEqualTo(page + "\n");
        assertThat(page).content().startsWith("<!DOCTYPE html>").contains("4 requests");
    }

    @Test
    void figures_are_written_as_svg_files() throws IOException {
        Path json = directory.resolve("run.json");
        assertThat(SimBench.run("--num-requests", "4", "--json", json.toString())
                        .code())
                .isZero();
        Path page = directory.resolve("page.html");
        Path figures = directory.resolve("new/figures");
        Outcome outcome =
                CliRunner.run("report", json.toString(), "-o", page.toString(), "--figures", figures.toString());
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.out().lines().toList())
                .contains(
                        page.toString(),
                        figures.resolve("run-time-to-first-token.svg").toString());
        assertThat(figures.resolve("run-requests-in-flight.svg"))
                .content()
                .contains("<svg xmlns=", "requests", "time (s)");
    }

    @Test
    void figure_of_one_of_several_runs_names_its_command_only_without_folders() throws IOException {
        for (String seed : new String[] {"1", "2"}) {
            Path json = directory.resolve("run" + seed + ".json");
            Outcome outcome = CliRunner.run(("bench serve --backend=sim --step-costs=step:2 --model=random:gpt2"
                            + " --num-prompts=4 --random-input-len=8 --random-output-len=4 --seed=" + seed
                            + " --json=" + json)
                    .split(" "));
            assertThat(outcome.code()).as(outcome.err()).isZero();
        }
        Path figures = directory.resolve("figures");
        Outcome outcome = CliRunner.run(
                "report",
                directory.resolve("run1.json").toString(),
                directory.resolve("run2.json").toString(),
                "-o",
                directory.resolve("page.html").toString(),
                "--figures",
                figures.toString());
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(figures.resolve("requests-in-flight-run2.svg"))
                .content()
                .contains("--seed=2", "--json=run2.json")
                .doesNotContain("--seed=1", directory.toString());
    }

    @Test
    void figures_of_simulated_time_name_its_costs_and_the_extrapolated_share() throws IOException {
        String run = Files.readString(Path.of("src/test/resources/results/serve-simulated.json"));
        Path json = directory.resolve("run.json");
        Files.writeString(json, run.replace("\"notes\" : [ \"a note\" ]", "\"extrapolated_share\" : 0.25"));
        Path figures = directory.resolve("figures");
        Outcome outcome = CliRunner.run(
                "report",
                json.toString(),
                "-o",
                directory.resolve("page.html").toString(),
                "--figures",
                figures.toString());
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(figures.resolve("run-tokens-per-second.svg"))
                .content()
                .contains("simulated time, step:2,token:0.1", "up to 25.0 % of the simulated time is extrapolated");
    }

    @Test
    void results_of_one_file_name_differ_by_their_directories() throws IOException {
        List<String> files = new ArrayList<>();
        for (String name : List.of("old", "new")) {
            Path file = Files.createDirectory(directory.resolve(name)).resolve("run.json");
            assertThat(SimBench.run("--num-requests", "4", "--json", file.toString())
                            .code())
                    .isZero();
            files.add(file.toString());
        }
        Path page = directory.resolve("page.html");
        assertThat(CliRunner.run("report", files.get(0), files.get(1), "-o", page.toString())
                        .code())
                .isZero();
        assertThat(page)
                .content()
                .contains("<strong>old/run", "<strong>new/run")
                .doesNotContain("<strong>run");
    }

    /** The report of {@code --report} equals the report of the results file. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "model --model=random:gpt2 --prefill=32,4x8 --decode=1,3 --repeat-runs=3 | Steps of the model: model | 2 | 5",
                "scheduler --model=random:gpt2 --mode=online --num-requests=3 --max-new-tokens=4 | The scheduler driven directly, online: scheduler | 2 | 10",
                "scheduler --running=1,8 --waiting=0,10 --steps=20 | Scheduler time per step: scheduler | 1 | 5"
            })
    void benchmark_without_a_load_has_a_report_and_a_csv(String flags, String title, int charts, int csvLines)
            throws IOException {
        String name = flags.substring(0, flags.indexOf(' '));
        Path json = directory.resolve(name + ".json");
        Path page = directory.resolve("page.html");
        Path csv = directory.resolve("points.csv");
        Outcome outcome = CliRunner.run(
                ("bench " + flags + " --device=sim --json=" + json + " --report=" + page + " --csv=" + csv).split(" "));
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(page).content().contains("<h2>" + title + "</h2>").doesNotContain("Definitions");
        assertThat(Files.readString(page).split("<figure>", -1)).hasSize(charts + 1);
        assertThat(csv).content().hasLineCount(csvLines);
        Path again = directory.resolve("again.html");
        assertThat(CliRunner.run("report", json.toString(), "-o", again.toString())
                        .code())
                .isZero();
        assertThat(again).hasSameTextualContentAs(page);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"roseinfer\":{\"kind\":\"serve\",\"schema\":9,\"requests\":[]}}",
                "{\"roseinfer\":{\"kind\":\"serve\",\"requests\":[{\"error\":null,\"due_ns\":\"noon\"}]}}",
                "{\"roseinfer\":{\"kind\":\"ab\",\"ratios\":{\"x\":{\"ratio\":1,\"low\":0,\"high\":\"Infinity\"}}}}"
            })
    void incompatible_file_is_reported_in_one_line(String text) throws IOException {
        Path json = Files.writeString(directory.resolve("run.json"), text);
        Outcome outcome = CliRunner.run("report", json.toString(), "-o", directory + "/page.html");
        assertThat(outcome.code()).as(outcome.err()).isEqualTo(2);
        assertThat(outcome.err()).contains("run.json").hasLineCount(1);
    }

    @Test
    void missing_file_is_reported_by_name() {
        Outcome outcome = CliRunner.run("report", directory.resolve("none.json").toString());
        assertThat(outcome.code()).isEqualTo(3);
        assertThat(outcome.err()).contains("none.json: no such file").hasLineCount(1);
    }

    @Test
    void report_does_not_overwrite_results() throws IOException {
        Path json = Files.writeString(directory.resolve("run.json"), "{}");
        Outcome outcome = CliRunner.run("report", json.toString(), "-o", json.toString());
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("is one of the results files");
        assertThat(json).hasContent("{}");
    }

    @Test
    void file_of_many_documents_is_rejected_with_a_clear_message() throws IOException {
        Path lines = Files.writeString(directory.resolve("lines.jsonl.json"), "{\"a\":1}\n{\"a\":2}\n");
        Outcome outcome = CliRunner.run("report", lines.toString());
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err())
                .contains("is not a JSON document: there is more text after the first value")
                .doesNotContain("FAIL_ON", "jackson")
                .hasLineCount(1);
    }
}
