package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.Precision;
import io.roseinfer.cli.CliRunner.Outcome;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.QueueView;
import io.roseinfer.scheduler.policy.WaitingRequest;
import java.io.IOException;
import java.io.Writer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks that an invalid command line exits with 2 and one line that names the flag. */
class UsageTest {

    /** Numeric flags with values outside their ranges. */
    static Stream<Arguments> wrongNumbers() {
        List<String> positive = List.of(
                "--num-requests",
                "--max-new-tokens",
                "--max-batch-size",
                "--prefill-max-batch-size",
                "--prefill-max-tokens",
                "--prefill-admission-lookahead",
                "--max-active-requests",
                "--max-inflight-requests",
                "--stream-interval",
                "--repeat-runs",
                "--block-size",
                "--prompt-repeats",
                "--threads");
        List<String> notNegative =
                List.of("--prefill-force-fifo-every", "--tokenize-workers", "--warmup-runs", "--kv-blocks", "--top-k");
        List<String> real =
                List.of("--temperature", "--top-p", "--min-p", "--repetition-penalty", "--submit-interval-ms");
        return Stream.of(
                        cross(positive, "0", "-5", "1e3", "99999999999", "NaN", "x", ""),
                        cross(notNegative, "-1", "0.5", "NaN", ""),
                        cross(real, "NaN", "Infinity", "-1", "1e9", "0x1p3", "x", ""),
                        cross(List.of("--presence-penalty", "--frequency-penalty"), "NaN", "-2.5", "3"),
                        cross(List.of("--threads"), "1025"),
                        cross(
                                List.of(
                                        "--max-batch-size",
                                        "--prefill-max-batch-size",
                                        "--prefill-admission-lookahead"),
                                "65537",
                                "2147483647"),
                        cross(List.of("--repetition-penalty"), "0.009", "1e-38"),
                        cross(List.of("--prompt-repeats"), "1,,2", "1,0", ","))
                .flatMap(rows -> rows);
    }

    private static Stream<Arguments> cross(List<String> flags, String... values) {
        return flags.stream().flatMap(flag -> Arrays.stream(values).map(value -> Arguments.of(flag, value)));
    }

