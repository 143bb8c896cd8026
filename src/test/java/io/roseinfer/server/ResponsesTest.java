package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.server.http.RawClient;
import io.roseinfer.server.http.RawClient.Answer;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code /v1/responses}: its requests, items, events and errors. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ResponsesTest {
    private static final String PATH = "/v1/responses";
    private static final String REPLY = "<think>\nHm.\n</think>\n\nLet me look.\n"
            + "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"place\": \"Bern\"}}\n</tool_call>";
    private static final String TOOL =
            "{'type':'function','name':'get_weather','parameters':{'type':'object','properties':{'place':{'type':'string'}}}}";
    private static final String CHAT_TOOL = "{'type':'function','function':{'name':'get_weather',"
            + "'parameters':{'type':'object','properties':{'place':{'type':'string'}}}}}";

    /** A model whose tokens depend on its prompt. */
    private static TestServer hashes;

    @BeforeAll
    static void start() throws IOException {
        hashes = new TestServer(
                TestServer.engineOptions(),
                SimOptions.defaults(),
                TestServer.options().withModel(ToolCallsTest.model("qwen3")));
    }

    @AfterAll
    static void stop() {
        hashes.close();
    }

    /** An object in JSON with single quotes. */
    private static ObjectNode object(String fields) {
        return (ObjectNode) TestServer.json("{" + fields.replace('\'', '"') + "}");
    }

    private static ObjectNode greedy(String fields) {
        ObjectNode body = object(fields);
        return body.has("temperature") ? body : body.put("temperature", 0);
    }

    private static JsonNode respond(TestServer server, ObjectNode body) throws IOException {
        Answer answer = server.post(PATH, body.toString());
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        return TestServer.json(answer);
    }

    /** The events of a stream; each has the name of its type. */
    private static List<JsonNode> events(TestServer server, ObjectNode body) throws IOException {
        Answer answer = server.post(PATH, body.put("stream", true).toString());
        assertThat(answer.header("content-type")).hasValue("text/event-stream; charset=utf-8");
        List<JsonNode> events = new ArrayList<>();
        for (String event : answer.body().split("\n\n")) {
            String[] lines = event.split("\n", -1);
            assertThat(lines).hasSize(2);
            JsonNode data = TestServer.json(lines[1].substring("data: ".length()));
            assertThat(lines[0]).isEqualTo("event: " + data.get("type").stringValue());
            assertThat(data.get("sequence_number").intValue()).isEqualTo(events.size());
            events.add(data);
        }
        return events;
    }

    private static List<String> texts(List<JsonNode> events, String field) {
        return events.stream().map(event -> event.get(field).stringValue()).toList();
    }

    private static JsonNode withoutTimes(JsonNode response) {
        return ((ObjectNode) response.deepCopy()).without(List.of("metrics", "timings"));
    }

    private static ObjectNode weather() {
        return object("'input':'The weather?','request_id':'r','tools':[" + TOOL + "]");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '"',
            value = {
                "'input':'Hi'; 'messages':[{'role':'user','content':'Hi'}]",
                "'instructions':'Rhyme.','input':'Hi';"
                        + " 'messages':[{'role':'system','content':'Rhyme.'},{'role':'user','content':'Hi'}]",
                "'input':[{'role':'user','content':[{'type':'input_text','text':'a'},{'type':'input_text','text':'b'}]}];"
                        + " 'messages':[{'role':'user','content':[{'type':'text','text':'a'},{'type':'text','text':'b'}]}]",
                "'input':[{'role':'user','content':'Hi'},{'type':'message','id':'msg_1','status':'completed',"
                        + "'role':'assistant','content':[{'type':'output_text','text':'Yes?','annotations':[]}]},"
                        + "{'role':'user','content':'No'}];"
                        + " 'messages':[{'role':'user','content':'Hi'},{'role':'assistant','content':'Yes?'},"
                        + "{'role':'user','content':'No'}]",
                "'input':[{'role':'user','content':'Hi'},"
                        + "{'type':'reasoning','id':'rs_1','summary':[],'content':[{'type':'reasoning_text','text':'Hm.'}]},"
                        + "{'role':'assistant','content':'Wait.'},"
                        + "{'type':'function_call','call_id':'c1','name':'f','arguments':'{}'},"
                        + "{'type':'function_call','call_id':'c2','name':'g','arguments':'{}'},"
                        + "{'type':'function_call_output','call_id':'c1','output':'1'},"
                        + "{'type':'function_call_output','call_id':'c2','output':[{'type':'input_text','text':'2'}]}];"
                        + " 'messages':[{'role':'user','content':'Hi'},{'role':'assistant','reasoning_content':'Hm.',"
                        + "'content':'Wait.','tool_calls':["
                        + "{'id':'c1','type':'function','function':{'name':'f','arguments':'{}'}},"
                        + "{'id':'c2','type':'function','function':{'name':'g','arguments':'{}'}}]},"
                        + "{'role':'tool','tool_call_id':'c1','content':'1'},{'role':'tool','tool_call_id':'c2','content':'2'}]",
                "'input':'Hi','tools':[" + TOOL + "]; 'messages':[{'role':'user','content':'Hi'}],'tools':[" + CHAT_TOOL
                        + "]",
                "'input':'Hi','tools':[" + TOOL + "],'tool_choice':{'type':'function','name':'get_weather'};"
                        + " 'messages':[{'role':'user','content':'Hi'}],'tools':[" + CHAT_TOOL
                        + "],'tool_choice':{'type':'function','function':{'name':'get_weather'}}",
                "'input':'Hi','text':{'format':{'type':'json_schema','name':'x','schema':{'enum':['abc','xyz']},'strict':true}};"
                        + " 'messages':[{'role':'user','content':'Hi'}],'response_format':{'type':'json_schema',"
                        + "'json_schema':{'name':'x','schema':{'enum':['abc','xyz']},'strict':true}}",
                "'input':'Hi','temperature':1,'seed':7,'top_k':3,'ignore_eos':true,'chat_template_kwargs':{'enable_thinking':false};"
                        + " 'messages':[{'role':'user','content':'Hi'}],'temperature':1,'seed':7,'top_k':3,'ignore_eos':true,"
                        + "'chat_template_kwargs':{'enable_thinking':false}",
            })
    void request_means_the_same_as_a_chat(String fields, String chatFields) throws IOException {
        ObjectNode chat = greedy(chatFields).put("max_completion_tokens", 60);
        Answer answer = hashes.post("/v1/chat/completions", chat.toString());
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        JsonNode message = TestServer.json(answer).get("choices").get(0).get("message");
        JsonNode response = respond(hashes, greedy(fields).put("max_output_tokens", 60));
        StringBuilder expected = new StringBuilder(message.path("content").asString(""));
        message.path("tool_calls").forEach(call -> expected.append(call.get("function")));
        StringBuilder text = new StringBuilder();
        for (JsonNode item : response.get("output")) {
            item.path("content").forEach(part -> text.append(part.get("text").stringValue()));
            if (item.has("arguments")) {
                text.append(object("")
                        .put("name", item.get("name").stringValue())
                        .put("arguments", item.get("arguments").stringValue()));
            }
        }
        assertThat(text).hasToString(expected.toString()).isNotEmpty();
        assertThat(response.get("usage").get("input_tokens"))
                .isEqualTo(TestServer.json(answer).get("usage").get("prompt_tokens"));
    }

    @Test
    void response_has_reasoning_message_and_call_as_items() throws IOException {
        try (TestServer server = ToolCallsTest.start(REPLY)) {
            ObjectNode body = weather();
            JsonNode response =
                    respond(server, body.put("instructions", "Be brief.").put("temperature", 0.5));
            JsonNode output = response.get("output");
            assertThat(output.get(0))
                    .isEqualTo(object("'id':'rs_r_0','type':'reasoning','status':'completed','summary':[],"
                            + "'content':[{'type':'reasoning_text','text':'Hm.'}]"));
            assertThat(output.get(1))
                    .isEqualTo(
                            object("'id':'msg_r_1','type':'message','status':'completed','role':'assistant','content':"
                                    + "[{'type':'output_text','text':'Let me look.','annotations':[],'logprobs':[]}]"));
            JsonNode call = output.get(2);
            assertThat(call.get("call_id").stringValue()).matches("call_[0-9a-f]{24}");
            assertThat(((ObjectNode) call).without("call_id"))
                    .isEqualTo(object("'id':'fc_r_2','type':'function_call','status':'completed','name':'get_weather'")
                            .put("arguments", "{\"place\": \"Bern\"}"));
            assertThat(output).hasSize(3);
            assertThat(response.get("id").stringValue()).isEqualTo("resp_r");
            assertThat(response.get("status").stringValue()).isEqualTo("completed");
            assertThat(response.get("created_at").longValue()).isEqualTo(TestServer.NOW.getEpochSecond());
            assertThat(response.get("tools")).isEqualTo(body.get("tools"));
            assertThat(response.get("instructions").stringValue()).isEqualTo("Be brief.");
            assertThat(response.get("temperature").doubleValue()).isEqualTo(0.5);
            assertThat(response.get("store").booleanValue()).isFalse();
            assertThat(server.get("/metrics").body())
                    .contains("roseinfer:tool_calls_total{engine=\"0\",model_name=\"sim\"} 1.0");
        }
    }

    @Test
    void usage_counts_cached_and_reasoning_tokens() throws IOException {
        try (TestServer server = ToolCallsTest.start(REPLY)) {
            JsonNode first = respond(server, weather()).get("usage");
            JsonNode usage = respond(server, weather()).get("usage");
            int reasoning =
                    TestServer.WORDS.encode("<think>\nHm.\n</think>").length - TestServer.WORDS.encode("<think").length;
            assertThat(usage.get("output_tokens_details")
                            .get("reasoning_tokens")
                            .intValue())
                    .isEqualTo(reasoning);
            assertThat(usage.get("input_tokens")).isEqualTo(first.get("input_tokens"));
            assertThat(first.get("input_tokens_details").get("cached_tokens").intValue())
                    .isZero();
            assertThat(usage.get("input_tokens_details").get("cached_tokens").intValue())
                    .isPositive();
            assertThat(usage.get("total_tokens").intValue())
                    .isEqualTo(usage.get("input_tokens").intValue()
                            + usage.get("output_tokens").intValue());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 1000})
    void stream_has_the_events_of_each_item_and_ends_with_the_response(int interval) throws IOException {
        try (TestServer server = ToolCallsTest.start(REPLY)) {
            JsonNode whole = respond(server, weather());
            JsonNode second = respond(server, weather());
            List<JsonNode> events = events(server, weather().put("stream_interval", interval));
            List<String> types = texts(events, "type").stream().distinct().toList();
            assertThat(types)
                    .containsExactly(
                            "response.created",
                            "response.in_progress",
                            "response.output_item.added",
                            "response.content_part.added",
                            "response.reasoning_text.delta",
                            "response.reasoning_text.done",
                            "response.content_part.done",
                            "response.output_item.done",
                            "response.output_text.delta",
                            "response.output_text.done",
                            "response.function_call_arguments.delta",
                            "response.function_call_arguments.done",
                            "response.completed");
            JsonNode response = events.getLast().get("response");
            assertThat(withoutTimes(response)).isEqualTo(withoutTimes(second));
            assertThat(response.get("timings")).isNotNull();
            List<JsonNode> done = events.stream()
                    .filter(event -> event.get("type").stringValue().equals("response.output_item.done"))
                    .toList();
            for (int i = 0; i < done.size(); i++) {
                assertThat(done.get(i).get("item"))
                        .isEqualTo(whole.get("output").get(i));
                assertThat(done.get(i).get("output_index").intValue()).isEqualTo(i);
            }
            assertThat(done).hasSize(3);
            assertThat(events.getFirst().get("response").get("status").stringValue())
                    .isEqualTo("in_progress");
        }
    }

    @ParameterizedTest
    @CsvSource({"reasoning_text, Hm.", "output_text, Let me look.", "function_call_arguments, '{\"place\": \"Bern\"}'"})
    void deltas_make_the_text_that_is_done(String kind, String text) throws IOException {
        try (TestServer server = ToolCallsTest.start(REPLY)) {
            List<JsonNode> events = events(server, weather()).stream()
                    .filter(event -> event.get("type").stringValue().startsWith("response." + kind + "."))
                    .toList();
            List<JsonNode> deltas = events.subList(0, events.size() - 1);
            assertThat(String.join("", texts(deltas, "delta"))).isEqualTo(text);
            assertThat(deltas).hasSizeGreaterThan(1);
            JsonNode done = events.getLast();
            assertThat(done.path(kind.endsWith("text") ? "text" : "arguments").stringValue())
                    .isEqualTo(text);
            assertThat(texts(deltas, "item_id"))
                    .containsOnly(done.get("item_id").stringValue());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void response_cut_by_the_maximum_is_incomplete(boolean stream) throws IOException {
        ObjectNode body = object("'input':'Hi','max_output_tokens':3,'ignore_eos':true");
        List<JsonNode> events =
                stream ? events(hashes, body) : List.of(object("").set("response", respond(hashes, body)));
        JsonNode response = events.getLast().get("response");
        assertThat(response.get("status").stringValue()).isEqualTo("incomplete");
        assertThat(response.get("incomplete_details").get("reason").stringValue())
                .isEqualTo("max_output_tokens");
        assertThat(response.get("output").get(0).get("status").stringValue()).isEqualTo("incomplete");
        assertThat(response.get("usage").get("output_tokens").intValue()).isEqualTo(3);
        if (stream) {
            assertThat(events.getLast().get("type").stringValue()).isEqualTo("response.incomplete");
        }
    }

    @Test
    void response_cut_by_its_timeout_is_incomplete() throws Exception {
        Gate gate = new Gate(3);
        try (TestServer server = TestServer.startChat(gate.options());
                RawClient client = server.client()) {
            ObjectNode body = object("'input':'Hi','max_output_tokens':20,'ignore_eos':true");
            client.send(RawClient.post(PATH, body.toString(), "X-Request-Timeout: 1000\r\n"));
            gate.awaitReached();
            server.aheadNanos.set(Duration.ofSeconds(2000).toNanos());
            gate.open();
            JsonNode response = TestServer.json(client.answer());
            assertThat(response.get("status").stringValue()).isEqualTo("incomplete");
            assertThat(response.get("incomplete_details").get("reason").stringValue())
                    .isEqualTo("deadline");
        }
    }

    @Test
    void reply_without_text_has_an_empty_message() throws IOException {
        try (TestServer server = ToolCallsTest.start("")) {
            JsonNode response = respond(server, object("'input':'Hi'"));
            assertThat(response.get("output")).hasSize(1);
            assertThat(response.get("output")
                            .get(0)
                            .get("content")
                            .get(0)
                            .get("text")
                            .stringValue())
                    .isEmpty();
            JsonNode streamed = events(server, object("'input':'Hi'")).getLast().get("response");
            assertThat(streamed.get("output")).hasSize(1);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '"',
            value = {
                "input; 'instructions':'a'",
                "input; 'input':[]",
                "input; 'input':5",
                "input[0]; 'input':['a']",
                "input[0].role; 'input':[{'content':'a'}]",
                "input[1].role; 'instructions':'a','input':[{'role':'user','content':'a'},{'role':'narrator','content':'a'}]",
                "input[0].content; 'input':[{'role':'user'}]",
                "input[0].content; 'input':[{'role':'user','content':[{'type':'input_image','image_url':'a'}]}]",
                "input[0].type; 'input':[{'type':'computer_call'}]",
                "input[0]; 'input':[{'type':'item_reference','id':'msg_1'}]",
                "input[0].arguments; 'input':[{'type':'function_call','call_id':'a','name':'f'}]",
                "input[1].tool_call_id; 'input':[{'role':'user','content':'a'},"
                        + "{'type':'function_call_output','call_id':'a','output':'b'}]",
                "previous_response_id; 'input':'a','previous_response_id':'resp_1'",
                "conversation; 'input':'a','conversation':'conv_1'",
                "prompt; 'input':'a','prompt':{'id':'pmpt_1'}",
                "background; 'input':'a','background':true",
                "truncation; 'input':'a','truncation':'auto'",
                "include; 'input':'a','include':['message.output_text.logprobs']",
                "top_logprobs; 'input':'a','top_logprobs':2",
                "n; 'input':'a','n':2",
                "messages; 'input':'a','messages':[]",
                "max_tokens; 'input':'a','max_tokens':5",
                "response_format; 'input':'a','response_format':{'type':'json_object'}",
                "max_output_tokens; 'input':'a','max_output_tokens':0",
                "temperature; 'input':'a','temperature':-1",
                "tools[0].type; 'input':'a','tools':[{'type':'web_search'}]",
                "tools[0].name; 'input':'a','tools':[{'type':'function','name':'a b'}]",
                "tools[0].parameters; 'input':'a','tools':[{'type':'function','name':'f','parameters':5}]",
                "tool_choice; 'input':'a','tools':[{'type':'function','name':'f'}],'tool_choice':{'type':'allowed_tools'}",
                "text.format; 'input':'a','text':{'format':{'type':'grammar'}}",
                "text.format; 'input':'a','text':{'format':{'type':'json_schema','name':'x'}}",
                "text.format; 'input':'a','text':{'format':{'type':'json_schema','name':'x','schema':{'not':{}}}}",
                "reasoning.effort; 'input':'a','reasoning':{'effort':'huge'}",
                "mirostat; 'input':'a','mirostat':2",
                "logit_bias; 'input':'a','logit_bias':[1]",
            })
    void invalid_field_is_rejected_by_its_name(String field, String fields) throws IOException {
        Answer answer = hashes.post(PATH, object(fields).toString());
        assertThat(answer.status()).as(answer.body()).isEqualTo(400);
        JsonNode error = TestServer.json(answer).get("error");
        assertThat(error.get("param").stringValue()).isEqualTo(field);
        assertThat(error.get("message").stringValue())
                .doesNotContain("messages[", "response_format.", ".function.", "json_schema.");
    }

    @Test
    void too_long_input_is_rejected_by_name() throws IOException {
        String text = "a ".repeat(TestServer.SPEC.contextLength() + 1);
        Answer answer = hashes.post(PATH, object("").put("input", text).toString());
        assertThat(answer.status()).isEqualTo(400);
        JsonNode error = TestServer.json(answer).get("error");
        assertThat(error.get("param").stringValue()).isEqualTo("input");
        assertThat(error.get("n_ctx").intValue()).isEqualTo(TestServer.SPEC.contextLength());
    }

    @Test
    void fields_without_effect_are_named() throws IOException {
        ObjectNode body = object("'input':[{'type':'item_reference','id':'rs_1'},{'role':'user','content':'a'}],"
                + "'max_output_tokens':2,'store':true,'text':{'verbosity':'low'},'reasoning':{'effort':'low','summary':'auto'},"
                + "'include':['reasoning.encrypted_content'],'service_tier':'auto'");
        Answer answer = hashes.post(PATH, body.toString());
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        assertThat(answer.header("x-roseinfer-ignored").orElseThrow().split(", "))
                .containsExactlyInAnyOrder(
                        "input[0]",
                        "store",
                        "text.verbosity",
                        "reasoning.effort",
                        "reasoning.summary",
                        "include",
                        "service_tier");
    }

    @Test
    void fields_that_clients_send_by_default_are_not_named() throws IOException {
        ObjectNode body =
                object("'input':'a','max_output_tokens':2,'store':false,'truncation':'disabled','background':false,"
                        + "'metadata':{'a':'b'},'text':{'format':{'type':'text'}},'parallel_tool_calls':true,'tools':[],"
                        + "'previous_response_id':null,'top_logprobs':0,'user':'me','request_id':'r'");
        Answer answer = hashes.post(PATH, body.toString());
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        assertThat(answer.header("x-roseinfer-ignored")).isEmpty();
        assertThat(TestServer.json(answer).get("metadata")).isEqualTo(body.get("metadata"));
    }

    @Test
    void failure_within_a_stream_is_its_last_event() throws IOException {
        SimOptions sim = SimOptions.defaults().withOnStep(step -> {
            if (step == 3) {
                throw new DeviceFailure("the device hiccuped", true);
            }
        });
        try (TestServer server = TestServer.startChat(sim)) {
            List<JsonNode> events = events(server, object("'input':'Once','max_output_tokens':20"));
            assertThat(events.getLast().get("type").stringValue()).isEqualTo("response.failed");
            JsonNode response = events.getLast().get("response");
            assertThat(response.get("status").stringValue()).isEqualTo("failed");
            assertThat(response.get("error").get("code").stringValue()).isEqualTo("server_error");
            assertThat(response.get("error").get("message").stringValue()).contains("the device hiccuped");
        }
    }

    @Test
    void path_has_its_own_label_in_metrics_and_log() throws IOException {
        try (TestServer server = TestServer.startChat()) {
            JsonNode unused = respond(server, object("'input':'Once','max_output_tokens':2,'user':'me'"));
            assertThat(server.get("/v1/responses").status()).isEqualTo(405);
            assertThat(server.get("/v1/responses/resp_1").status()).isEqualTo(404);
            assertThat(server.get("/metrics").body())
                    .contains("handler=\"/v1/responses\",method=\"POST\"", "handler=\"none\"");
            server.server.close();
            assertThat(server.log)
                    .anySatisfy(line -> assertThat(line)
                            .contains("\"path\":\"/v1/responses\"", "\"completion_tokens\":2", "\"user\":\"me\""));
        }
    }

    @Test
    void timestamps_follow_the_response_in_a_stream() throws IOException {
        String body =
                object("'input':'Once','max_output_tokens':2,'stream':true").toString();
        Answer answer = hashes.post(PATH, body, "X-Roseinfer-Stamps: 1\r\n");
        String last = answer.body().substring(answer.body().lastIndexOf("data: ") + "data: ".length());
        assertThat(TestServer.json(last).get("type").stringValue()).isEqualTo("roseinfer.stamps");
        assertThat(TestServer.json(last).get("stamps").get("choices")).hasSize(1);
    }
}
