package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.StrictJson;
import io.roseinfer.server.http.RawClient;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** A streamed chat equals the chat that is not streamed. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ChatStreamTest {
    private static final long SEED = 20_261_123;
    private static final int CONVERSATIONS = Integer.getInteger("roseinfer.chats", 100);

    private static TestServer server;

    @BeforeAll
    static void start() {
        server = TestServer.startChat();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static String words(Random random) {
        return TestServer.WORDS.decode(
                        random.ints(1 + random.nextInt(8), 0, 2000).toArray()) + "é😀";
    }

    private static ObjectNode conversation(Random random) {
        ObjectNode body = StrictJson.mapper().createObjectNode();
        ArrayNode messages = body.putArray("messages");
        if (random.nextBoolean()) {
            messages.addObject().put("role", "system").put("content", words(random));
        }
        int turns = 1 + random.nextInt(3);
        for (int turn = 0; turn < turns; turn++) {
            messages.addObject().put("role", "user").put("content", words(random));
            if (turn < turns - 1) {
                messages.addObject().put("role", "assistant").put("content", words(random));
            }
        }
        body.put("max_completion_tokens", 1 + random.nextInt(40))
                .put("temperature", random.nextInt(2))
                .put("seed", random.nextInt(1000))
                .put("n", 1 + random.nextInt(3));
        if (random.nextInt(3) == 0) {
            body.put("logprobs", true).put("top_logprobs", random.nextInt(3));
        }
        if (random.nextInt(3) == 0) {
            body.put("stream_interval", 1 + random.nextInt(5));
        }
        return body;
    }

    private static JsonNode whole(ObjectNode body) throws IOException {
        RawClient.Answer answer = server.post("/v1/chat/completions", body.toString());
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        return TestServer.json(answer);
    }

    private static List<String> events(ObjectNode body) throws IOException {
        ObjectNode streamed = body.deepCopy().put("stream", true);
        streamed.putObject("stream_options").put("include_usage", true);
        return TestServer.events(
                server.post("/v1/chat/completions", streamed.toString()).body());
    }

    private record Streamed(Map<Integer, String> texts, Map<Integer, String> reasons, Map<Integer, String> logprobs) {
        Streamed() {
            this(new TreeMap<>(), new TreeMap<>(), new TreeMap<>());
        }

        void add(JsonNode choice, String message) {
            int index = choice.get("index").intValue();
            texts.merge(index, choice.get(message).get("content").stringValue(), String::concat);
            if (!choice.get("finish_reason").isNull()) {
                reasons.put(index, choice.get("finish_reason") + " " + choice.get("stop_reason"));
            }
            JsonNode streamed = choice.get("logprobs");
            if (streamed != null && !streamed.isNull()) {
                streamed.get("content").forEach(token -> logprobs.merge(index, token.toString(), String::concat));
            }
        }
    }

    @Test
    void stream_and_response_agree_for_random_conversations() throws IOException {
        Random random = new Random(SEED);
        for (int i = 0; i < CONVERSATIONS; i++) {
            ObjectNode body = conversation(random);
            String free = whole(body)
                    .get("choices")
                    .get(0)
                    .get("message")
                    .get("content")
                    .stringValue();
            if (free.length() > 4 && random.nextBoolean()) {
                int at = free.offsetByCodePoints(0, random.nextInt(free.codePointCount(0, free.length()) - 2));
                body.putArray("stop").add("never").add(free.substring(at, free.offsetByCodePoints(at, 2)));
            }
            JsonNode whole = whole(body);
            Streamed expected = new Streamed();
            whole.get("choices").forEach(choice -> expected.add(choice, "message"));
            List<String> events = events(body);
            Streamed streamed = new Streamed();
            for (String event : events.subList(0, events.size() - 1)) {
                TestServer.json(event).get("choices").forEach(choice -> streamed.add(choice, "delta"));
            }
            String what = "seed " + SEED + ", conversation " + i + ": " + body;
            assertThat(streamed).as(what).isEqualTo(expected);
            assertThat(TestServer.json(events.get(events.size() - 2)).get("usage"))
                    .as(what)
                    .isEqualTo(whole.get("usage"));
            assertThat(events.getLast()).as(what).isEqualTo("[DONE]");
        }
    }
}
