package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.cli.CliRunner.Outcome;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks that {@code bench streaming} rejects invalid flags and models before it runs, with one line and an exit code. */
class BenchStreamingRejectionTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({
        "--unique-prompts, --unique-prompts",
        "--prompt=a, mutually exclusive",
        "--prompt-repeats=2000000000, 2000000000 tokens"
    })
    void prompt_ids_with_text_flags_are_rejected(String flag, String message) {
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
    void prompt_tokens_with_another_prompt_are_rejected(String flag, String message) {
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
    void prompt_longer_than_the_context_is_rejected_in_one_line() {
        Outcome outcome = SimBench.run("--prompt-repeats", "2000");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("context").hasLineCount(1);
        assertThat(outcome.out()).isEmpty();
    }

    /** No machine has this device index. */
    @Test
    void missing_cuda_device_exits_with_4() {
        Outcome outcome = CliRunner.run("bench", "--device", "cuda:999", "--model", "random:gpt2");
        assertThat(outcome.code()).isEqualTo(4);
        assertThat(outcome.err()).contains("cuda").hasLineCount(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"./no-such-folder", "pom.xml"})
    void missing_model_in_offline_mode_exits_with_3(String model) {
        Outcome outcome = CliRunner.run("bench", "--offline", "--model", model);
        assertThat(outcome.code()).isEqualTo(3);
        assertThat(outcome.err()).contains("model").hasLineCount(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"builtin:huge", "random:gpt9"})
    void unknown_model_name_exits_with_3(String model) {
        Outcome outcome = CliRunner.run("bench", "--model", model);
        assertThat(outcome.code()).isEqualTo(3);
        assertThat(outcome.err()).contains("allowed are").hasLineCount(1);
    }

    @Test
    void dataset_flag_without_a_dataset_is_rejected() {
        Outcome outcome = SimBench.run("--random-input-len", "64");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err())
                .contains("--random-input-len", "--dataset random")
                .hasLineCount(1);
    }

    @Test
    void malformed_model_reference_exits_with_2() {
        Outcome outcome = CliRunner.run("bench", "--model", "not an id");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("allowed are").hasLineCount(1);
    }

    @Test
    void model_directory_without_files_exits_with_3() {
        Outcome outcome = CliRunner.run("bench", "--model", folder.toString());
        assertThat(outcome.code()).isEqualTo(3);
        assertThat(outcome.err())
                .contains(folder + "/config.json: cannot be read (no such file); a model directory needs a readable")
                .hasLineCount(1);
    }

    @Test
    void profile_ops_on_sim_suggests_cpu() {
        Outcome outcome = SimBench.run("--profile-ops");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).hasLineCount(1).contains("--profile-ops", "sim", "--device cpu");
        assertThat(outcome.out()).isEmpty();
    }
}
