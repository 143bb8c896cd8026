package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.Clock;
import io.roseinfer.base.Printable;
import io.roseinfer.cli.terminal.Terminal;
import io.roseinfer.golden.Golden;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Checks that text of model files cannot send control characters to a terminal. */
@Tag("process")
class TerminalTest {
    /** Sets the title, clears the screen and reverses the text direction. */
    private static final String ATTACK = "\\u001b]0;owned\\u0007\\u001b[2J\\u202e";

    @TempDir
    private Path directory;

    private static void assertHarmless(String written) {
        assertThat(written).startsWith("roseinfer: ").hasLineCount(1).endsWith(System.lineSeparator());
        assertThat(written.strip().codePoints())
                .allMatch(point -> Printable.isPrintable(point) && Character.getType(point) != Character.CONTROL);
    }

    private static String noted(String message) {
        StringWriter err = new StringWriter();
        PrintWriter none = new PrintWriter(new StringWriter());
        new Terminal(none, new PrintWriter(err), false, Map.of(), Map.of(), Clock.system()).note(message);
        return err.toString();
    }

    @Test
    void note_escapes_control_characters() {
        StringBuilder everything = new StringBuilder();
        for (int point = 0; point <= Character.MAX_CODE_POINT; point++) {
            everything.append('a').appendCodePoint(point);
        }
        assertHarmless(noted(everything.toString()));
    }

    @Test
    void note_keeps_ordinary_text() {
        String text = "naïve \"世界\" \\u001b 🌹 C:\\models: 100 %";
        assertThat(noted(text)).isEqualTo("roseinfer: " + text + System.lineSeparator());
    }

    @Test
    void escaping_a_note_twice_changes_nothing() {
        String once = noted("a\u001b[2Jb\u202e\nc").strip();
        assertThat(once).isEqualTo("roseinfer: a\\u001b[2Jb\\u202e c");
        assertThat(Printable.line(once)).isEqualTo(once);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            config.json           | {"model_type":"%s"}
            config.json           | {"model_type":"gpt2","activation_function":"%s"}
            config.json           | {"model_type":"gpt2","quantization_config":{"quant_method":"%s"}}
            config.json           | {"model_type":"gpt2","n_layer":"%s"}
            config.json           | {"model_type":"gpt2","%s":1,"%s":2}
            generation_config.json| {"eos_token_id":"%s"}
            tokenizer.json        | {"pre_tokenizer":{"type":"%s"}}
            tokenizer.json        | {"pre_tokenizer":{"type":"ByteLevel"},"decoder":{"type":"%s"}}
            tokenizer.json        | {"pre_tokenizer":{"type":"ByteLevel"},"model":{"type":"%s"}}
            tokenizer_config.json | {"added_tokens_decoder":{"%s":{"content":"x"}}}
            model.safetensors     | %s""")
    void control_characters_of_model_files_are_escaped(String file, String content) throws IOException {
        Golden.copyFiles("relu", directory);
        Files.writeString(directory.resolve(file), content.replace("%s", ATTACK));
        CliRunner.Outcome outcome = CliRunner.run(
                "generate", "--model", directory.toString(), "--prompt-ids", "1", "--max-new-tokens", "1");
        // Without a supported tokenizer a model accepts ids only, and the command reports the reason.
        assertThat(outcome.code()).isEqualTo(file.startsWith("tokenizer") ? 0 : 3);
        assertHarmless(outcome.err());
    }

    @Test
    void generate_escapes_control_characters_of_a_tokenizer() throws IOException {
        Golden.copyFiles("relu", directory);
        Files.writeString(directory.resolve("vocab.json"), "{}");
        Files.write(directory.resolve("merges.txt"), List.of("#version: 0.2", "a\u001b[2J b c"));
        CliRunner.Outcome outcome = CliRunner.run("generate", "--model", directory.toString(), "--prompt-ids", "1");
        assertThat(outcome.code()).isZero();
        assertHarmless(outcome.err());
        assertThat(outcome.err()).contains("a\\u001b[2J b c");
    }

    @Test
    void stack_trace_escapes_control_characters() throws IOException {
        Golden.copyFiles("relu", directory);
        Files.writeString(directory.resolve("config.json"), "{\"model_type\":\"" + ATTACK + "\"}");
        CliRunner.Outcome outcome =
                CliRunner.run("--trace", "generate", "--model", directory.toString(), "--prompt-ids", "1");
        assertThat(outcome.err()).contains("at io.roseinfer").doesNotContain("\u001b", "\u0007", "\u202e");
    }
}
