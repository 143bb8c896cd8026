package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.StructuredChatCompletion;
import io.roseinfer.base.StrictJson;
import io.roseinfer.bench.http.GrammarTimes;
import io.roseinfer.metrics.Summary;
import io.roseinfer.observe.ObservedRequest;
import io.roseinfer.observe.Observers;
import io.roseinfer.observe.RequestEvent;
import io.roseinfer.observe.RequestObserver;
import io.roseinfer.server.http.RawClient.Answer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Completions restricted to grammars, over HTTP. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StructuredOutputsTest {
    private static TestServer server;

    @BeforeAll
    static void start() {
        server = TestServer.startChat();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static Answer ask(String field, String value) throws IOException {
        return server.complete("{\"prompt\":\"Hi\",\"max_tokens\":120,\"" + field + "\":" + value + "}");
    }

    private static JsonNode choice(Answer answer) {
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        return TestServer.json(answer).get("choices").get(0);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '§',
            value = {
                "response_format § {'type':'json_schema','json_schema':{'name':'n','strict':true,'schema':{'enum':[17]}}} § 17",
                "response_format § {'type':'json_object','schema':{'const':{}}} § \\{\\s*}",
                "structured_outputs § {'json':{'type':'boolean'}} § true|false",
                "structured_outputs § {'json':'{\\\"const\\\":[1,2]}','disable_any_whitespace':true} § \\[1,2]",
                "structured_outputs § {'disable_any_whitespace':true},'response_format':{'type':'json_object','schema':{'const':[1,2]}} § \\[1,2]",
                "structured_outputs § {'disable_any_whitespace':false,'json':null},'guided_json':{'const':5} § 5",
                "structured_outputs § {'regex':'[a-c]{3}x'} § [a-c]{3}x",
                "structured_outputs § {'regex':'q','json':null,'whitespace_pattern':null,'disable_fallback':false} § q",
                "structured_outputs § {'choice':['red','green']} § red|green",
                "structured_outputs § {'grammar':'root ::= [xy]'} § [xy]",
                "guided_json § {'enum':['a','b']} § \"[ab]\"",
                "guided_regex § 'ab?c' § ab?c",
                "guided_choice § ['one','two'] § one|two",
                "guided_grammar § 'start: /[0-9]{2}/' § [0-9]{2}",
                "grammar § 'root ::= \\\"k\\\" [0-9]' § k[0-9]",
                "json_schema § {'type':'null'} § null"
            },
            quoteCharacter = '`')
    void each_field_restricts_the_completion(String field, String value, String pattern) throws IOException {
        JsonNode choice = choice(ask(field, value.replace('\'', '"')));
        assertThat(choice.get("finish_reason").stringValue()).isEqualTo("stop");
        assertThat(choice.get("text").stringValue()).matches(pattern);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '§',
            value = {
                "response_format § {'type':'grammar'} § json_schema",
                "response_format § {'type':'json_schema'} § json_schema; add it",
                "response_format § {'type':'json_schema','json_schema':{'name':'n'}} § schema; add it",
                "response_format § {'type':'json_schema','json_schema':{'schema':{'type':5}}} § type",
                "response_format § {'type':'json_object','extra':1} § response_format.extra",
                "structured_outputs § {} § must have one of",
                "structured_outputs § {'disable_any_whitespace':true} § must have one of",
                "structured_outputs § {'disable_any_whitespace':true,'json':{}},'guided_regex':'a' § remove one",
                "structured_outputs § {'regex':'a','choice':['b']} § has 2 grammars",
                "structured_outputs § {'json':{},'whitespace_pattern':' '} § structured_outputs.whitespace_pattern",
                "structured_outputs § {'structural_tag':'{}'} § structured_outputs.structural_tag",
                "guided_json § {'type':'array','uniqueItems':true} § uniqueItems",
                "guided_regex § 'a(?<=b)' § lookbehind",
                "guided_choice § ['a',5] § guided_choice[1] is 5",
                "structured_outputs § {'choice':[true]} § structured_outputs.choice[0] is true",
                "grammar § 'start: \\\"a\\\"' § GBNF",
                "guided_json § {'type':'object'},'guided_regex':'a' § remove one",
                "guided_regex § '[^a]' , 'response_format':{'type':'json_object'} § both restrict"
            },
            quoteCharacter = '`')
    void what_is_not_supported_is_named(String field, String value, String message) throws IOException {
        Answer answer = ask(field, value.replace('\'', '"'));
        assertThat(answer.status()).as(answer.body()).isEqualTo(400);
        assertThat(TestServer.json(answer).get("error").get("message").stringValue())
                .contains(message);
    }

    @Test
    void expensive_grammars_are_rejected_with_the_limit() throws IOException {
        String branches = IntStream.range(0, 30)
                .mapToObj(length -> "{\"type\":\"string\",\"pattern\":\"a.{" + length + "}b\"}")
                .collect(Collectors.joining(","));
        String many = IntStream.range(0, 100_000)
                .mapToObj(each -> "\"v" + each + "\"")
                .collect(Collectors.joining(","));
        Map<String, String> limits = Map.of(
                "{\"oneOf\":[" + branches + "]}", "300000 steps (the limit)",
                "{\"allOf\":[" + branches + "]}", "300000 steps (the limit)",
                "{\"enum\":[" + many + "]}", "elements of /enum is 100000; it must be at most 20000");
        for (Map.Entry<String, String> limit : limits.entrySet()) {
            Answer answer = ask("guided_json", limit.getKey());
            assertThat(answer.status()).as(answer.body()).isEqualTo(400);
            assertThat(answer.body()).contains(limit.getValue());
        }
        assertThat(server.get("/health").status()).isEqualTo(200);
    }

    private static double metric(String line) throws IOException {
        return metric(server, line);
    }

    private static double metric(TestServer server, String line) throws IOException {
        return server.get("/metrics")
                .body()
                .lines()
                .filter(each -> each.startsWith(line))
                .mapToDouble(each -> Double.parseDouble(each.substring(each.lastIndexOf(' '))))
                .sum();
    }

    @Test
    void each_compiled_or_cached_grammar_is_measured_once() throws IOException {
        double before = metric("roseinfer:grammar_compile_seconds_count");
        for (int i = 0; i < 2; i++) {
            choice(ask("guided_json", "{\"const\":\"measured\"}"));
        }
        assertThat(metric("roseinfer:grammar_compile_seconds_count")).isEqualTo(before + 2);
    }

    @Test
    void benchmark_records_the_mask_times_of_the_metrics() throws Exception {
        GrammarTimes.Recorder recorder = new GrammarTimes.Recorder();
        Semaphore masks = new Semaphore(0);
        RequestObserver counter = new RequestObserver() {
            @Override
            public void on(RequestEvent event) {}

            @Override
            public void maskComputed(ObservedRequest request, long nanos) {
                masks.release();
            }
        };
        Observers observers = Observers.ofRequests(recorder).and(Observers.ofRequests(counter));
        try (TestServer observed = TestServer.observed(observers)) {
            Answer answer = observed.complete("{\"prompt\":\"Hi\",\"max_tokens\":120,\"guided_regex\":\"[a-c]{9}x\"}");
            assertThat(answer.status()).as(answer.body()).isEqualTo(200);
            int tokens = TestServer.json(answer)
                    .get("usage")
                    .get("completion_tokens")
                    .intValue();
            assertThat(masks.tryAcquire(tokens, 1, TimeUnit.MINUTES)).isTrue();
            GrammarTimes times = recorder.times().orElseThrow();
            assertThat(times.compileMillis().count()).isEqualTo(1);
            Summary mask = times.maskMicros();
            assertThat(metric(observed, "roseinfer:grammar_mask_seconds_count")).isEqualTo(mask.count());
            assertThat(metric(observed, "roseinfer:grammar_mask_seconds_sum"))
                    .isCloseTo(mask.count() * mask.mean() / 1e6, withinPercentage(1e-6));
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '§',
            value = {
                "response_format § {'type':'json_schema','json_schema':{'schema':{'const':1,'nullable':true}}} § response_format.json_schema.schema/nullable",
                "structured_outputs § {'json':{'const':1,'propertes':{}}} § structured_outputs.json/propertes",
                "guided_json § {'const':1,'allOf':[{'a':1}]} § guided_json/allOf/0/a",
                "guided_json § {'const':1},'x':2 § x"
            })
    void keywords_without_effect_are_named(String field, String value, String ignored) throws IOException {
        Answer answer = ask(field, value.replace('\'', '"'));
        assertThat(choice(answer).get("text").stringValue()).isEqualTo("1");
        assertThat(answer.header("x-roseinfer-ignored")).contains(ignored);
    }

    @Test
    void grammar_that_cannot_be_compiled_is_the_clients_error() throws IOException {
        List<String> before = failures();
        List<String> grammars = List.of(
                "\"guided_regex\":\"[^\\\\s\\\\S]\"",
                "\"grammar\":\"root ::= root\"",
                "\"guided_json\":{\"type\":\"array\",\"items\":{\"type\":\"array\"},\"minItems\":300000}");
        for (String fields : grammars) {
            Answer answer = server.complete("{\"prompt\":\"Hi\"," + fields + "}");
            assertThat(answer.status()).as(answer.body()).isEqualTo(400);
            JsonNode error = TestServer.json(answer).get("error");
            assertThat(error.get("param").stringValue()).isEqualTo(fields.split("\"")[1]);
        }
        assertThat(failures()).isEqualTo(before);
    }

    private static List<String> failures() throws IOException {
        return server.get("/metrics")
                .body()
                .lines()
                .filter(line -> line.contains("finished_reason=\"error\""))
                .toList();
    }

    /** Only the compiler knows the model's tokens. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void unknown_special_token_is_rejected(boolean stream) throws IOException {
        Answer answer = server.complete(
                "{\"prompt\":\"Hi\",\"stream\":" + stream + ",\"grammar\":\"root ::= \\\"a\\\" <|nope|>\"}");
        assertThat(answer.status()).as(answer.body()).isEqualTo(400);
        assertThat(answer.body()).contains("<|nope|>");
    }

    @ParameterizedTest
    @ValueSource(strings = {"{\"type\":\"text\"}", "null"})
    void text_is_not_restricted(String format) throws IOException {
        JsonNode free = choice(server.complete("{\"prompt\":\"Hi\",\"temperature\":0,\"max_tokens\":9}"));
        JsonNode asked = choice(server.complete(
                "{\"prompt\":\"Hi\",\"temperature\":0,\"max_tokens\":9,\"response_format\":" + format + "}"));
        assertThat(asked.get("text")).isEqualTo(free.get("text"));
    }

    @Test
    void choices_of_one_call_share_the_grammar() throws IOException {
        Answer answer = server.complete("{\"prompt\":\"Hi\",\"n\":8,\"max_tokens\":40,\"guided_regex\":\"[a-f]{4}\"}");
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        JsonNode choices = TestServer.json(answer).get("choices");
        assertThat(choices)
                .hasSize(8)
                .allSatisfy(
                        choice -> assertThat(choice.get("text").stringValue()).matches("[a-f]{4}"));
    }

    @Test
    void stream_ends_with_stop() throws IOException {
        Answer answer = server.post("/v1/chat/completions", """
                {"messages":[{"role":"user","content":"Hi"}],"stream":true,"max_tokens":100,
                "response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"enum":["yes","no"]}}}}""");
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        StringBuilder text = new StringBuilder();
        StringBuilder reasons = new StringBuilder();
        for (String line :
                answer.body().lines().filter(each -> each.startsWith("data: {")).toList()) {
            JsonNode choice = StrictJson.parse(line.substring(6).getBytes(StandardCharsets.UTF_8))
                    .get("choices")
                    .get(0);
            text.append(choice.path("delta").path("content").asString(""));
            reasons.append(choice.path("finish_reason").asString(""));
        }
        assertThat(text.toString()).matches("\"(yes|no)\"");
        assertThat(reasons).hasToString("stop");
    }

    /** Read by OpenAI's client for Java. */
    record Person(String name, int age, boolean member, Optional<String> city) {}

    @Test
    void client_parses_a_record() {
        OpenAIClient client = OpenAIOkHttpClient.builder()
                .baseUrl("http://127.0.0.1:" + server.address().getPort() + "/v1")
                .apiKey("any")
                .maxRetries(0)
                .build();
        int parsed = 0;
        for (int seed = 0; seed < 20 && parsed == 0; seed++) {
            StructuredChatCompletion<Person> answer = client.chat()
                    .completions()
                    .create(ChatCompletionCreateParams.builder()
                            .model(TestServer.MODEL)
                            .addUserMessage("Who is it?")
                            .maxCompletionTokens(400)
                            .seed(seed)
                            .temperature(1.0)
                            .responseFormat(Person.class)
                            .build());
            if (answer.choices().getFirst().finishReason().toString().equals("stop")) {
                parsed++;
                assertThat(answer.choices()
                                .getFirst()
                                .message()
                                .content()
                                .orElseThrow()
                                .name())
                        .isNotNull();
            }
        }
        assertThat(parsed).isPositive();
        client.close();
    }
}
