package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.cli.CliRunner.Outcome;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the streaming benchmark refuses: in one line, with the code for it, before anything runs. */
class BenchStreamingRefusalTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({
        "--unique-prompts, --unique-prompts",
        "--prompt=a, mutually exclusive",
        "--prompt-repeats=2000000000, 2000000000 tokens"
    })
    void prompt_ids_with_what_is_for_text_are_refused(String flag, String message) {
        Outcome outcome = SimBench.run("--prompt-ids=1", flag);
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains(message).hasLineCount(1);
    }

    @ParameterizedTest
    @CsvSource({
        "--unique-prompts, leave out --unique-prompts",
        "--prompt-repeats=2, leave out --prompt-repeats",
        "--prompt=a, --prompt and --prompt-tokens are mutually exclusive",
        "--prompt-ids=1, --prompt-ids and --prompt-tokens are mutually exclusive"
    })
    void number_of_prompt_tokens_with_another_prompt_is_refused(String flag, String message) {
        Outcome outcome = SimBench.run("--prompt-tokens=5", flag);
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains(message).hasLineCount(1);
    }

    @ParameterizedTest
    @CsvSource({"0, '1 to 16777216'", "1024, the model's context of 1024 tokens", "16777216, prompts of up to 1023"})
    void invalid_number_of_prompt_tokens_is_rejected(String number, String message) {
        Outcome outcome = SimBench.run("--prompt-tokens=" + number);
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("--prompt-tokens", message).hasLineCount(1);
    }

    @Test
    void bench_prompt_longer_than_the_context_is_refused_in_one_line() {
        Outcome outcome = SimBench.run("--prompt-repeats", "2000");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("context").hasLineCount(1);
        assertThat(outcome.out()).isEmpty();
    }

    /** A device that is nowhere: without CUDA there is none at all, and no machine has as many. */
    @Test
    void cuda_device_that_is_not_there_is_code_four() {
        Outcome outcome = CliRunner.run("bench", "--device", "cuda:999", "--model", "random:gpt2");
        assertThat(outcome.code()).isEqualTo(4);
        assertThat(outcome.err()).contains("cuda").hasLineCount(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"./no-such-folder", "pom.xml"})
    void bench_model_that_is_not_there_is_code_three(String model) {
        Outcome outcome = CliRunner.run("bench", "--offline", "--model", model);
        assertThat(outcome.code()).isEqualTo(3);
        assertThat(outcome.err()).contains("model").hasLineCount(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"builtin:huge", "random:gpt9"})
    void bench_name_that_no_model_has_is_code_three(String model) {
        Outcome outcome = CliRunner.run("bench", "--model", model);
        assertThat(outcome.code()).isEqualTo(3);
        assertThat(outcome.err()).contains("allowed are").hasLineCount(1);
    }

    @Test
    void bench_flag_of_a_data_set_without_one_is_refused() {
        Outcome outcome = SimBench.run("--random-input-len", "64");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err())
                .contains("--random-input-len", "--dataset random")
                .hasLineCount(1);
    }

    @Test
    void bench_malformed_reference_is_code_two() {
        Outcome outcome = CliRunner.run("bench", "--model", "not an id");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("allowed are").hasLineCount(1);
    }

    @Test
    void bench_model_without_files_is_code_three() {
        Outcome outcome = CliRunner.run("bench", "--model", folder.toString());
        assertThat(outcome.code()).isEqualTo(3);
        assertThat(outcome.err())
                .contains(folder + "/config.json: cannot be read (no such file); a model directory needs a readable")
                .hasLineCount(1);
    }

    @Test
    void bench_profile_ops_on_another_device_suggests_cpu() {
        Outcome outcome = SimBench.run("--profile-ops");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).hasLineCount(1).contains("--profile-ops", "sim", "--device cpu");
        assertThat(outcome.out()).isEmpty();
    }
}
