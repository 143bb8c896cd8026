package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.StrictJson;
import io.roseinfer.cli.CliRunner.Outcome;
import io.roseinfer.model.family.ModelDirectory;
import java.io.IOException;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Tests of {@code roseinfer generate} on the simulated device. */
@Tag("process")
class GenerateCommandTest {
    private static String[] args(String... flags) {
        List<String> args = new ArrayList<>(List.of("generate", "--model", "random:gpt2", "--device", "sim"));
        args.addAll(List.of(flags));
        return args.toArray(String[]::new);
    }

    private static Outcome generate(String... flags) {
        return CliRunner.run(args(flags));
    }

    private static JsonNode json(String... flags) {
        List<String> args = new ArrayList<>(List.of("--json"));
        args.addAll(List.of(flags));
        Outcome outcome = generate(args.toArray(String[]::new));
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.out()).hasLineCount(1).endsWith("\n");
        return StrictJson.parse(outcome.out().getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void text_output_equals_the_json_text_and_a_newline() {
        Outcome outcome = generate("--prompt", "Once", "--max-new-tokens", "12");
        String text =
                json("--prompt", "Once", "--max-new-tokens", "12").at("/text").stringValue();
        assertThat(outcome.code()).isZero();
        assertThat(outcome.out()).isEqualTo(text + "\n");
        assertThat(outcome.err()).isEmpty();
    }

    @Test
    void json_has_exactly_the_documented_fields() {
        JsonNode completion = json("--prompt-ids", "1,2,3", "--max-new-tokens", "4", "--no-stop-on-eos");
        assertThat(completion.propertyNames()).containsExactly("prompt_ids", "ids", "text", "finish_reason");
        assertThat(completion.at("/prompt_ids")).hasToString("[1,2,3]");
        assertThat(completion.at("/ids")).hasSize(4);
        assertThat(completion.at("/finish_reason").stringValue()).isEqualTo("length");
    }

    @Test
    void logprobs_have_one_entry_and_its_alternatives_per_token() {
        JsonNode completion = json("--prompt-ids", "1", "--max-new-tokens", "3", "--no-stop-on-eos", "--logprobs", "2");
        assertThat(completion.propertyNames())
                .containsExactly("prompt_ids", "ids", "text", "finish_reason", "logprobs", "top_logprobs");
        assertThat(completion.at("/logprobs")).hasSize(3);
        assertThat(completion.at("/top_logprobs")).hasSize(3);
    }

    @Test
    void prompt_beginning_with_at_is_literal() {
        assertThat(json("--prompt", "@pom.xml", "--max-new-tokens", "1").at("/prompt_ids"))
                .hasToString("[31,79,296,13,19875]");
    }

    @Test
    void prompt_after_an_equals_sign_may_begin_with_a_dash() {
        assertThat(json("--prompt=-hi", "--max-new-tokens", "1").at("/prompt_ids"))
                .hasToString("[12,5303]");
    }

    @Test
    void grammars_restrict_the_text(@TempDir Path folder) throws IOException {
        Path schema = Files.writeString(folder.resolve("schema.json"), "{\"enum\": [\"red\", 17]}");
        Path gbnf = Files.writeString(folder.resolve("numbers.gbnf"), "root ::= [0-9] \"-\" [0-9]\n");
        Path lark = Files.writeString(folder.resolve("numbers.lark"), "start: /[a-c]{3}/\n");
        Map<String, String> texts = Map.of(
                "--json-schema=" + schema,
                "\"red\"|17",
                "--regex=x[yz]{4}",
                "x[yz]{4}",
                "--grammar=" + gbnf,
                "[0-9]-[0-9]",
                "--grammar=" + lark,
                "[a-c]{3}");
        texts.forEach((flag, pattern) -> assertThat(
                        json("--prompt", "Once", flag).at("/text").stringValue())
                .matches(pattern));
    }

    @Test
    void text_cut_before_the_end_of_its_grammar_and_keywords_without_effect_are_noted(@TempDir Path folder)
            throws IOException {
        Path schema = Files.writeString(folder.resolve("schema.json"), "{\"const\": 1, \"nullable\": true}");
        assertThat(generate("--prompt", "Once", "--json-schema=" + schema).err())
                .contains("/nullable has no effect")
                .doesNotContain("incomplete");
        for (String tokens : List.of("--max-new-tokens=2", "--max-new-tokens=2 --json")) {
            String[] flags = ("--prompt=Once --regex=[a-z]{40} " + tokens).split(" ");
            assertThat(generate(flags).err())
                    .contains("the maximum of 2 tokens cut it")
                    .contains("raise --max-new-tokens");
        }
    }

    @Test
    void wrong_grammars_are_named(@TempDir Path folder) throws IOException {
        Path schema = Files.writeString(folder.resolve("schema.json"), "{\"type\": \"word\"}");
        assertThat(generate("--prompt", "Once", "--json-schema=" + schema).err())
                .contains("--json-schema", "schema.json", "word");
        assertThat(generate("--prompt", "Once", "--regex=a", "--grammar=" + schema)
                        .err())
                .contains("--regex and --grammar are both given");
        assertThat(generate("--prompt", "Once", "--grammar=" + folder.resolve("none"))
                        .err())
                .contains("no such file");
    }

    @Test
    void grammar_given_in_place_of_its_file_is_cut_in_the_message() {
        String text = "root ::= " + "\"a\" ".repeat(500);
        assertThat(generate("--prompt", "Once", "--grammar=" + text).err())
                .contains("--grammar root ::= \"a\" ", "no such file")
                .hasSizeLessThan(600);
    }

    @Test
    void output_ends_before_the_stop_string() {
        String text =
                json("--prompt", "Once", "--max-new-tokens", "12").at("/text").stringValue();
        String stop = text.substring(text.length() / 2, text.length() / 2 + 3);
        JsonNode stopped = json("--prompt", "Once", "--max-new-tokens", "12", "--stop=" + stop);
        assertThat(stopped.at("/finish_reason").stringValue()).isEqualTo("stop");
        assertThat(stopped.at("/stop_string").stringValue()).isEqualTo(stop);
        assertThat(stopped.at("/text").stringValue()).isEqualTo(text.substring(0, text.indexOf(stop)));
    }

    @Test
    void id_outside_the_vocabulary_exits_with_2() {
        Outcome outcome = generate("--prompt-ids", "50257");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("50257").hasLineCount(1);
    }

    /** A pipe whose reader exits early, like {@code head}. */
    private static final class ClosingPipe extends Writer {
        private final StringWriter read = new StringWriter();

        @Override
        public void write(char[] text, int from, int length) throws IOException {
            if (read.getBuffer().length() > 20) {
                throw new IOException("Broken pipe");
            }
            read.write(text, from, length);
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }

    @Test
    void closed_output_ends_the_command_silently() {
        Outcome outcome = CliRunner.run(
                new ClosingPipe(), Map.of(), args("--prompt", "Once", "--max-new-tokens", "900", "--no-stop-on-eos"));
        assertThat(outcome.code()).isEqualTo(141);
        assertThat(outcome.err()).isEmpty();
    }

    private static Outcome generate(Path model, String... flags) {
        List<String> args = new ArrayList<>(List.of("generate", "--model", model.toString(), "--device", "cpu"));
        args.addAll(List.of(flags));
        return CliRunner.run(args.toArray(String[]::new));
    }

    @Test
    void default_end_of_text_stops_if_the_vocabulary_has_it(@TempDir Path directory) throws IOException {
        String[] flags = {"--prompt-ids", "1", "--max-new-tokens", "5", "--json"};
        ModelDirectory gpt2 =
                ModelDirectory.at(directory, "\"vocab_size\":50257").alwaysSaying(50256);
        assertThat(generate(gpt2.without("eos_token_id").write(), flags).out()).contains("\"ids\":[50256]", "\"stop\"");
        ModelDirectory small = ModelDirectory.at(directory, "\"vocab_size\":300,\"eos_token_id\":50256");
        Outcome outcome = generate(small.alwaysSaying(7).write(), flags);
        assertThat(outcome.out()).contains("\"ids\":[7,7,7,7,7]", "\"length\"");
        assertThat(outcome.err()).hasLineCount(1).contains("eos_token_id is 50256", "0 to 299");
    }

    @Test
    void text_for_a_model_with_an_unreadable_tokenizer_is_rejected(@TempDir Path directory) throws IOException {
        ModelDirectory.at(directory, "\"vocab_size\":50257").write();
        Files.writeString(directory.resolve("vocab.txt"), "[UNK]");
        Outcome outcome = generate(directory, "--prompt", "hello");
        assertThat(outcome.code()).isEqualTo(3);
        assertThat(outcome.err()).contains("vocab.txt", "no tokenizer", "--prompt-ids");
    }

    @Test
    void failed_library_extraction_suggests_a_directory(@TempDir Path directory) throws IOException {
        Process process = new ProcessBuilder(CommandJvm.command(
                        List.of("-Djava.io.tmpdir=" + directory.resolve("absent")), "generate", "--prompt-ids", "1"))
                .start();
        String err = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(err).contains("builtin:tiny", "zstd library cannot be loaded", "-Djava.io.tmpdir");
        assertThat(err).doesNotContain("zstd -d");
        assertThat(process.onExit().join().exitValue()).isEqualTo(3);
    }

    @Test
    void text_of_random_weights_is_noted_as_meaningless(@TempDir Path folder) throws IOException {
        Path config = Files.writeString(folder.resolve("config.json"), """
                {"model_type":"gpt2","n_embd":2,"n_head":1,"n_layer":1,"vocab_size":50257,"n_positions":64}""");
        Outcome outcome = CliRunner.run(
                "generate", "--device=cpu", "--model=random:" + config, "--prompt=Once", "--max-new-tokens=1");
        assertThat(outcome.err()).contains("has random weights").hasLineCount(1);
    }

    @Test
    void bare_word_suggests_the_prompt_flag() {
        Outcome outcome = CliRunner.run("generate", "Hello");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("'Hello'", "--prompt TEXT").hasLineCount(1);
    }

    @Test
    void text_for_a_model_without_tokenizer_suggests_prompt_ids(@TempDir Path folder) throws IOException {
        Path config = Files.writeString(folder.resolve("config.json"), """
                {"model_type":"gpt2","n_embd":2,"n_head":1,"n_layer":1,"vocab_size":300,"n_positions":64}""");
        Outcome outcome = CliRunner.run("generate", "--device=sim", "--model=random:" + config, "--prompt=hi");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("has no tokenizer", "--prompt-ids").hasLineCount(1);
    }

    @Test
    void generation_config_applies_unless_disabled(@TempDir Path directory) throws IOException {
        ModelDirectory.at(directory).write();
        Files.writeString(directory.resolve("generation_config.json"), "{\"temperature\":5,\"max_new_tokens\":40}");
        List<String> flags =
                List.of("generate", "--model", directory.toString(), "--prompt-ids", "1", "--no-stop-on-eos", "--json");
        Outcome drawn = CliRunner.run(flags.toArray(String[]::new));
        assertThat(drawn.code()).as(drawn.err()).isZero();
        assertThat(drawn.err()).contains("--generation-config none");
        JsonNode ids =
                StrictJson.parse(drawn.out().getBytes(StandardCharsets.UTF_8)).at("/ids");
        List<String> without = new ArrayList<>(flags);
        without.addAll(List.of("--generation-config", "none", "--max-new-tokens", Integer.toString(ids.size())));
        Outcome greedy = CliRunner.run(without.toArray(String[]::new));
        assertThat(greedy.err()).doesNotContain("generation_config");
        assertThat(StrictJson.parse(greedy.out().getBytes(StandardCharsets.UTF_8))
                        .at("/ids"))
                .hasSameSizeAs(ids)
                .isNotEqualTo(ids);
    }

    @Test
    void text_is_equal_with_and_without_speculation() {
        String[] flags = {
            "generate", "--model=builtin:chat", "--prompt=I can see a cat. I can see a", "--no-stop-on-eos"
        };
        Outcome plain = CliRunner.run(flags);
        String[] more = Arrays.copyOf(flags, flags.length + 1);
        more[flags.length] = "--speculate=ngram";
        assertThat(plain.code()).as(plain.err()).isZero();
        assertThat(CliRunner.run(more).out()).isEqualTo(plain.out()).isNotBlank();
    }
}
