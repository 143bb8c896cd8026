package io.roseinfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.engine.ChatMessage;
import io.roseinfer.engine.ChatPrompt;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.ReplyReader;
import io.roseinfer.engine.TokenStream;
import io.roseinfer.engine.Tool;
import io.roseinfer.engine.ToolCall;
import io.roseinfer.engine.Tools;
import io.roseinfer.engine.Tools.Choice;
import io.roseinfer.grammar.Grammar;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.tokenizer.chat.reply.Reply;
import io.roseinfer.tokenizer.chat.reply.ReplyDelta;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tools in the library's API, with the built-in chat model. */
@TestInstance(Lifecycle.PER_CLASS)
class ChatPromptTest {
    private static final String PLACE =
            "{\"type\": \"object\", \"properties\": {\"place\": {\"type\": \"string\"}}, \"required\": [\"place\"]}";
    private static final Tool WEATHER = Tool.of("get_weather", "The weather of a place", PLACE);
    private static final Tool TIME = Tool.of("get_time", "The time at a place", PLACE);
    private static final Tools TOOLS = Tools.of(WEATHER);

    private final LoadedModel model = Roseinfer.load(
            Settings.of("builtin:chat").withDevice(Settings.Device.CPU).withThreads(2));
    private final Engine engine = model.serve(EngineOptions.defaults());

    @AfterAll
    void close() {
        model.close();
    }

    private static GenerationRequest greedy(ChatPrompt prompt) {
        return prompt.request().withSampling(SamplingParams.greedy()).withMaxNewTokens(80);
    }

    private ChatMessage reply(List<ChatMessage> messages, Tools tools) {
        ChatPrompt prompt = engine.chatPrompt(messages, tools);
        return prompt.reply(engine.generate(greedy(prompt)));
    }

    private static List<ChatMessage> question(String text) {
        return List.of(ChatMessage.user(text));
    }

    @Test
    void call_and_its_result_lead_to_an_answer() {
        List<ChatMessage> messages = new ArrayList<>(question("What is the weather in Bern?"));
        ChatMessage call = reply(messages, TOOLS);
        assertThat(call.content()).isEmpty();
        assertThat(call.toolCalls()).singleElement().satisfies(one -> {
            assertThat(one.name()).isEqualTo("get_weather");
            assertThat(one.arguments()).isEqualTo("{\"place\": \"Bern\"}");
        });
        messages.add(call);
        messages.add(ChatMessage.tool(call.toolCalls().getFirst(), "18 degrees"));
        assertThat(reply(messages, TOOLS)).isEqualTo(ChatMessage.assistant("It is 18 degrees in Bern."));
    }

    @Test
    void calls_of_different_prompts_have_different_ids() {
        List<ChatMessage> messages = new ArrayList<>(question("What is the weather in Bern?"));
        ChatMessage first = reply(messages, TOOLS);
        ToolCall call = first.toolCalls().getFirst();
        messages.addAll(List.of(first, ChatMessage.tool(call, "18 degrees")));
        messages.addAll(question("What is the weather in Bern?"));
        Tools required = TOOLS.withChoice(Choice.REQUIRED);
        assertThat(reply(messages, required).toolCalls().getFirst().id()).isNotEqualTo(call.id());
    }

    @Test
    void streamed_parts_make_the_same_reply() {
        ChatPrompt prompt = engine.chatPrompt(question("What is the weather in Bern?"), TOOLS);
        ReplyReader reader = prompt.reader();
        List<ReplyDelta> parts = new ArrayList<>();
        try (TokenStream stream = engine.submit(greedy(prompt))) {
            while (stream.hasNext()) {
                reader.accept(stream.next());
                parts.addAll(reader.take());
            }
            reader.end(stream.completion());
            parts.addAll(reader.take());
            assertThat(parts).hasSizeGreaterThan(2);
            ToolCall whole = prompt.reply(stream.completion()).toolCalls().getFirst();
            assertThat(Reply.of(parts))
                    .isEqualTo(new Reply("", "", List.of(new Reply.Call(whole.name(), whole.arguments()))));
        }
    }

