package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.server.http.RawClient.Answer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

class StampsTest {
    private static final String ASK = "X-Roseinfer-Stamps: 1\r\n";
    private static final int TOKENS = 5;

    private final TestServer server = TestServer.start();

    @AfterEach
    void close() {
        server.close();
    }

    private JsonNode stamps(boolean stream, int n) throws IOException {
        Answer answer = server.complete(
                "{\"prompt\":\"Once\",\"max_tokens\":" + TOKENS + ",\"ignore_eos\":true,\"n\":" + n + ",\"stream\":"
                        + stream + "}",
                ASK);
        assertThat(answer.status()).isEqualTo(200);
        if (!stream) {
            return TestServer.json(answer).get("stamps");
        }
        List<String> events = TestServer.events(answer.body());
        assertThat(events.getLast()).isEqualTo("[DONE]");
        JsonNode last = TestServer.json(events.get(events.size() - 2));
        assertThat(last.get("choices")).isEmpty();
        return last.get("stamps");
    }

    private static List<Long> list(JsonNode node) {
        List<Long> values = new ArrayList<>();
        node.forEach(value -> values.add(value.longValue()));
        return values;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void stages_of_a_call_are_adjacent_and_in_order(boolean stream) throws IOException {
        JsonNode stamps = stamps(stream, 2);
        List<Long> call = new ArrayList<>();
        for (String name : List.of("first_byte_ns", "head_ns", "body_ns", "begun_ns", "parsed_ns", "tokenized_ns")) {
            call.add(stamps.get(name).longValue());
        }
        assertThat(stamps.get("choices")).hasSize(2);
        for (JsonNode choice : stamps.get("choices")) {
            List<Long> stages = new ArrayList<>(call);
            stages.add(choice.get("submitted_ns").longValue());
            stages.add(choice.get("queued_ns").longValue());
            stages.add(choice.get("admitted_ns").longValue());
            stages.add(choice.get("sampled_ns").get(0).longValue());
            if (stream) {
                stages.add(choice.get("read_ns").get(0).longValue());
                stages.add(choice.get("written_ns").get(0).longValue());
            }
            assertThat(stages).isSorted();
            assertThat(choice.get("finished_ns").longValue())
                    .isGreaterThanOrEqualTo(
                            choice.get("sampled_ns").get(TOKENS - 1).longValue());
        }
    }

    @Test
    void every_streamed_token_is_sampled_then_read_then_written() throws IOException {
        JsonNode choice = stamps(true, 1).get("choices").get(0);
        List<Long> sampled = list(choice.get("sampled_ns"));
        List<Long> read = list(choice.get("read_ns"));
        List<Long> written = list(choice.get("written_ns"));
        assertThat(sampled).hasSize(TOKENS).isSorted();
        assertThat(read).hasSize(TOKENS).isSorted();
        assertThat(written).hasSize(TOKENS).isSorted();
        for (int i = 0; i < TOKENS; i++) {
            assertThat(List.of(sampled.get(i), read.get(i), written.get(i))).isSorted();
        }
    }

    @Test
    void complete_response_has_no_timestamps_of_reading_and_writing() throws IOException {
        JsonNode choice = stamps(false, 1).get("choices").get(0);
        assertThat(list(choice.get("steps"))).hasSize(TOKENS);
        assertThat(choice.get("read_ns")).isEmpty();
        assertThat(choice.get("written_ns")).isEmpty();
    }

    @Test
    void each_token_names_its_step() throws IOException {
        JsonNode choice = stamps(true, 1).get("choices").get(0);
        List<Long> steps = list(choice.get("steps"));
        List<Long> sampled = list(choice.get("sampled_ns"));
        JsonNode records = TestServer.json(server.get("/debug/steps?from=" + steps.getFirst()))
                .get("data");
        for (int i = 0; i < TOKENS; i++) {
            JsonNode record = records.get((int) (steps.get(i) - steps.getFirst()));
            assertThat(record.get("step").longValue()).isEqualTo(steps.get(i));
            long awaited = 0;
            for (String part : List.of("start_ns", "plan_ns", "pack_ns", "device_ns")) {
                awaited += record.get(part).longValue();
            }
            assertThat(sampled.get(i)).isGreaterThanOrEqualTo(awaited);
            if (i + 1 < TOKENS) {
                assertThat(sampled.get(i)).isLessThan(sampled.get(i + 1));
            }
        }
    }

    @Test
    void each_choice_names_its_engine() throws IOException {
        try (TestServer several = new TestServer(
                TestServer.engineOptions(),
                TestServer.options(),
                RoutingPolicy.roundRobin(),
                List.of(SimOptions.defaults(), SimOptions.defaults()))) {
            String body = "{\"prompt\":\"Once\",\"max_tokens\":5,\"ignore_eos\":true,\"n\":2}";
            JsonNode choices = TestServer.json(several.complete(body, "X-Roseinfer-Stamps: 1\r\n"))
                    .get("stamps")
                    .get("choices");
            for (int engine = 0; engine < 2; engine++) {
                assertThat(choices.get(engine).get("engine").intValue()).isEqualTo(engine);
                JsonNode answer = TestServer.json(several.get("/debug/steps?engine=" + engine));
                assertThat(answer.get("engines").intValue()).isEqualTo(2);
                int wanted = engine;
                assertThat(answer.get("data"))
                        .allSatisfy(step ->
                                assertThat(step.get("engine").intValue()).isEqualTo(wanted));
                assertThat(list(choices.get(engine).get("steps")))
                        .isSubsetOf(answer.get("data")
                                .valueStream()
                                .map(step -> step.get("step").longValue())
                                .toList());
            }
        }
    }

    @Test
    void timestamps_are_sent_only_on_request() throws IOException {
        String body = "{\"prompt\":\"Once\",\"max_tokens\":2}";
        assertThat(TestServer.json(server.complete(body)).has("stamps")).isFalse();
        assertThat(TestServer.json(server.complete(body, "X-Roseinfer-Stamps: 0\r\n"))
                        .has("stamps"))
                .isFalse();
    }

    @Test
    void invalid_value_of_the_timestamps_header_is_rejected() throws IOException {
        Answer answer = server.complete("{\"prompt\":\"Once\",\"max_tokens\":2}", "X-Roseinfer-Stamps: please\r\n");
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.body()).contains("x-roseinfer-stamps");
    }

