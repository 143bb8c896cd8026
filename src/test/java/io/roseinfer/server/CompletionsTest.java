package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.base.StrictJson;
import io.roseinfer.engine.Completion;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.server.http.RawClient.Answer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Responses to valid calls. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CompletionsTest {
    private static TestServer server;

    @BeforeAll
    static void start() {
        server = TestServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static ObjectNode body(String prompt) {
        return StrictJson.mapper().createObjectNode().put("prompt", prompt).put("temperature", 0);
    }

    /** The concatenated text of each choice of a stream. */
    private static Map<Integer, String> texts(List<String> events) {
        Map<Integer, String> texts = new TreeMap<>();
        for (String event : events.subList(0, events.size() - 1)) {
            for (JsonNode choice : TestServer.json(event).get("choices")) {
                texts.merge(choice.get("index").intValue(), choice.get("text").stringValue(), String::concat);
            }
        }
        return texts;
    }

    private static Map<Integer, String> plainTexts(Answer answer) {
        Map<Integer, String> texts = new TreeMap<>();
        TestServer.json(answer)
                .get("choices")
                .forEach(choice -> texts.put(
                        choice.get("index").intValue(), choice.get("text").stringValue()));
        return texts;
    }

    @Test
    void completion_has_the_fields_of_the_api() throws IOException {
        Answer answer = server.complete(body("Once").put("max_tokens", 3).toString(), "X-Request-Id: mine-1\r\n");
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.header("content-type")).contains("application/json");
        assertThat(answer.header("x-request-id")).contains("mine-1");
        JsonNode root = TestServer.json(answer);
        assertThat(root.propertyNames())
                .containsExactly("id", "object", "created", "model", "choices", "usage", "metrics", "timings");
        assertThat(root.get("id").stringValue()).isEqualTo("cmpl-mine-1");
        assertThat(root.get("object").stringValue()).isEqualTo("text_completion");
        assertThat(root.get("created").longValue()).isEqualTo(TestServer.NOW.getEpochSecond());
        assertThat(root.get("model").stringValue()).isEqualTo(TestServer.MODEL);
        assertThat(root.get("choices").get(0).propertyNames())
                .containsExactly("index", "text", "logprobs", "finish_reason", "stop_reason");
        assertThat(root.get("choices").get(0).get("finish_reason").stringValue())
                .isEqualTo("length");
        int prompt = TestServer.WORDS.encode("Once").length;
        assertThat(root.get("usage").toString())
                .isEqualTo("{\"prompt_tokens\":" + prompt + ",\"completion_tokens\":3,\"total_tokens\":" + (prompt + 3)
                        + ",\"prompt_tokens_details\":{\"cached_tokens\":0}}");
    }

    /** Tokens of the simulated model are random, which splits many characters between tokens. */
    @Test
    void stream_response_and_library_give_the_same_text() throws IOException {
        long seed = 20_261_122;
        Random random = new Random(seed);
        for (int i = 0; i < 60; i++) {
            String prompt = TestServer.WORDS.decode(
                            random.ints(1 + random.nextInt(20), 0, 2000).toArray())
                    + "é😀".substring(random.nextInt(2) == 0 ? 1 : 0, 1) + "x";
            int tokens = 1 + random.nextInt(60);
            int n = 1 + random.nextInt(3);
            Completion known = server.engine.generate(request(prompt, tokens, 1000 + i));
            String[] stop = random.nextBoolean() ? stop(known, random) : new String[0];
            ObjectNode body = body(prompt)
                    .put("max_tokens", tokens)
                    .put("seed", 1000 + i)
                    .put("n", n)
                    .put("temperature", 1);
            Arrays.stream(stop).forEach(body.putArray("stop")::add);
            if (random.nextBoolean()) {
                body.put("logprobs", 2);
            }
            Map<Integer, String> expected = new TreeMap<>();
            for (int choice = 0; choice < n; choice++) {
                expected.put(
                        choice,
                        server.engine
                                .generate(request(prompt, tokens, 1000 + i + choice)
                                        .withStop(stop))
                                .text()
                                .orElseThrow());
            }
            String what = "seed " + seed + ", case " + i + ": " + body;
            assertThat(plainTexts(server.complete(body.toString()))).as(what).isEqualTo(expected);
            List<String> events = TestServer.events(
                    server.complete(body.put("stream", true).toString()).body());
            assertThat(texts(events)).as(what).isEqualTo(expected);
            assertThat(events.getLast()).as(what).isEqualTo("[DONE]");
        }
    }

    private static GenerationRequest request(String prompt, int tokens, long seed) {
        return GenerationRequest.of(prompt)
                .withMaxNewTokens(tokens)
                .withSampling(SamplingParams.random())
                .withSeed(seed);
    }

    /** A substring of the completion, if possible, so that it spans tokens. */
    private static String[] stop(Completion known, Random random) {
        String text = known.text().orElseThrow();
        if (text.length() < 6) {
            return new String[] {"never"};
        }
        int at = text.offsetByCodePoints(0, random.nextInt(text.codePointCount(0, text.length()) - 2));
        int end = text.offsetByCodePoints(at, 2);
        return new String[] {"never", text.substring(at, end)};
    }

    @Test
    void events_are_in_the_order_of_the_api() throws IOException {
        ObjectNode body = body("Once").put("max_tokens", 4).put("stream", true);
        body.putObject("stream_options").put("include_usage", true).put("continuous_usage_stats", true);
        Answer answer = server.complete(body.toString());
        assertThat(answer.header("content-type")).contains("text/event-stream; charset=utf-8");
        assertThat(answer.header("cache-control")).contains("no-cache");
        List<String> events = TestServer.events(answer.body());
        assertThat(events).hasSize(6).last().isEqualTo("[DONE]");
        for (int i = 0; i < 4; i++) {
            JsonNode event = TestServer.json(events.get(i));
            assertThat(event.get("choices").get(0).get("finish_reason").toString())
                    .isEqualTo(i == 3 ? "\"length\"" : "null");
            assertThat(event.get("usage").get("completion_tokens").intValue()).isEqualTo(i + 1);
        }
        JsonNode usage = TestServer.json(events.get(4));
        assertThat(usage.get("choices")).isEmpty();
        assertThat(usage.get("usage").get("completion_tokens").intValue()).isEqualTo(4);
    }

    /** Events are written from a template if possible, otherwise from an object. */
    @Test
    void every_event_has_the_same_fields() throws IOException {
        String body = body("quote").put("max_tokens", 200).put("stream", true).toString();
        List<String> events = TestServer.events(server.complete(body).body());
        assertThat(events).hasSize(201);
        for (String event : events.subList(0, 200)) {
            JsonNode root = TestServer.json(event);
            List<String> names = new ArrayList<>(List.of("id", "object", "created", "model", "choices"));
            if (event.equals(events.get(199))) {
                names.addAll(List.of("metrics", "timings"));
            }
            assertThat(root.propertyNames()).containsExactlyElementsOf(names);
            assertThat(root.get("choices").get(0).propertyNames())
                    .containsExactly("index", "text", "logprobs", "finish_reason", "stop_reason");
        }
    }

    @Test
    void stop_string_is_named_and_omitted_from_the_text() throws IOException {
        String text = server.engine
                .generate(GenerationRequest.of("Once").withMaxNewTokens(40))
                .text()
                .orElseThrow();
        String stop = text.substring(10, 13);
        ObjectNode body = body("Once").put("max_tokens", 40).put("stop", stop);
        JsonNode choice =
                TestServer.json(server.complete(body.toString())).get("choices").get(0);
        assertThat(choice.get("text").stringValue()).isEqualTo(text.substring(0, text.indexOf(stop)));
        assertThat(choice.get("finish_reason").stringValue()).isEqualTo("stop");
        assertThat(choice.get("stop_reason").stringValue()).isEqualTo(stop);
    }

    @Test
    void max_tokens_is_sixteen_by_default() throws IOException {
        for (String field : new String[] {"", ",\"max_tokens\":null"}) {
            Answer answer = server.complete("{\"prompt\":\"a\",\"ignore_eos\":true" + field + "}");
            assertThat(TestServer.json(answer)
                            .get("usage")
                            .get("completion_tokens")
                            .intValue())
                    .isEqualTo(16);
        }
    }

    @Test
    void ids_can_be_sent_and_requested() throws IOException {
        int[] ids = TestServer.WORDS.encode("Once upon a time");
        String list = Arrays.stream(ids).mapToObj(String::valueOf).collect(Collectors.joining(","));
        String body = "{\"prompt\":[" + list + "],\"max_tokens\":5,\"temperature\":0,\"return_token_ids\":true";
        JsonNode choice =
                TestServer.json(server.complete(body + "}")).get("choices").get(0);
        int[] expected = server.engine
                .generate(GenerationRequest.ofTokens(ids).withMaxNewTokens(5))
                .ids();
        assertThat(choice.get("token_ids").toString())
                .isEqualTo(Arrays.toString(expected).replace(" ", ""));
        assertThat(choice.get("prompt_token_ids").toString()).isEqualTo("[" + list + "]");
        List<String> events =
                TestServer.events(server.complete(body + ",\"stream\":true}").body());
        assertThat(events.subList(0, 5))
                .extracting(event -> TestServer.json(event)
                        .get("choices")
                        .get(0)
                        .get("token_ids")
                        .get(0)
                        .intValue())
                .containsExactlyElementsOf(Arrays.stream(expected).boxed().toList());
    }

    @Test
    void several_prompts_are_numbered_one_after_the_other() throws IOException {
        JsonNode root = TestServer.json(
                server.complete("{\"prompt\":[\"a\",\"b\"],\"n\":2,\"max_tokens\":2,\"temperature\":0,\"echo\":true}"));
        assertThat(root.get("choices"))
                .extracting(choice -> choice.get("index").intValue())
                .containsExactly(0, 1, 2, 3);
        assertThat(root.get("choices"))
                .extracting(choice -> choice.get("text").stringValue().substring(0, 1))
                .containsExactly("a", "a", "b", "b");
        assertThat(root.get("usage").get("completion_tokens").intValue()).isEqualTo(8);
    }

    @Test
    void echo_is_sent_once_at_the_start_of_a_stream() throws IOException {
        ObjectNode body = body("Once upon").put("max_tokens", 20).put("echo", true);
        Map<Integer, String> plain = plainTexts(server.complete(body.toString()));
        assertThat(plain.get(0)).startsWith("Once upon");
        List<String> events = TestServer.events(
                server.complete(body.put("stream", true).toString()).body());
        assertThat(texts(events)).isEqualTo(plain);
    }

    @Test
    void log_probabilities_line_up_with_the_text() throws IOException {
        JsonNode choice = TestServer.json(server.complete(
                        body("Once").put("max_tokens", 6).put("logprobs", 2).toString()))
                .get("choices")
                .get(0);
        JsonNode logprobs = choice.get("logprobs");
        assertThat(logprobs.propertyNames()).containsExactly("tokens", "token_logprobs", "top_logprobs", "text_offset");
        int offset = 0;
        for (int i = 0; i < 6; i++) {
            assertThat(logprobs.get("text_offset").get(i).intValue()).isEqualTo(offset);
            String token = logprobs.get("tokens").get(i).stringValue();
            offset += token.length();
            assertThat(logprobs.get("token_logprobs").get(i).doubleValue())
                    .isNegative()
                    .isEqualTo(logprobs.get("top_logprobs").get(i).get(token).doubleValue());
        }
    }

    @Test
    void choices_of_a_seeded_request_have_consecutive_seeds() throws IOException {
        ObjectNode body = body("Once").put("temperature", 1).put("max_tokens", 8);
        Map<Integer, String> siblings =
                plainTexts(server.complete(body.put("seed", 7).put("n", 3).toString()));
        for (int i = 0; i < 3; i++) {
            assertThat(plainTexts(server.complete(
                                    body.put("seed", 7 + i).put("n", 1).toString()))
                            .get(0))
                    .isEqualTo(siblings.get(i));
        }
        assertThat(siblings.values()).doesNotHaveDuplicates();
    }

    @Test
    void max_tokens_beyond_the_context_is_clamped_and_reported() throws IOException {
        Answer clamped = server.complete(body("Once").put("max_tokens", 100_000).toString());
        assertThat(clamped.header("x-roseinfer-clamped")).contains("max_tokens");
        assertThat(TestServer.json(clamped).get("usage").get("total_tokens").intValue())
                .isLessThanOrEqualTo(TestServer.SPEC.contextLength());
        assertThat(server.complete(body("Once").toString()).header("x-roseinfer-clamped"))
                .isEmpty();
    }

    @Test
    void unknown_fields_are_named_in_a_header() throws IOException {
        String body = "{\"prompt\":\"a\",\"max_token\":3,\"x\\r\\nSet-Cookie: é\":1}";
        assertThat(server.complete(body).header("x-roseinfer-ignored"))
                .contains("max_token, x\\u000d\\u000aSet-Cookie: ?");
    }

    @Test
    void integer_may_be_written_with_a_fraction_of_zero() throws IOException {
        assertThat(TestServer.json(server.complete("{\"prompt\":\"a\",\"max_tokens\":2.0,\"temperature\":0}"))
                        .get("usage")
                        .get("completion_tokens")
                        .intValue())
                .isEqualTo(2);
    }

    @Test
    void model_without_a_tokenizer_serves_ids() throws IOException {
        try (TestServer bare = new TestServer(
                TestServer.engineOptions(), SimOptions.defaults(), TestServer.options(), Optional.empty())) {
            assertThat(bare.complete("{\"prompt\":\"a\"}").status()).isEqualTo(400);
            JsonNode choice = TestServer.json(
                            bare.complete("{\"prompt\":[1],\"max_tokens\":3,\"return_token_ids\":true}"))
                    .get("choices")
                    .get(0);
            assertThat(choice.get("text").stringValue()).isEmpty();
            assertThat(choice.get("token_ids")).hasSize(3);
        }
    }

    @Test
    void prompts_can_be_tokenized_and_detokenized() throws IOException {
        JsonNode counted =
                TestServer.json(server.post("/tokenize", "{\"prompt\":\"Once upon é\",\"return_token_strs\":true}"));
        int[] ids = TestServer.WORDS.encode("Once upon é");
        assertThat(counted.get("count").intValue()).isEqualTo(ids.length);
        assertThat(counted.get("token_strs")).hasSize(ids.length);
        assertThat(counted.get("max_model_len").intValue()).isEqualTo(TestServer.SPEC.contextLength());
        JsonNode text = TestServer.json(server.post("/detokenize", "{\"tokens\":" + counted.get("tokens") + "}"));
        assertThat(text.get("prompt").stringValue()).isEqualTo("Once upon é");
    }

    @Test
    void model_and_version_are_reported() throws IOException {
        JsonNode card = TestServer.json(server.get("/v1/models")).get("data").get(0);
        assertThat(card.get("id").stringValue()).isEqualTo(TestServer.MODEL);
        assertThat(card.get("max_model_len").intValue()).isEqualTo(TestServer.SPEC.contextLength());
        assertThat(server.get("/version").body()).isEqualTo("{\"version\":\"1.2.3\"}");
    }

    @Test
    void running_usage_counts_the_tokens_of_all_choices() throws IOException {
        ObjectNode body = body("Once").put("max_tokens", 4).put("n", 2).put("stream", true);
        body.putObject("stream_options").put("include_usage", true).put("continuous_usage_stats", true);
        List<Integer> tokens = new ArrayList<>();
        for (String event : TestServer.events(server.complete(body.toString()).body())) {
            if (!event.equals("[DONE]")) {
                tokens.add(TestServer.json(event)
                        .get("usage")
                        .get("completion_tokens")
                        .intValue());
            }
        }
        assertThat(tokens).containsExactly(1, 2, 3, 4, 5, 6, 7, 8, 8);
    }
}
