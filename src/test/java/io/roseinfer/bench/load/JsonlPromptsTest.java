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
        return load(text, most).requests();
    }

    private OfferedLoad load(String text, int most) throws IOException {
        return JsonlPrompts.read(Files.writeString(directory.resolve("prompts.jsonl"), text), most, 32, false);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "{'prompt':'text'} | simulated time has no tokenizer, but prompt is text; give token ids",
                "{'prompt':[1],'structured_outputs':{'regex':'a'}} | simulated time computes no masks; remove structured_outputs"
            })
    void line_that_simulated_time_cannot_run_is_named(String line, String message) throws IOException {
        Path file = Files.writeString(
                directory.resolve("prompts.jsonl"), "{\"prompt\":[1]}\n" + line.replace('\'', '"') + "\n");
        assertThat(JsonlPrompts.read(file, 2, 32, false).requests()).hasSize(2);
        assertThatThrownBy(() -> JsonlPrompts.read(file, 2, 32, true))
                .isInstanceOf(BadInput.class)
                .hasMessageEndingWith("prompts.jsonl line 2: " + message);
    }

    @Test
    void traits_of_a_line_are_kept() throws IOException {
        OfferedRequest request = read(
                        "{\"prompt\":[1],\"output_tokens\":5,\"max_tokens\":9,\"predicted_tokens\":6,\"tenant\":\"a\","
                                + "\"slo\":\"chat\",\"priority\":-2,\"deadline_ms\":12.5}\n",
                        1)
                .getFirst();
        assertThat(request.traits())
                .isEqualTo(OfferedRequest.Traits.NONE
                        .withTenant("a")
                        .withSlo("chat")
                        .withPriority(-2)
                        .withDeadlineMillis(12.5)
                        .withMaxTokens(9)
                        .withPredictedTokens(6));
        assertThat(request.outputTokens()).isEqualTo(5);
        assertThat(request.maxTokens()).isEqualTo(9);
    }

    @Test
    void lines_with_timestamps_are_due_at_them_since_the_earliest() throws IOException {
        OfferedLoad load = load("""
                {"prompt":[1],"timestamp_ms":1500.5}
                {"prompt":[2],"timestamp_ms":1000}
                {"prompt":[3],"timestamp_ms":1500.5}
                """, 3);
        assertThat(load.isScheduled()).isTrue();
        assertThat(load.requests())
                .extracting(OfferedRequest::dueNanos)
                .containsExactly(0L, 500_500_000L, 500_500_000L);
        assertThat(load.requests())
                .extracting(request -> ((Prompt.Tokens) request.prompt()).ids()[0])
                .containsExactly(2, 1, 3);
    }

    @Test
    void lines_without_timestamps_are_due_at_once() throws IOException {
        assertThat(load("{\"prompt\":[1]}\n", 1).isScheduled()).isFalse();
    }

    @Test
    void timestamp_on_some_lines_only_is_rejected() {
        assertThatThrownBy(() -> read("{\"prompt\":[1],\"timestamp_ms\":1}\n{\"prompt\":[2]}\n", 2))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("line 2 lacks timestamp_ms");
    }

    @Test
    void default_length_is_no_longer_than_the_maximum() throws IOException {
        assertThat(read("{\"prompt\":[1],\"max_tokens\":9}\n", 1).getFirst().outputTokens())
                .isEqualTo(9);
    }

    @Test
    void prompts_are_text_or_ids_with_an_optional_output_length() throws IOException {
        List<OfferedRequest> requests = read("{\"prompt\":\"Hi\"}\n\n{\"prompt\":[3,4,5],\"output_tokens\":7}\n", 10);
        assertThat(requests).hasSize(2);
        assertThat(requests.get(0)).isEqualTo(OfferedRequest.of(0, new Prompt.Text("Hi"), 32));
        assertThat(((Prompt.Tokens) requests.get(1).prompt()).ids()).containsExactly(3, 4, 5);
        assertThat(requests.get(1).outputTokens()).isEqualTo(7);
        assertThat(requests.get(1).promptTokens()).isEqualTo(3);
    }

    @Test
    void grammar_of_a_line_is_kept() throws IOException {
        List<OfferedRequest> requests = read("{\"prompt\":\"Hi\",\"structured_outputs\":{\"regex\":\"a+\"}}\n", 1);
        assertThat(requests.getFirst().constraints().orElseThrow())
                .hasToString("{\"structured_outputs\":{\"regex\":\"a+\"}}");
        assertThat(requests.getFirst().withDueNanos(7).constraints()).isPresent();
        assertThat(requests.getFirst().withOtherIds(7).constraints()).isPresent();
    }

    @Test
    void format_and_tools_of_a_line_are_kept() throws IOException {
        String fields = "\"response_format\":{\"type\":\"json_object\"},\"tools\":[],\"tool_choice\":\"none\"";
        assertThat(read("{\"prompt\":\"Hi\"," + fields + "}\n", 1)
                        .getFirst()
                        .constraints()
                        .orElseThrow())
                .hasToString("{" + fields + "}");
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
                "{\"prompt\":\"a\",\"response_format\":{\"type\":\"xml\"}} | line 1: response_format.type is \"xml\"",
                "{\"prompt\":\"a\",\"timestamp\":3} | line 1: \"timestamp\" is not supported",
                "{\"prompt\":\"a\",\"output_tokens\":3,\"ttft\":1} | line 1: \"ttft\" is not supported",
                "{\"prompt\":\"a\",\"output_tokens\":3,\"max_tokens\":2} | line 1: output_tokens is 3, but max_tokens is 2",
                "{\"prompt\":\"a\",\"priority\":0.5} | line 1: priority is 0.5; it must be a whole number",
                "{\"prompt\":\"a\",\"tenant\":\"a b\"} | line 1: tenant is",
                "{\"prompt\":\"a\",\"slo\":3} | line 1: slo is 3; it must be a name",
                "{\"prompt\":\"a\",\"deadline_ms\":-1} | line 1: deadline_ms is -1; it must be a number of milliseconds",
                "{\"prompt\":\"a\",\"timestamp_ms\":1e300} | line 1: timestamp_ms is",
                "{\"prompt\":\"a\",\"predicted_tokens\":0} | line 1: predicted_tokens is 0; it must be a positive",
                "# | line 1 is not JSON"
            })
    void wrong_line_is_reported_with_its_number(String line, String message) {
        assertThatThrownBy(() -> read(line, 10)).isInstanceOf(BadInput.class).hasMessageContaining(message);
    }

    @Test
    void maximum_of_requests_counts_later_turns() throws IOException {
        String lines = """
                {"prompt":[1],"conversation":"x"}
                {"prompt":[2],"conversation":"x"}
                {"prompt":[3],"conversation":"y"}
                """;
        assertThat(load(lines, 2).size()).isEqualTo(2);
        assertThat(load(lines, 3).size()).isEqualTo(3);
    }

    @Test
    void lines_of_a_conversation_are_turns_of_its_first_line() throws IOException {
        OfferedLoad load = load("""
                {"prompt":[1],"timestamp_ms":10,"conversation":"x","tenant":"a"}
                {"prompt":[9],"timestamp_ms":5}
                {"prompt":[2,3],"conversation":"x","think_ms":2.5,"output_tokens":7}
                {"prompt":[4],"conversation":"x"}
                """, 9);
        assertThat(load.requests()).hasSize(2);
        assertThat(load.size()).isEqualTo(4);
        List<OfferedRequest> turns = load.requests().getLast().turns().toList();
        assertThat(turns).extracting(turn -> turn.traits().turn().getAsInt()).containsExactly(0, 1, 2);
        assertThat(turns.getFirst().next().orElseThrow().thinkNanos()).isEqualTo(2_500_000);
        assertThat(turns.get(1).outputTokens()).isEqualTo(7);
        assertThat(turns.get(1).next().orElseThrow().thinkNanos()).isZero();
        assertThat(load.requests().getFirst().traits().turn()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"prompt\":[1],\"conversation\":\"x\",\"think_ms\":5} | has think_ms, but no line before it",
                "{\"prompt\":\"hi\",\"conversation\":\"x\"} | text prompt",
                "{\"prompt\":[1],\"conversation\":\"y\",\"timestamp_ms\":5} | it is a later turn"
            })
    void line_that_cannot_be_a_turn_is_rejected(String line, String reason) {
        String first = "{\"prompt\":[1],\"conversation\":\"y\",\"timestamp_ms\":1}\n";
        assertThatThrownBy(() -> load(first + line + "\n", 9))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("line 2")
                .hasMessageContaining(reason);
    }
}