    @Test
    void required_tool_is_called_whatever_the_question() {
        ChatMessage reply = reply(question("Hello!"), Tools.of(WEATHER, TIME).withRequired("get_time"));
        assertThat(reply.toolCalls()).isNotEmpty().allSatisfy(call -> {
            assertThat(call.name()).isEqualTo("get_time");
            assertThat(call.arguments()).contains("\"place\"");
        });
    }

    @Test
    void grammar_that_enforces_a_call_cannot_be_replaced() {
        GenerationRequest calling = engine.chatPrompt(question("Hello!"), TOOLS.withChoice(Choice.REQUIRED))
                .request();
        assertThatThrownBy(() -> calling.withGrammar(Grammar.jsonObject()))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("tool calls");
    }

    @Test
    void tools_without_a_choice_are_not_called() {
        Tools none = TOOLS.withChoice(Choice.NONE);
        assertThat(reply(question("What is the weather in Bern?"), none).toolCalls())
                .isEmpty();
    }

    @Test
    void request_without_tools_is_that_of_the_messages_alone() {
        List<ChatMessage> messages = question("What is the capital of France?");
        assertThat(engine.chatPrompt(messages, Tools.NONE).request()).isEqualTo(engine.chatRequest(messages));
    }

    @Test
    void strict_tool_whose_schema_is_not_supported_is_rejected() {
        Tool strict = Tool.of(
                        "f", "", "{\"type\": \"object\", \"not\": {\"required\": [\"a\"]}, \"$ref\": \"http://a\"}")
                .withStrict(true);
        assertThatThrownBy(() -> engine.chatPrompt(question("Hi"), Tools.of(strict)))
                .isInstanceOf(BadInput.class)
                .hasMessageStartingWith("tools[0].function.parameters: ");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '§',
            value = {
                "get weather § {} § name is \"get weather\"; it must have 1 to 64 of the characters",
                "f § [] § parameters is []; it must be a JSON schema, an object",
                "f § {\"type\": \"array\"} § parameters.type is \"array\"; it must be \"object\"",
                "f § {\"type\": [\"object\"]} § parameters.type is [\"object\"]; it must be \"object\"",
                "f § {\"type\": § parameters is not JSON (",
                "f § null § parameters is null; it must be a JSON schema, an object",
                "f § '' § parameters is empty; it must be a JSON schema, an object",
                "f § ' ' § parameters is empty; it must be a JSON schema, an object"
            })
    void invalid_tool_is_rejected(String name, String parameters, String message) {
        assertThatThrownBy(() -> Tool.of(name, "", parameters))
                .isInstanceOf(BadInput.class)
                .hasMessageStartingWith(message);
    }

    @Test
    void two_tools_of_one_name_are_rejected() {
        assertThatThrownBy(() -> Tools.of(WEATHER, WEATHER))
                .isInstanceOf(BadInput.class)
                .hasMessage("tools[1].function.name is \"get_weather\", which an earlier tool has");
    }

    @Test
    void required_tool_that_does_not_exist_is_rejected() {
        assertThatThrownBy(() -> TOOLS.withRequired("get_time"))
                .isInstanceOf(BadInput.class)
                .hasMessage("toolChoice names \"get_time\", which is not in tools");
    }

    @Test
    void result_of_a_call_that_no_earlier_message_has_is_rejected() {
        ToolCall call = new ToolCall("call_1", "get_weather", "{}");
        ChatMessage result = ChatMessage.tool(call, "18 degrees");
        ChatMessage calling = new ChatMessage("assistant", "", "", List.of(call), "");
        assertThat(engine.chatPrompt(List.of(question("Hi").getFirst(), calling, result), TOOLS)
                        .request())
                .isNotNull();
        assertThatThrownBy(() -> engine.chatPrompt(List.of(question("Hi").getFirst(), result, calling), TOOLS))
                .isInstanceOf(BadInput.class)
                .hasMessage(
                        "messages[1].toolCallId is \"call_1\"; it must be the id of a tool call in an earlier message");
    }

    @Test
    void model_without_tools_rejects_them() {
        try (LoadedModel tiny = Roseinfer.load(Settings.of("builtin:tiny").withDevice(Settings.Device.SIM))) {
            assertThatThrownBy(() -> tiny.chatPrompt(question("Hi"), TOOLS))
                    .isInstanceOf(BadInput.class)
                    .hasMessage("tools are not used by the model's chat template; remove them");
        }
    }
}
