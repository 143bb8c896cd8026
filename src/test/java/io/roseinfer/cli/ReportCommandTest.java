package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.cli.CliRunner.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportCommandTest {
    @TempDir
    private Path directory;

    @Test
    void a_benchmark_s_results_become_a_page() throws IOException {
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
    void a_missing_file_is_told_by_its_name() {
        Outcome outcome = CliRunner.run("report", directory.resolve("none.json").toString());
        assertThat(outcome.code()).isEqualTo(3);
        assertThat(outcome.err()).contains("none.json: no such file").hasLineCount(1);
    }

    @Test
    void results_are_not_overwritten_by_their_page() throws IOException {
        Path json = Files.writeString(directory.resolve("run.json"), "{}");
        Outcome outcome = CliRunner.run("report", json.toString(), "-o", json.toString());
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("is one of the results files");
        assertThat(json).hasContent("{}");
    }
}