    @ParameterizedTest
    @MethodSource("wrongNumbers")
    void number_out_of_range_names_the_flag(String flag, String value) {
        Outcome outcome = CliRunner.run("bench", flag, value);
        assertThat(outcome.code()).as(outcome.err()).isEqualTo(2);
        assertThat(outcome.err()).contains(flag + " is ").hasLineCount(1);
        assertThat(outcome.out()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "--device, gpu, 'auto, cpu, cuda, sim, FILE.java, CLASS'",
        "--device, cuda:x, 'auto, cpu, cuda, sim, FILE.java, CLASS'",
        "--device, cpu:1, 'auto, cpu, cuda, sim, FILE.java, CLASS'",
        "--submit-schedule, poisson, 'relative, absolute'"
    })
    void unknown_word_lists_the_known_ones(String flag, String value, String known) {
        Outcome outcome = CliRunner.run("bench", flag, value);
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err())
                .isEqualTo("roseinfer: invalid value for option '" + flag + "': '" + value + "' is not one of " + known
                        + System.lineSeparator());
    }

    @Test
    void unknown_dtype_lists_every_precision() {
        Outcome outcome = CliRunner.run("bench", "--dtype", "float");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err())
                .isEqualTo("roseinfer: invalid value for option '--dtype': 'float' is not one of " + precisions(", ")
                        + System.lineSeparator());
    }

    @Test
    void help_of_dtype_lists_every_precision() {
        assertThat(CliRunner.run("generate", "--help").out()).contains("--dtype=<" + precisions("|") + ">");
    }

    private static String precisions(String separator) {
        return Stream.of(Precision.values()).map(Precision::label).collect(Collectors.joining(separator));
    }

    @Test
    void missing_policy_class_suggests_the_class_path_variable() {
        Outcome outcome = CliRunner.run("bench", "--prefill-admission-policy", "mine.Policy:8");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err())
                .contains("'mine.Policy:8'", "ROSEINFER_CLASSPATH=FOLDER")
                .hasLineCount(1);
        Outcome found = CliRunner.run("bench", "--prefill-admission-policy", "java.lang.String");
        assertThat(found.err()).doesNotContain("ROSEINFER_CLASSPATH");
    }

    @ParameterizedTest
    @CsvSource({
        "--prefill-admission-policy, fiffo, fifo",
        "--preemption-policy, youngst, youngest",
        "--kv-eviction-policy, lrru, lru",
        "--step-costs, 'step:2,tokens:0.1', token"
    })
    void misspelled_name_of_a_policy_or_cost_has_a_suggestion(String flag, String value, String meant) {
        Outcome outcome = CliRunner.run("bench", "serve", "--backend=sim", flag, value);
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).endsWith("; did you mean " + meant + "?" + System.lineSeparator());
    }

    @ParameterizedTest
    @ValueSource(strings = {"lifo", "java.lang.String", "io.roseinfer.scheduler.policy.AdmissionPolicy", ""})
    void unknown_admission_policy_lists_the_known_ones(String policy) {
        Outcome outcome = CliRunner.run("bench", "--prefill-admission-policy", policy);
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err())
                .contains("--prefill-admission-policy is '" + policy + "'; it must be fifo, pack or")
                .hasLineCount(1);
    }

    @ParameterizedTest
    @CsvSource({"--preemption-policy, youngest", "--kv-eviction-policy, lru", "--step-policy, default"})
    void unknown_policy_lists_the_known_ones(String flag, String known) {
        Outcome outcome = CliRunner.run("bench", flag, "java.lang.String");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err())
                .contains(flag + " is 'java.lang.String'; it must be " + known + " or")
                .hasLineCount(1);
    }

    public static final class Failing implements AdmissionPolicy {
        public Failing() {
            throw new IllegalStateException("no crystal ball");
        }

        @Override
        public int lookahead() {
            return 1;
        }

        @Override
        public long rank(WaitingRequest request, QueueView queue) {
            return 0;
        }
    }

    @Test
    void failed_policy_creation_gives_the_reason() {
        Outcome outcome = CliRunner.run("bench", "--prefill-admission-policy", Failing.class.getName());
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err())
                .contains("constructor failed", "no crystal ball")
                .hasLineCount(1);
    }

    public static final class Parametric implements AdmissionPolicy {
        public Parametric(String argument) {
            throw new IllegalStateException("given " + argument);
        }

        @Override
        public int lookahead() {
            return 1;
        }

        @Override
        public long rank(WaitingRequest request, QueueView queue) {
            return 0;
        }
    }

    @Test
    void policy_argument_is_all_text_after_the_colon() {
        Outcome outcome = CliRunner.run("bench", "--prefill-admission-policy", Parametric.class.getName() + ":8:0.5");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("constructor failed", "given 8:0.5").hasLineCount(1);
    }

    public static final class Numeric implements AdmissionPolicy {
        public Numeric(String argument) {
            int unused = Integer.parseInt(argument);
        }

        @Override
        public int lookahead() {
            return 1;
        }

        @Override
        public long rank(WaitingRequest request, QueueView queue) {
            return 0;
        }
    }

    @Test
    void policy_argument_that_is_no_number_is_named() {
        Outcome outcome = CliRunner.run("bench", "--prefill-admission-policy", Numeric.class.getName() + ":many");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err())
                .contains("whose argument 'many' is not the number that its constructor expects")
                .hasLineCount(1);
    }

    @Test
    void misspelled_flag_suggests_the_nearest_one() {
        Outcome outcome = CliRunner.run("bench", "--num-request=4");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err())
                .isEqualTo("roseinfer: unknown option: '--num-request=4'; did you mean --num-requests?"
                        + System.lineSeparator());
    }

    @Test
    void value_of_a_misspelled_flag_is_not_named_as_a_flag() {
        assertThat(CliRunner.run("serve", "--max-batchsize", "8").err())
                .isEqualTo("roseinfer: unknown option: '--max-batchsize'; did you mean --max-batch-size?"
                        + System.lineSeparator());
        assertThat(CliRunner.run("serve", "--max-batchsize", "8", "--prot", "1").err())
                .startsWith("roseinfer: unknown options: '--max-batchsize', '--prot'; ");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "generate --temperature 200 | --temperature is 200; it must be 0 to 100",
                "generate --temperature warm | --temperature is 'warm'; it must be a number, 0 to 100",
                "bench serve --engines 80 | --engines is 80; it must be 1 to 64",
                "bench serve --replicas=80 | --replicas is 80; it must be 1 to 64",
                "serve --port 99999 | --port is 99999; it must be 0 to 65535",
                "serve --port 0.5 | --port is '0.5'; it must be a whole number, 0 to 65535",
                "serve --request-timeout 9s | --request-timeout is '9s'; it must be a whole number of seconds, 1 or more",
                "generate --prompt-ids 1,4294967296 | --prompt-ids is 4294967296; it must be 0 or more, and at most 2147483647",
                "genrate | unknown command 'genrate'; did you mean generate?",
                "serve now | unexpected argument 'now'"
            })
    void message_has_the_value_and_the_allowed_ones(String arguments, String message) {
        assertThat(CliRunner.run(arguments.split(" ")).err())
                .isEqualTo("roseinfer: " + message + System.lineSeparator());
    }

    @Test
    void misspelled_benchmark_suggests_the_nearest_one() {
        Outcome outcome = CliRunner.run("bench", "sheduler");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err())
                .contains("'sheduler'; did you mean scheduler?")
                .hasLineCount(1);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "generat | generate",
                "bench --wormup-runs 3 | --warmup-runs",
                "bench --max-bacth-size=3 | --max-batch-size",
                "generate --no-cuda-grahp | --no-cuda-graph",
                "bench --dtype bf61 | bf16",
                "bench --dtype int | int8 or int4",
                "bench --device simm | sim",
                "generate --model builtin:chatt --prompt x | builtin:chat",
                "generate --model random:gpt3 --prompt x | random:gpt2"
            })
    void misspelled_word_suggests_the_nearest_allowed_one(String arguments, String meant) {
        Outcome outcome = CliRunner.run(arguments.split(" "));
        assertThat(outcome.err()).endsWith("; did you mean " + meant + "?" + System.lineSeparator());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "bench --enable-chunked-prefill | is --chunked-prefill here",
                "bench --max-num-seqs 8 | is --max-batch-size (rows of a decode step) or --max-active-requests",
                "serve --max-num-batched-tokens=8 | is --prefill-max-tokens here",
                "serve --gpu-memory-utilization 0.9 | is --kv-blocks here",
                "serve --num-gpu-blocks-override 9 | is --kv-blocks here",
                "generate --enforce-eager | is --no-cuda-graph here",
                "serve --tensor-parallel-size 2 | --replicas runs several copies",
                "serve --enable-prefix-caching | is on by default; --no-prefix-cache disables it",
                "serve --no-enable-prefix-caching | is --no-prefix-cache here",
                "bench serve --host 127.0.0.1 --port 8000 | is part of --base-url here",
                "bench serve --port 8000 | is part of --base-url here",
                "bench serve --endpoint /v1/completions | is --endpoint-type here",
                "bench serve --disable-tqdm | is not needed: a progress bar appears on a terminal only",
                "bench serve --tokenizer gpt2 | is not needed",
                "bench serve --result-dir x | is part of --result-filename (or --json) here",
                "bench serve --top-p 0.9 | is a field of --extra-body here",
                "bench serve --save-detailed | the --json file has every request"
            })
    void flag_of_vllm_suggests_its_counterpart(String arguments, String meant) {
        Outcome outcome = CliRunner.run(arguments.split(" "));
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err())
                .contains("; vLLM's --", meant)
                .doesNotContain("did you mean")
                .hasLineCount(1);
    }

    @Test
    void flag_of_vllm_has_no_suggestion_in_a_command_without_counterpart() {
        assertThat(CliRunner.run("generate", "--prompt", "x", "--max-num-batched-tokens", "8")
                        .err())
                .doesNotContain("--prefill-max-tokens");
        assertThat(CliRunner.run("generate", "--prompt", "x", "--host", "y").err())
                .doesNotContain("--base-url");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "sweep --vary request-rates=5,20 | --vary: unknown option: '--request-rates=5'; did you mean --request-rate?",
                "ab --a=--max-active-request=2 --b= | did you mean --max-active-requests?",
                "ab --a=--enforce-eager --b= | is --no-cuda-graph here"
            })
    void flag_within_a_value_is_reported_as_on_the_command_line(String arguments, String meant) {
        Outcome outcome = CliRunner.run(("bench " + arguments).split(" "));
        assertThat(outcome.code()).as(outcome.err()).isEqualTo(2);
        assertThat(outcome.err()).contains(meant).hasLineCount(1);
    }

    @Test
    void part_of_a_flag_suggests_the_full_flags() {
        assertThat(CliRunner.run("bench", "--batch-size", "8").err())
                .endsWith("; did you mean --max-batch-size or --prefill-max-batch-size?" + System.lineSeparator());
    }

    @ParameterizedTest
    @ValueSource(strings = {"bench serve --insecure", "bench --zebra", "serve --quantum", "--metadata"})
    void dissimilar_flag_has_no_suggestion(String arguments) {
        Outcome outcome = CliRunner.run(arguments.split(" "));
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("unknown option: ").doesNotContain("did you mean");
    }

    @Test
    void dissimilar_word_has_no_suggestion() {
        assertThat(CliRunner.run("bench", "--dtype", "double").err())
                .contains("is not one of " + precisions(", "))
                .doesNotContain("did you mean");
    }

    @ParameterizedTest
    @ValueSource(strings = {"builtin:nope", "random:nope", "./nope", "nope/nope/"})
    void missing_model_exits_with_3(String model) {
        assertThat(CliRunner.run("generate", "--offline", "--model", model, "--prompt", "x")
                        .code())
                .isEqualTo(3);
    }

    @ParameterizedTest
    @ValueSource(strings = {"--seed", "--prompt", "--json", "--model"})
    void repeated_flag_is_named(String flag) {
        Outcome outcome = CliRunner.run("bench", flag, "1", flag, "2");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains(flag).contains("more than once").hasLineCount(1);
    }

    @Test
    void flag_without_a_value_is_named() {
        Outcome outcome = CliRunner.run("bench", "--num-requests");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("'--num-requests'").hasLineCount(1);
    }

    @Test
    void flag_in_place_of_a_value_suggests_an_equals_sign() {
        Outcome outcome = CliRunner.run("bench", "--model", "--pretok");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err())
                .isEqualTo("roseinfer: --model has no value; if --pretok is its value, write --model=--pretok"
                        + System.lineSeparator());
    }

    @Test
    void switch_with_its_negation_is_rejected() {
        Outcome outcome = CliRunner.run("bench", "--chunked-prefill", "--no-chunked-prefill");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("--chunked-prefill").hasLineCount(1);
    }

    @Test
    void print_ids_without_a_file_names_the_missing_flag() {
        Outcome outcome = CliRunner.run("bench", "--print-ids");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("--print-ids").contains("--json").hasLineCount(1);
    }

    @Test
    void results_in_a_missing_directory_are_rejected_before_the_run() {
        Outcome outcome = CliRunner.run("bench", "--json", "no-such-folder/run.json");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("--json no-such-folder").hasLineCount(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"bench", "generate"})
    void empty_prompt_is_rejected(String command) {
        Outcome outcome = CliRunner.run(command, "--prompt", "");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("'--prompt'").contains("empty").hasLineCount(1);
    }

    @Test
    void prompt_like_a_flag_suggests_an_equals_sign() {
        Outcome outcome = CliRunner.run("generate", "--prompt", "-hi");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("write --prompt=-hi").hasLineCount(1);
    }

    @Test
    void missing_prompt_names_both_flags() {
        Outcome outcome = CliRunner.run("generate");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("--prompt or --prompt-ids").hasLineCount(1);
    }

    @Test
    void text_with_ids_is_rejected() {
        Outcome outcome = CliRunner.run("generate", "--prompt", "a", "--prompt-ids", "1");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err())
                .contains("mutually exclusive")
                .contains("--prompt-ids")
                .hasLineCount(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-1", "1,-2", "1,,2", "a", "", "4294967296"})
    void invalid_ids_are_rejected(String ids) {
        Outcome outcome = CliRunner.run("generate", "--prompt-ids", ids);
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("--prompt-ids is ").hasLineCount(1);
    }

    @Test
    void logprobs_without_json_name_the_missing_flag() {
        Outcome outcome = CliRunner.run("generate", "--prompt", "a", "--logprobs", "3");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("--logprobs").contains("--json").hasLineCount(1);
    }

    @Test
    void too_many_stop_strings_are_rejected() {
        Outcome outcome = CliRunner.run(
                "generate", "--prompt", "a", "--stop", "1", "--stop", "2", "--stop", "3", "--stop", "4", "--stop", "5");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("stop strings").hasLineCount(1);
    }

    @Test
    void missing_command_lists_all_commands() {
        Outcome outcome = CliRunner.run();
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err())
                .contains("bench, generate, chat, serve, batch, report, doctor")
                .hasLineCount(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"--help", "--version", "bench --help", "generate --help"})
    void closed_output_ends_the_help_command(String command) {
        Writer full = new Writer() {
            @Override
            public void write(char[] text, int offset, int length) throws IOException {
                throw new IOException("no space left on device");
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        assertThat(CliRunner.run(full, Map.of(), command.split(" ")).code()).isEqualTo(141);
    }

    @Test
    void prompt_of_two_dashes_is_accepted_after_an_equals_sign() {
        assertThat(CliRunner.run("generate", "--prompt", "--").err()).contains("write --prompt=--");
        Outcome outcome = CliRunner.run("generate", "--prompt=--", "--device=sim", "--max-new-tokens", "1");
        assertThat(outcome.err()).isEmpty();
        assertThat(outcome.code()).isZero();
    }

    @ParameterizedTest
    @CsvSource({"--prompt, n\ufffd\ufffd", "--model, /tmp/\ufffd"})
    void argument_unreadable_in_the_locale_is_rejected(String flag, String value) {
        Outcome outcome = CliRunner.runEncoded("ANSI_X3.4-1968", "generate", flag, value);
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("ANSI_X3.4-1968", "LC_ALL").hasLineCount(1);
    }

    @Test
    void replacement_character_in_a_utf8_prompt_is_accepted() {
        String prompt = "n\ufffd";
        Outcome outcome =
                CliRunner.runEncoded("UTF-8", "generate", "--device=sim", "--max-new-tokens", "1", "--prompt", prompt);
        assertThat(outcome.code()).isZero();
    }
}
