package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.http.StreamResponse;
import com.openai.errors.BadRequestException;
import com.openai.errors.InternalServerException;
import com.openai.errors.NotFoundException;
import com.openai.errors.RateLimitException;
import com.openai.errors.SseException;
import com.openai.errors.UnauthorizedException;
import com.openai.helpers.ChatCompletionAccumulator;
import com.openai.helpers.ResponseAccumulator;
import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionMessage;
import com.openai.models.chat.completions.ChatCompletionMessageFunctionToolCall;
import com.openai.models.chat.completions.ChatCompletionToolMessageParam;
import com.openai.models.completions.Completion;
import com.openai.models.completions.CompletionCreateParams;
import com.openai.models.responses.EasyInputMessage;
import com.openai.models.responses.Response;
import com.openai.models.responses.ResponseCreateParams;
import com.openai.models.responses.ResponseFunctionToolCall;
import com.openai.models.responses.ResponseInputItem;
import com.openai.models.responses.ResponseStatus;
import com.openai.models.responses.ResponseStreamEvent;
import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.server.http.RawClient;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** OpenAI's client for Java. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OpenAiClientTest {
    private static OpenAIClient client(TestServer server, String key) {
        return OpenAIOkHttpClient.builder()
                .baseUrl("http://127.0.0.1:" + server.address().getPort() + "/v1")
                .apiKey(key)
                .maxRetries(0)
                .build();
    }

    private static CompletionCreateParams.Builder params() {
        return CompletionCreateParams.builder()
                .model(TestServer.MODEL)
                .prompt("Once upon a time")
                .maxTokens(20)
                .temperature(0.0);
    }

    private static String expected(TestServer server) {
        return server.engine
                .generate(GenerationRequest.of("Once upon a time").withMaxNewTokens(20))
                .text()
                .orElseThrow();
    }

    @Test
    void client_reads_a_completion() {
        try (TestServer server = TestServer.start()) {
            OpenAIClient client = client(server, "any");
            Completion completion = client.completions().create(params().build());
            assertThat(completion.choices().getFirst().text()).isEqualTo(expected(server));
            assertThat(completion.choices().getFirst().finishReason()).hasToString("length");
            assertThat(completion.usage().orElseThrow().completionTokens()).isEqualTo(20);
            client.close();
        }
    }

    @Test
    void client_reads_a_stream() {
        try (TestServer server = TestServer.start()) {
            OpenAIClient client = client(server, "any");
            try (StreamResponse<Completion> stream = client.completions().createStreaming(params().build())) {
                String text = stream.stream()
                        .map(event -> event.choices().getFirst().text())
                        .collect(Collectors.joining());
                assertThat(text).isEqualTo(expected(server));
            }
            client.close();
        }
    }

    private static ChatCompletionCreateParams chatParams() {
        return ChatCompletionCreateParams.builder()
                .model(TestServer.MODEL)
                .addSystemMessage("Tell a story.")
                .addUserMessage("Once upon a time")
                .maxCompletionTokens(20)
                .temperature(0.0)
                .build();
    }

    private static String expectedAnswer(TestServer server) {
        return server.engine
                .generate(
                        GenerationRequest.of("Tell a story.\nOnce upon a time").withMaxNewTokens(20))
                .text()
                .orElseThrow();
    }

    @Test
    void client_reads_a_chat() {
        try (TestServer server = TestServer.startChat()) {
            OpenAIClient client = client(server, "any");
            ChatCompletion answer = client.chat().completions().create(chatParams());
            assertThat(answer.choices().getFirst().message().content()).contains(expectedAnswer(server));
            assertThat(answer.choices().getFirst().finishReason()).hasToString("length");
            client.close();
        }
    }

    @Test
    void client_reads_a_streamed_chat() {
        try (TestServer server = TestServer.startChat()) {
            OpenAIClient client = client(server, "any");
            try (StreamResponse<ChatCompletionChunk> stream =
                    client.chat().completions().createStreaming(chatParams())) {
                String text = stream.stream()
                        .map(event ->
                                event.choices().getFirst().delta().content().orElse(""))
                        .collect(Collectors.joining());
                assertThat(text).isEqualTo(expectedAnswer(server));
            }
            client.close();
        }
    }

    /** A tool, which the client sends with its schema as {@code strict}. */
    @JsonClassDescription("The weather of a place")
    static final class GetWeather {
        public String place = "";
    }

    private static final String CALL =
            "<tool_call>\n{\"name\": \"GetWeather\", \"arguments\": {\"place\": \"Bern\"}}\n</tool_call>";

    private static ChatCompletionCreateParams.Builder toolParams() {
        return ChatCompletionCreateParams.builder()
                .model(TestServer.MODEL)
                .addTool(GetWeather.class)
                .addUserMessage("What is the weather in Bern?");
    }

    private static ChatCompletionMessageFunctionToolCall call(ChatCompletionMessage message) {
        return message.toolCalls().orElseThrow().getFirst().asFunction();
    }

    @Test
    void client_calls_a_tool_and_sends_its_result() {
        try (TestServer server = ToolCallsTest.startShort("Let me look.\n" + CALL, "18 degrees.")) {
            OpenAIClient client = client(server, "any");
            ChatCompletionCreateParams.Builder params = toolParams();
            ChatCompletion.Choice choice =
                    client.chat().completions().create(params.build()).choices().getFirst();
            assertThat(choice.finishReason()).hasToString("tool_calls");
            assertThat(choice.message().content()).contains("Let me look.");
            ChatCompletionMessageFunctionToolCall call = call(choice.message());
            assertThat(call.function().arguments(GetWeather.class).place).isEqualTo("Bern");
            params.addMessage(choice.message())
                    .addMessage(ChatCompletionToolMessageParam.builder()
                            .toolCallId(call.id())
                            .content("18")
                            .build());
            assertThat(client.chat()
                            .completions()
                            .create(params.build())
                            .choices()
                            .getFirst()
                            .message()
                            .content())
                    .contains("18 degrees.");
            client.close();
        }
    }

    @Test
    void client_reads_a_streamed_tool_call() {
        try (TestServer server = ToolCallsTest.startShort(CALL + "\n" + CALL)) {
            OpenAIClient client = client(server, "any");
            ChatCompletionAccumulator all = ChatCompletionAccumulator.create();
            try (StreamResponse<ChatCompletionChunk> stream =
                    client.chat().completions().createStreaming(toolParams().build())) {
                stream.stream().forEach(all::accumulate);
            }
            ChatCompletion.Choice choice = all.chatCompletion().choices().getFirst();
            assertThat(choice.finishReason()).hasToString("tool_calls");
            assertThat(choice.message().toolCalls().orElseThrow()).hasSize(2);
            assertThat(call(choice.message()).function().arguments(GetWeather.class).place)
                    .isEqualTo("Bern");
            client.close();
        }
    }

    private static ResponseCreateParams.Builder responseParams() {
        return ResponseCreateParams.builder().model(TestServer.MODEL).addTool(GetWeather.class);
    }

    @Test
    void client_calls_a_tool_by_responses_and_sends_its_result() {
        try (TestServer server = ToolCallsTest.startShort("Let me look.\n" + CALL, "18 degrees.")) {
            OpenAIClient client = client(server, "any");
            List<ResponseInputItem> input =
                    new ArrayList<>(List.of(ResponseInputItem.ofEasyInputMessage(EasyInputMessage.builder()
                            .role(EasyInputMessage.Role.USER)
                            .content("The weather?")
                            .build())));
            Response response = client.responses()
                    .create(responseParams().inputOfResponse(input).build())
                    .validate();
            ResponseFunctionToolCall call = response.output().get(1).asFunctionCall();
            assertThat(call.arguments(GetWeather.class).place).isEqualTo("Bern");
            input.add(ResponseInputItem.ofResponseOutputMessage(
                    response.output().getFirst().asMessage()));
            input.add(ResponseInputItem.ofFunctionCall(call));
            input.add(ResponseInputItem.ofFunctionCallOutput(ResponseInputItem.FunctionCallOutput.builder()
                    .callId(call.callId())
                    .output("18")
                    .build()));
            Response answer = client.responses()
                    .create(responseParams().inputOfResponse(input).build())
                    .validate();
            assertThat(answer.output()
                            .getFirst()
                            .asMessage()
                            .content()
                            .getFirst()
                            .asOutputText()
                            .text())
                    .isEqualTo("18 degrees.");
            client.close();
        }
    }

    @Test
    void client_reads_a_streamed_response() {
        try (TestServer server = ToolCallsTest.startShort("Let me look.\n" + CALL)) {
            OpenAIClient client = client(server, "any");
            ResponseAccumulator all = ResponseAccumulator.create();
            try (StreamResponse<ResponseStreamEvent> stream = client.responses()
                    .createStreaming(responseParams().input("The weather?").build())) {
                stream.stream().forEach(event -> all.accumulate(event.validate()));
            }
            assertThat(all.response().status()).hasValue(ResponseStatus.COMPLETED);
            assertThat(all.response().output().get(1).asFunctionCall().arguments(GetWeather.class).place)
                    .isEqualTo("Bern");
            client.close();
        }
    }

    @Test
    void client_lists_the_model() {
        try (TestServer server = TestServer.start()) {
            OpenAIClient client = client(server, "any");
            assertThat(client.models().list().data())
                    .singleElement()
                    .satisfies(model -> assertThat(model.id()).isEqualTo(TestServer.MODEL));
            client.close();
        }
    }

    @Test
    void each_error_is_the_exception_for_it() throws Exception {
        Gate gate = new Gate(0);
        ServerOptions options = TestServer.options().withApiKey(ApiKey.of("secret"));
        try (TestServer server =
                        new TestServer(TestServer.engineOptions().withMaxInflightRequests(1), gate.options(), options);
                RawClient other = server.client()) {
            OpenAIClient client = client(server, "secret");
            OpenAIClient stranger = client(server, "wrong");
            assertThatThrownBy(
                            () -> client.completions().create(params().topP(2.0).build()))
                    .isInstanceOf(BadRequestException.class)
                    .hasMessageContaining("top_p");
            assertThatThrownBy(() -> client.completions()
                            .create(params().model("another").build()))
                    .isInstanceOf(NotFoundException.class);
            assertThatThrownBy(() -> stranger.completions().create(params().build()))
                    .isInstanceOf(UnauthorizedException.class);
            other.send(RawClient.post("/v1/completions", "{\"prompt\":\"a\"}", "Authorization: Bearer secret\r\n"));
            gate.awaitReached();
            assertThatThrownBy(() -> client.completions().create(params().build()))
                    .isInstanceOf(RateLimitException.class);
            gate.open();
            assertThat(other.answer().status()).isEqualTo(200);
            client.close();
            stranger.close();
        }
    }

    @Test
    void failed_stream_throws_in_the_client() {
        SimOptions sim = SimOptions.defaults().withOnStep(step -> {
            if (step == 3) {
                throw new DeviceFailure("the device hiccuped", true);
            }
        });
        try (TestServer server = TestServer.start(sim)) {
            OpenAIClient client = client(server, "any");
            try (StreamResponse<Completion> stream = client.completions().createStreaming(params().build())) {
                assertThatThrownBy(() -> stream.stream().forEach(event -> {}))
                        .isInstanceOf(SseException.class)
                        .hasMessageContaining("hiccuped");
            }
            client.close();
        }
    }

    @Test
    void failed_request_throws_in_the_client() {
        SimOptions sim = SimOptions.defaults().withOnStep(step -> {
            if (step == 3) {
                throw new DeviceFailure("the device hiccuped", true);
            }
        });
        try (TestServer server = TestServer.start(sim)) {
            OpenAIClient client = client(server, "any");
            assertThatThrownBy(() -> client.completions().create(params().build()))
                    .isInstanceOf(InternalServerException.class)
                    .hasMessageContaining("hiccuped");
            client.close();
        }
    }
}