    @Test
    void clock_endpoint_has_the_clock_of_the_timestamps() throws IOException {
        long before =
                TestServer.json(server.get("/debug/clock")).get("monotonic_ns").longValue();
        long firstByte = stamps(true, 1).get("first_byte_ns").longValue();
        JsonNode after = TestServer.json(server.get("/debug/clock"));
        assertThat(List.of(before, firstByte, after.get("monotonic_ns").longValue()))
                .isSorted();
        assertThat(after.get("wall_ns").longValue()).isEqualTo(TestServer.NOW.getEpochSecond() * 1_000_000_000L);
    }

    @Test
    void list_of_steps_continues_at_the_end_of_the_previous_one() throws IOException {
        stamps(true, 1);
        JsonNode first = TestServer.json(server.get("/debug/steps?from=1&limit=2"));
        assertThat(first.get("data").get(0).get("step").longValue()).isEqualTo(1);
        assertThat(first.get("next").longValue()).isEqualTo(3);
        JsonNode second = TestServer.json(server.get("/debug/steps?limit=1&from=3"));
        assertThat(second.get("data").get(0).get("step").longValue()).isEqualTo(3);
        JsonNode none = TestServer.json(server.get("/debug/steps?from=1000000"));
        assertThat(none.get("data")).isEmpty();
        assertThat(none.get("next").longValue()).isEqualTo(1_000_000);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"from=-1", "from", "limit=0", "limit=5000", "limit=1.5", "to=3", "from=1&&limit=1", "engine=1"})
    void invalid_query_for_steps_is_rejected(String query) throws IOException {
        assertThat(server.get("/debug/steps?" + query).status()).isEqualTo(400);
    }
}
