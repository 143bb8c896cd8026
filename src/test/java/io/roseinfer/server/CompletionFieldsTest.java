package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.StrictJson;
import io.roseinfer.server.http.RawClient.Answer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Fields that determine the beginning of a prompt, the end of a completion and the output format. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CompletionFieldsTest {
    private static final int TOKENS = 12;

    private static TestServer server;

    @BeforeAll
    static void start() {
        server = TestServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static ObjectNode body(int... prompt) {
        ObjectNode body = StrictJson.mapper()
                .createObjectNode()
                .put("temperature", 0)
                .put("max_tokens", TOKENS)
                .put("ignore_eos", true)
                .put("return_token_ids", true);
        Arrays.stream(prompt).forEach(body.putArray("prompt")::add);
        return body;
    }

    private static JsonNode answer(ObjectNode body) throws IOException {
        Answer answer = server.complete(body.toString());
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        return TestServer.json(answer);
    }

    private static JsonNode choice(ObjectNode body) throws IOException {
        return answer(body).get("choices").get(0);
    }

    /** The choices of a stream's events that have one. */
    private static List<JsonNode> streamed(ObjectNode body) throws IOException {
        List<JsonNode> choices = new ArrayList<>();
        List<String> events = TestServer.events(
                server.complete(body.deepCopy().put("stream", true).toString()).body());
        for (String event : events.subList(0, events.size() - 1)) {
            TestServer.json(event).get("choices").forEach(choices::add);
        }
        return choices;
    }

    private static String text(List<JsonNode> choices) {
        StringBuilder text = new StringBuilder();
        choices.forEach(choice -> text.append(choice.get("text").stringValue()));
        return text.toString();
    }

    private static int[] ids(JsonNode node) {
        return IntStream.range(0, node.size()).map(i -> node.get(i).intValue()).toArray();
    }

    /** A token of a completion, after the first, that differs from all tokens before it. */
    private static int firstOfItsKind(int... ids) {
        return IntStream.range(3, ids.length)
                .filter(at -> Arrays.stream(ids, 0, at).noneMatch(id -> id == ids[at]))
                .findFirst()
                .orElseThrow();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void stop_token_ends_the_completion_and_is_omitted_from_the_text(boolean withStopString) throws IOException {
        int[] free = ids(choice(body(5, 6, 7)).get("token_ids"));
        int at = firstOfItsKind(free);
        ObjectNode body = body(5, 6, 7);
        body.putArray("stop_token_ids").add(free[at]);
        if (withStopString) {
            // The engine detokenizes then.
            body.putArray("stop").add("never to be seen");
        }
        JsonNode choice = choice(body);
        assertThat(ids(choice.get("token_ids"))).isEqualTo(Arrays.copyOf(free, at + 1));
        assertThat(choice.get("text").stringValue()).isEqualTo(TestServer.WORDS.decode(Arrays.copyOf(free, at)));
        assertThat(choice.get("finish_reason").stringValue()).isEqualTo("stop");
        assertThat(choice.get("stop_reason").intValue()).isEqualTo(free[at]);
        List<JsonNode> events = streamed(body);
        assertThat(text(events)).isEqualTo(choice.get("text").stringValue());
        assertThat(events.getLast().get("stop_reason").intValue()).isEqualTo(free[at]);
    }

    @Test
    void stop_string_may_be_the_end_of_the_text() throws IOException {
        String free = choice(body(8, 9)).get("text").stringValue();
        String stop = free.substring(3, 7);
        ObjectNode body = body(8, 9).put("include_stop_str_in_output", true);
        body.putArray("stop").add(stop);
        JsonNode choice = choice(body);
        String text = choice.get("text").stringValue();
        assertThat(text).isEqualTo(free.substring(0, free.indexOf(stop) + stop.length()));
        assertThat(choice.get("stop_reason").stringValue()).isEqualTo(stop);
        assertThat(text(streamed(body))).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({"left, 7, 10", "right, 1, 4"})
    void prompt_can_be_truncated_to_its_end_or_beginning(String side, int first, int last) throws IOException {
        ObjectNode body = body(IntStream.rangeClosed(1, 10).toArray())
                .put("truncate_prompt_tokens", 4)
                .put("truncation_side", side);
        assertThat(ids(choice(body).get("prompt_token_ids")))
                .isEqualTo(IntStream.rangeClosed(first, last).toArray());
    }

    @Test
    void short_prompt_is_not_truncated() throws IOException {
        assertThat(ids(choice(body(1, 2, 3).put("truncate_prompt_tokens", 3)).get("prompt_token_ids")))
                .containsExactly(1, 2, 3);
    }

    @Test
    void prompt_can_be_truncated_so_that_its_completion_fits() throws IOException {
        int context = TestServer.SPEC.contextLength();
        ObjectNode body = body(IntStream.range(0, context + 50)
                        .map(i -> i % 100)
                        .toArray())
                .put("truncate_prompt_tokens", -1);
        JsonNode usage = answer(body).get("usage");
        assertThat(usage.get("prompt_tokens").intValue()).isEqualTo(context - TOKENS);
        assertThat(usage.get("completion_tokens").intValue()).isEqualTo(TOKENS);
    }

    @Test
    void log_probabilities_can_have_ids_instead_of_texts() throws IOException {
        JsonNode choice = choice(body(3, 4).put("logprobs", 2).put("return_tokens_as_token_ids", true));
        int[] ids = ids(choice.get("token_ids"));
        JsonNode logprobs = choice.get("logprobs");
        for (int i = 0; i < ids.length; i++) {
            assertThat(logprobs.get("tokens").get(i).stringValue()).isEqualTo("token_id:" + ids[i]);
            assertThat(logprobs.get("top_logprobs").get(i).propertyNames())
                    .contains("token_id:" + ids[i])
                    .allMatch(name -> name.startsWith("token_id:"));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 5, 100})
    void stream_interval_groups_tokens_per_event(int interval) throws IOException {
        ObjectNode body = body(11, 12).put("logprobs", 1).put("stream_interval", interval);
        JsonNode whole = choice(body);
        List<JsonNode> events = streamed(body);
        List<Integer> sizes = new ArrayList<>();
        List<Integer> ids = new ArrayList<>();
        List<String> tokens = new ArrayList<>();
        for (JsonNode event : events) {
            sizes.add(event.get("token_ids").size());
            Arrays.stream(ids(event.get("token_ids"))).forEach(ids::add);
            event.get("logprobs").get("tokens").forEach(token -> tokens.add(token.stringValue()));
        }
        assertThat(text(events)).isEqualTo(whole.get("text").stringValue());
        assertThat(ids)
                .isEqualTo(Arrays.stream(ids(whole.get("token_ids"))).boxed().toList());
        assertThat(tokens).hasSize(TOKENS);
        List<Integer> expected = new ArrayList<>(List.of(1));
        for (int left = TOKENS - 1; left > 0; left -= interval) {
            expected.add(Math.min(left, interval));
        }
        assertThat(sizes).isEqualTo(expected);
    }

    @Test
    void token_events_have_the_same_format_and_running_counts() throws IOException {
        ObjectNode body = body(21, 22).put("stream", true);
        body.putObject("stream_options").put("include_usage", true).put("continuous_usage_stats", true);
        List<String> events = TestServer.events(server.complete(body.toString()).body());
        String prompt = "\"prompt_token_ids\":[21,22],";
        List<String> shapes = new ArrayList<>();
        for (int i = 0; i < TOKENS; i++) {
            JsonNode event = TestServer.json(events.get(i));
            assertThat(event.get("usage").get("completion_tokens").intValue()).isEqualTo(i + 1);
            assertThat(event.get("usage").get("total_tokens").intValue()).isEqualTo(i + 3);
            assertThat(event.get("choices").get(0).get("token_ids")).hasSize(1);
            shapes.add(events.get(i)
                    .replace(prompt, "")
                    .replaceAll("\"text\":\"([^\"\\\\]|\\\\.)*\"", "text")
                    .replaceAll("\"finish_reason\":\"length\"", "\"finish_reason\":null")
                    .replaceAll("\"(token_ids|completion_tokens|total_tokens)\":\\[?[0-9]+", "$1"));
        }
        assertThat(shapes).containsOnly(shapes.getFirst());
    }

    @Test
    void completion_has_at_least_min_tokens_despite_stop_tokens() throws IOException {
        ObjectNode free = body(1);
        int[] first = ids(choice(free).get("token_ids"));
        ObjectNode stopping = body(1);
        stopping.putArray("stop_token_ids").add(first[0]).add(first[1]);
        assertThat(ids(choice(stopping).get("token_ids"))).hasSize(1);
        stopping.put("min_tokens", 3);
        int[] longer = ids(choice(stopping).get("token_ids"));
        assertThat(longer).hasSizeGreaterThanOrEqualTo(3);
        assertThat(Arrays.copyOf(longer, 3)).doesNotContain(first[0], first[1]);
    }

    @Test
    void only_allowed_tokens_are_sampled() throws IOException {
        ObjectNode body = body(1);
        body.putArray("allowed_token_ids").add(5).add(7);
        assertThat(Arrays.stream(ids(choice(body).get("token_ids"))).boxed())
                .hasSize(TOKENS)
                .isSubsetOf(5, 7);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "min_tokens; \"min_tokens\":17,\"ignore_eos\":true",
                "min_tokens; \"min_tokens\":-1",
                "stop_token_ids; \"stop_token_ids\":[-1]",
                "stop_token_ids; \"stop_token_ids\":[99999999]",
                "stop_token_ids; \"stop_token_ids\":[\"1\"]",
                "stop_token_ids; \"stop_token_ids\":1",
                "include_stop_str_in_output; \"include_stop_str_in_output\":true,\"stop_token_ids\":[1]",
                "include_stop_str_in_output; \"include_stop_str_in_output\":1",
                "truncate_prompt_tokens; \"truncate_prompt_tokens\":-2",
                "truncate_prompt_tokens; \"truncate_prompt_tokens\":100000000",
                "truncation_side; \"truncation_side\":\"middle\",\"truncate_prompt_tokens\":1",
                "prompt; \"truncate_prompt_tokens\":0",
                "stream_interval; \"stream_interval\":0",
                "logit_bias; \"logit_bias\":{\"5\":101}",
                "logit_bias; \"logit_bias\":{\"-5\":1}",
                "logit_bias; \"logit_bias\":{\"99999999\":1}",
                "logit_bias; \"logit_bias\":{\"5\":\"1\"}",
                "logit_bias; \"logit_bias\":[5]",
                "allowed_token_ids; \"allowed_token_ids\":[]",
                "allowed_token_ids; \"allowed_token_ids\":[99999999]",
                "allowed_token_ids; \"allowed_token_ids\":5",
                "bad_words; \"bad_words\":\"x\"",
                "bad_words; \"bad_words\":[\" \"]",
                "bad_words; \"bad_words\":[1]"
            })
    void wrong_field_is_named(String line) throws IOException {
        String param = line.substring(0, line.indexOf(';'));
        Answer answer = server.complete("{\"prompt\":[1,2]," + line.substring(line.indexOf(';') + 2) + "}");
        assertThat(answer.status()).isEqualTo(400);
        assertThat(TestServer.json(answer).get("error").get("param").stringValue())
                .isEqualTo(param);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            ["a",3]   | prompt[1] is 3; it must be text, token ids, or a list of either
            [[1],[2,true]] | prompt[1] is true; it must be an integer
            [[1],[99999999]] | prompt[1] has token id 99999999; ids of this model are 0 to 2047
            3         | prompt is 3; it must be text, token ids, or a list of either
            """)
    void wrong_prompt_of_a_list_is_named_by_its_index(String prompt, String message) throws IOException {
        Answer answer = server.complete("{\"prompt\":" + prompt + "}");
        assertThat(answer.status()).isEqualTo(400);
        JsonNode error = TestServer.json(answer).get("error");
        assertThat(error.get("message").stringValue()).isEqualTo(message);
        assertThat(error.get("param").stringValue()).isEqualTo(message.substring(0, message.indexOf(' ')));
    }
}
