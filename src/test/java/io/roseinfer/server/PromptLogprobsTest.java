package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.base.StrictJson;
import io.roseinfer.engine.Completion;
import io.roseinfer.server.api.ApiError;
import io.roseinfer.server.api.CallLimits;
import io.roseinfer.server.api.CompletionCall;
import io.roseinfer.server.api.CompletionJson;
import io.roseinfer.server.api.CompletionReader;
import io.roseinfer.server.api.Fields;
import io.roseinfer.server.api.ServedModel;
import io.roseinfer.server.http.RawClient.Answer;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Log-probabilities of prompts: {@code echo} with {@code logprobs}, and {@code prompt_logprobs}. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PromptLogprobsTest {
    private static TestServer server;

    @BeforeAll
    static void start() {
        server = TestServer.startChat();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static JsonNode answer(String path, ObjectNode body) throws IOException {
        Answer answer = server.post(path, body.toString());
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        return TestServer.json(answer);
    }

    private static JsonNode complete(ObjectNode body) throws IOException {
        return answer("/v1/completions", body);
    }

    private static ObjectNode object() {
        return StrictJson.mapper().createObjectNode();
    }

    private static List<JsonNode> list(JsonNode array) {
        return StreamSupport.stream(array.spliterator(), false).toList();
    }

    /** Returns the log-probability of a token after a prompt, as generated when no other is allowed. */
    private static double generated(int[] prompt, int token) throws IOException {
        ObjectNode body = object().put("max_tokens", 1).put("temperature", 0).put("logprobs", 0);
        Arrays.stream(prompt).forEach(body.putArray("prompt")::add);
        body.putArray("allowed_token_ids").add(token);
        return complete(body)
                .get("choices")
                .get(0)
                .get("logprobs")
                .get("token_logprobs")
                .get(0)
                .doubleValue();
    }

    /** Returns the body that lm-evaluation-harness's {@code local-completions} sends for log-likelihoods. */
    private static ObjectNode likelihood() {
        return object().put("model", TestServer.MODEL)
                .put("temperature", 0)
                .put("max_tokens", 1)
                .put("logprobs", 1)
                .put("seed", 1234)
                .put("echo", true);
    }

    /** Adds and compares like the harness's {@code parse_logprobs}. */
    @Test
    void log_likelihoods_of_lm_evaluation_harness_are_those_of_generated_tokens() throws IOException {
        int[][] prompts = {{5, 6, 7, 8, 9, 10}, {11, 12, 13}, {800, 2, 2, 2, 17}};
        int[] contexts = {3, 1, 4};
        ObjectNode body = likelihood();
        ArrayNode all = body.putArray("prompt");
        Arrays.stream(prompts).forEach(prompt -> Arrays.stream(prompt).forEach(all.addArray()::add));
        JsonNode choices = complete(body).get("choices");
        assertThat(choices.size()).isEqualTo(prompts.length);
        for (int i = 0; i < prompts.length; i++) {
            JsonNode choice = choices.get(i);
            assertThat(choice.get("index").intValue()).isEqualTo(i);
            List<JsonNode> logprobs = list(choice.get("logprobs").get("token_logprobs"));
            List<JsonNode> tops = list(choice.get("logprobs").get("top_logprobs"));
            assertThat(logprobs).hasSize(prompts[i].length + 1).hasSameSizeAs(tops);
            assertThat(logprobs.getFirst().isNull()).isTrue();
            assertThat(tops.getFirst().isNull()).isTrue();
            double sum = 0;
            boolean greedy = true;
            for (int at = contexts[i]; at < logprobs.size() - 1; at++) {
                sum += logprobs.get(at).doubleValue();
                double most = list(tops.get(at)).stream()
                        .mapToDouble(JsonNode::doubleValue)
                        .max()
                        .orElseThrow();
                greedy &= logprobs.get(at).doubleValue() == most;
            }
            double expected = 0;
            for (int at = contexts[i]; at < prompts[i].length; at++) {
                expected += generated(Arrays.copyOf(prompts[i], at), prompts[i][at]);
            }
            assertThat(sum).isEqualTo(expected);
            assertThat(greedy).isFalse();
        }
    }

    @Test
    void most_likely_continuation_is_the_greedy_one() throws IOException {
        ObjectNode free = object().put("max_tokens", 4).put("temperature", 0).put("return_token_ids", true);
        free.putArray("prompt").add(5).add(6);
        JsonNode ids = complete(free).get("choices").get(0).get("token_ids");
        ObjectNode body = likelihood();
        ArrayNode prompt = body.putArray("prompt").add(5).add(6);
        ids.forEach(prompt::add);
        JsonNode logprobs = complete(body).get("choices").get(0).get("logprobs");
        for (int at = 2; at < 6; at++) {
            double own = logprobs.get("token_logprobs").get(at).doubleValue();
            assertThat(list(logprobs.get("top_logprobs").get(at))).allMatch(top -> top.doubleValue() <= own);
        }
    }

    @Test
    void echoed_text_and_tokens_come_before_the_completion() throws IOException {
        String prompt = "Once upon a time there was";
        JsonNode choice = complete(likelihood().put("prompt", prompt).put("max_tokens", 5))
                .get("choices")
                .get(0);
        String text = choice.get("text").stringValue();
        assertThat(text).startsWith(prompt).hasSizeGreaterThan(prompt.length());
        JsonNode logprobs = choice.get("logprobs");
        int tokens = TestServer.WORDS.encode(prompt).length;
        assertThat(logprobs.get("tokens").size()).isEqualTo(tokens + 5);
        StringBuilder prefix = new StringBuilder();
        for (int i = 0; i < tokens; i++) {
            assertThat(logprobs.get("text_offset").get(i).intValue()).isEqualTo(prefix.length());
            prefix.append(logprobs.get("tokens").get(i).stringValue());
        }
        assertThat(prefix).hasToString(prompt);
    }

    @Test
    void no_token_is_generated_if_max_tokens_is_0() throws IOException {
        ObjectNode body = likelihood().put("max_tokens", 0).put("prompt", "Once upon a time");
        JsonNode response = complete(body);
        JsonNode choice = response.get("choices").get(0);
        assertThat(choice.get("text").stringValue()).isEqualTo("Once upon a time");
        assertThat(choice.get("finish_reason").stringValue()).isEqualTo("length");
        assertThat(response.get("usage").get("completion_tokens").intValue()).isZero();
        JsonNode withOne = complete(body.put("max_tokens", 1)).get("choices").get(0);
        assertThat(list(choice.get("logprobs").get("token_logprobs")))
                .isEqualTo(list(withOne.get("logprobs").get("token_logprobs"))
                        .subList(0, choice.get("logprobs").get("token_logprobs").size()));
        body.remove("echo");
        Answer refused = server.complete(body.put("max_tokens", 0).toString());
        assertThat(refused.status()).isEqualTo(400);
        assertThat(refused.body()).contains("max_tokens is 0");
    }

    @Test
    void prompt_logprobs_are_in_the_format_of_vllm() throws IOException {
        int[] prompt = {5, 6, 7, 8};
        ObjectNode body = object().put("prompt_logprobs", 2).put("max_tokens", 0);
        Arrays.stream(prompt).forEach(body.putArray("prompt")::add);
        JsonNode choice = complete(body).get("choices").get(0);
        assertThat(choice.get("logprobs").isNull()).isTrue();
        JsonNode reported = choice.get("prompt_logprobs");
        assertThat(reported.size()).isEqualTo(prompt.length);
        assertThat(reported.get(0).isNull()).isTrue();
        for (int i = 1; i < prompt.length; i++) {
            JsonNode own = reported.get(i).get(Integer.toString(prompt[i]));
            assertThat(own.get("logprob").doubleValue()).isEqualTo(generated(Arrays.copyOf(prompt, i), prompt[i]));
            assertThat(own.get("decoded_token").stringValue())
                    .isEqualTo(TestServer.WORDS.decode(new int[] {prompt[i]}));
            List<Integer> ranks = list(reported.get(i)).stream()
                    .map(each -> each.get("rank").intValue())
                    .sorted()
                    .toList();
            assertThat(ranks).startsWith(1, 2).contains(own.get("rank").intValue());
            assertThat(ranks.size()).isEqualTo(own.get("rank").intValue() <= 2 ? 2 : 3);
        }
    }

    @Test
    void chat_has_the_prompts_log_probabilities_once() throws IOException {
        ObjectNode body =
                object().put("prompt_logprobs", 0).put("max_tokens", 2).put("n", 2);
        body.putArray("messages").addObject().put("role", "user").put("content", "Hi");
        JsonNode response = answer("/v1/chat/completions", body);
        int tokens = response.get("usage").get("prompt_tokens").intValue();
        assertThat(response.get("prompt_logprobs").size()).isEqualTo(tokens).isGreaterThan(1);
        response.get("choices")
                .forEach(choice -> assertThat(choice.has("prompt_logprobs")).isFalse());
        response.get("prompt_logprobs").forEach(each -> assertThat(each.size()).isLessThanOrEqualTo(1));
    }

    @Test
    void stream_begins_with_the_prompts_tokens() throws IOException {
        for (int maxTokens : new int[] {0, 1, 6}) {
            ObjectNode body = likelihood().put("prompt", "Once upon a time").put("max_tokens", maxTokens);
            JsonNode whole = complete(body).get("choices").get(0).get("logprobs");
            List<String> events = TestServer.events(
                    server.complete(body.put("stream", true).toString()).body());
            List<JsonNode> streamed = new ArrayList<>();
            List<JsonNode> offsets = new ArrayList<>();
            for (String event : events.subList(0, events.size() - 1)) {
                TestServer.json(event).get("choices").forEach(choice -> {
                    if (!choice.get("logprobs").isNull()) {
                        streamed.addAll(list(choice.get("logprobs").get("token_logprobs")));
                        offsets.addAll(list(choice.get("logprobs").get("text_offset")));
                    }
                });
            }
            assertThat(streamed).isEqualTo(list(whole.get("token_logprobs")));
            assertThat(offsets).isEqualTo(list(whole.get("text_offset")));
        }
        ObjectNode body = object().put("prompt", "a").put("prompt_logprobs", 1).put("stream", true);
        Answer refused = server.complete(body.toString());
        assertThat(refused.status()).isEqualTo(400);
        assertThat(refused.body()).contains("prompt_logprobs cannot be combined with stream");
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"echo\": true, \"logprobs\": 20", "\"prompt_logprobs\": 20"})
    void response_holds_no_node_per_log_probability(String asked) {
        CompletionReader reader = new CompletionReader(
                ServedModel.named(TestServer.MODEL), TestServer.SPEC, Optional.of(TestServer.WORDS), CallLimits.NONE);
        CompletionCall call = reader.read(
                Fields.parse(("{\"prompt\": \"" + "a ".repeat(100) + "\", \"max_tokens\": 1, " + asked + "}")
                        .getBytes(StandardCharsets.UTF_8)));
        List<Completion> completions = List.of(server.engine.generate(call.request(0)));
        CompletionJson json = reader.json("id", 0, call);
        ThreadMXBean threads = ManagementFactory.getPlatformMXBean(ThreadMXBean.class);
        String text = json.response(call, completions).toString();
        long before = threads.getCurrentThreadAllocatedBytes();
        ObjectNode tree = json.response(call, completions);
        long bytes = threads.getCurrentThreadAllocatedBytes() - before;
        assertThat(tree).hasToString(text);
        assertThat(bytes).isLessThan(4L * text.length());
    }

    @Test
    void long_response_is_sent_in_parts_and_a_short_one_with_its_length() throws IOException {
        ObjectNode body = object().put("prompt", "a ".repeat(100)).put("max_tokens", 0);
        Answer parts = server.complete(body.put("prompt_logprobs", 20).toString());
        assertThat(parts.header("transfer-encoding")).contains("chunked");
        assertThat(TestServer.json(parts)
                        .get("choices")
                        .get(0)
                        .get("prompt_logprobs")
                        .size())
                .isGreaterThan(100);
        body.put("max_tokens", 1).remove("prompt_logprobs");
        assertThat(server.complete(body.toString()).header("content-length")).isPresent();
    }

    @Test
    void call_whose_log_probabilities_never_fit_into_memory_is_rejected() throws IOException {
        // Two completions: 2 x 10 x 2 bytes x 8 for each of 1 + 4 generated, and 3 x 8 for each of 1 + 1 of the prompt.
        int bytes = 2 * 2 * 10 * 5 * 8 + 2 * 3 * 2 * 8;
        String body = "{\"prompt\": [5, 6, 7], \"n\": 2, \"max_tokens\": 10, \"logprobs\": 4, \"prompt_logprobs\": 1}";
        try (TestServer enough = limited(bytes);
                TestServer less = limited(bytes - 1)) {
            assertThat(enough.complete(body).status()).isEqualTo(200);
            assertThat(enough.complete(body).status())
                    .as("the memory is free again")
                    .isEqualTo(200);
            assertThat(less.complete(body).status()).isEqualTo(400);
            assertThat(less.complete("{\"prompt\": [5, 6, 7], \"max_tokens\": 10}")
                            .status())
                    .isEqualTo(200);
        }
    }

    @Test
    void call_whose_log_probabilities_do_not_fit_beside_others_may_be_retried() {
        LogprobBudget budget = new LogprobBudget(100);
        LogprobBudget.Share first = budget.reserve(60);
        assertThatThrownBy(() -> budget.reserve(41)).isInstanceOfSatisfying(ApiError.class, error -> {
            assertThat(error.status()).isEqualTo(503);
            assertThat(error.headers()).containsKey("Retry-After");
        });
        first.close();
        budget.reserve(41).close();
    }

    private static TestServer limited(long logprobBytes) {
        return new TestServer(
                TestServer.engineOptions(),
                SimOptions.defaults(),
                TestServer.options().withLogprobBytes(logprobBytes));
    }

    @Test
    void prompt_of_the_whole_context_is_served_without_new_tokens() throws IOException {
        int context = TestServer.SPEC.contextLength();
        ObjectNode body = likelihood().put("max_tokens", 0);
        IntStream.range(0, context).map(i -> i % 700).forEach(body.putArray("prompt")::add);
        JsonNode logprobs = complete(body).get("choices").get(0).get("logprobs");
        assertThat(logprobs.get("token_logprobs").size()).isEqualTo(context);
        assertThat(server.complete(body.put("max_tokens", 1).toString()).status())
                .isEqualTo(400);
    }
}
