package io.roseinfer.bench.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.engine.Prompt;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JsonlPromptsTest {
    @TempDir
    private Path directory;

    private List<OfferedRequest> read(String text, int most) throws IOException {
        return JsonlPrompts.read(Files.writeString(directory.resolve("prompts.jsonl"), text), most, 32);
    }

    @Test
    void prompts_are_text_or_ids_with_an_optional_output_length() throws IOException {
        List<OfferedRequest> requests = read("{\"prompt\":\"Hi\"}\n\n{\"prompt\":[3,4,5],\"output_tokens\":7}\n", 10);
        assertThat(requests).hasSize(2);
        assertThat(requests.get(0)).isEqualTo(new OfferedRequest(0, new Prompt.Text("Hi"), 32));
        assertThat(((Prompt.Tokens) requests.get(1).prompt()).ids()).containsExactly(3, 4, 5);
        assertThat(requests.get(1).outputTokens()).isEqualTo(7);
        assertThat(requests.get(1).promptTokens()).isEqualTo(3);
    }

    @Test
    void grammar_of_a_line_is_kept() throws IOException {
        List<OfferedRequest> requests = read("{\"prompt\":\"Hi\",\"structured_outputs\":{\"regex\":\"a+\"}}\n", 1);
        assertThat(requests.getFirst().structuredOutputs().orElseThrow()).hasToString("{\"regex\":\"a+\"}");
        assertThat(requests.getFirst().withDueNanos(7).structuredOutputs()).isPresent();
        assertThat(requests.getFirst().withOtherIds(7).structuredOutputs()).isPresent();
    }

    @Test
    void null_output_tokens_mean_the_default_length() throws IOException {
        assertThat(read("{\"prompt\":\"Hi\",\"output_tokens\":null}\n", 1)
                        .getFirst()
                        .outputTokens())
                .isEqualTo(32);
    }

    @Test
    void reading_stops_at_the_requested_number() throws IOException {
        assertThat(read("{\"prompt\":\"Hi\"}\n{\"prompt\":\"there\"}\n", 1)).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"prompt\":\"Hi\" | line 1 is not JSON",
                "{\"prompt\":[]} | line 1: prompt must be text or a non-empty list of token ids",
                "{\"prompt\":[1,-2]} | line 1: prompt must be text or a non-empty list of token ids",
                "{\"prompt\":7} | line 1: prompt must be text or a non-empty list of token ids",
                "{\"prompt\":\"a\",\"output_tokens\":0} | line 1: output_tokens is 0",
                "{\"prompt\":\"a\",\"structured_outputs\":{\"xml\":3}} | line 1: structured_outputs.xml is not supported",
                "{\"prompt\":\"a\",\"structured_outputs\":{\"regex\":\"(\"}} | line 1:",
                "{\"prompt\":\"a\",\"timestamp\":3} | line 1: \"timestamp\" is not supported",
                "{\"prompt\":\"a\",\"output_tokens\":3,\"priority\":1} | line 1: \"priority\" is not supported",
                "# | line 1 is not JSON"
            })
    void wrong_line_is_reported_with_its_number(String line, String message) {
        assertThatThrownBy(() -> read(line, 10)).isInstanceOf(BadInput.class).hasMessageContaining(message);
    }
}
