package io.roseinfer.server.api;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.StrictJson;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.server.http.HttpCall;
import io.roseinfer.tokenizer.Tokenizer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Reads the body of {@code /v1/responses}, which becomes the body of a chat; errors have the names of this body. */
public final class ResponsesReader extends ChatReader {
    private static final String TEXT_FORMAT = "text.format";
    private static final String MAX_OUTPUT_TOKENS = "max_output_tokens";
    private static final String TOOLS = ToolFields.TOOLS;
    private static final String CHOICE = "tool_choice";
    private static final String FUNCTION = "function";
    private static final String STREAM_OPTIONS = "stream_options";
    private static final String STORE = "store";

    /** Fields that refer to something stored. */
    private static final List<String> STORED = List.of("previous_response_id", "conversation", "prompt", "background");

    /** The fields of a chat that have another name, with that name. */
    private static final Map<String, String> RENAMED = Map.of(
            "messages",
            ResponsesInput.INPUT,
            MAX_TOKENS,
            MAX_OUTPUT_TOKENS,
            "max_completion_tokens",
            MAX_OUTPUT_TOKENS,
            "reasoning_effort",
            "reasoning.effort",
            GrammarReader.FORMAT,
            TEXT_FORMAT);

    /** Unsupported fields that a chat supports, and others. */
    private static final List<String> UNSUPPORTED = List.of(
            "n",
            "best_of",
            "logprobs",
            "top_logprobs",
            PROMPT_LOGPROBS,
            "return_token_ids",
            "return_tokens_as_token_ids",
            "context_management");

    private static final Pattern MESSAGE = Pattern.compile("messages\\[(\\d+)](.*)", Pattern.DOTALL);

    private final ServedModel model;

    /** Creates a reader for one model. */
    public ResponsesReader(
            ServedModel model, ModelSpec spec, Optional<Tokenizer> tokenizer, CallLimits limits, ChatPrompts prompts) {
        super(model, spec, tokenizer, limits, prompts);
        this.model = model;
    }

    @Override
    public CompletionJson json(String requestId, long createdSeconds, CompletionCall call) {
        return new ResponsesJson(requestId, createdSeconds, model.name(), tokenTexts(call.output()), call);
    }

    @Override
    List<String> unsupported() {
        return Stream.concat(super.unsupported().stream(), UNSUPPORTED.stream()).toList();
    }

    @Override
    String promptField() {
        return ResponsesInput.INPUT;
    }

    @Override
    public CompletionCall read(Fields fields, HttpCall http) {
        requireStateless(fields);
        List<String> ignored = new ArrayList<>();
        ResponsesInput input = new ResponsesInput(fields, ignored::add);
        Fields chat = Fields.of("the body", chat(fields, input, ignored));
        ignored.forEach(chat::ignore);
        CompletionCall call;
        try {
            call = super.read(chat, http);
        } catch (ApiError error) {
            throw error.renamed(name -> renamed(name, input));
        }
        return new CompletionCall(
                call.prompts(),
                call.request(),
                call.n(),
                call.output(),
                call.reply(),
                call.clamped(),
                call.grammarField().map(field -> renamed(field, input)),
                call.ignored().stream().map(name -> renamed(name, input)).toList(),
                Optional.of(settings(fields, call.request().sampling())));
    }

    private static void requireStateless(Fields fields) {
        for (String name : STORED) {
            fields.find(name).filter(node -> !isNeutral(name, node)).ifPresent(node -> {
                throw ApiError.badField(
                        name, name + " is not supported: this server keeps no state; send the earlier items in input");
            });
        }
        String truncation = fields.string("truncation").orElse("disabled");
        if (!truncation.equals("disabled")) {
            throw ApiError.badField(
                    "truncation", "truncation is " + Quoted.name(truncation) + "; it must be disabled or absent");
        }
        fields.strings("include").stream()
                .filter(asked -> asked.endsWith(".logprobs"))
                .findFirst()
                .ifPresent(asked -> {
                    throw ApiError.badField(
                            "include", "include has " + Quoted.name(asked) + ", which is not supported");
                });
        RENAMED.forEach((name, other) -> fields.find(name).ifPresent(node -> {
            throw ApiError.badField(name, name + " is a field of chats; use " + other);
        }));
    }

    /** Returns a name in a chat as the body has it. */
    private static String renamed(String name, ResponsesInput input) {
        Matcher message = MESSAGE.matcher(name);
        if (message.matches()) {
            return input.place(Integer.parseInt(message.group(1))) + message.group(2);
        }
        String field = name.replaceFirst("^(tools\\[\\d+])\\.function\\.", "$1.")
                .replaceFirst("^response_format(\\.json_schema)?", TEXT_FORMAT);
        return RENAMED.getOrDefault(field, field);
    }

    /**
     * Returns the body of the chat. Fields with the same meaning, and unknown ones, are unchanged.
     *
     * @param ignored receives the names of parts without effect
     */
    private static ObjectNode chat(Fields fields, ResponsesInput input, List<String> ignored) {
        ObjectNode chat = fields.copy();
        chat.remove(List.of(
                "instructions",
                ResponsesInput.INPUT,
                MAX_OUTPUT_TOKENS,
                "text",
                "reasoning",
                "metadata",
                "truncation",
                "request_id"));
        chat.remove(STORED);
        chat.set("messages", input.messages());
        if (fields.find(MAX_OUTPUT_TOKENS).isPresent()) {
            chat.put("max_completion_tokens", fields.integer(MAX_OUTPUT_TOKENS, 1, 1, Integer.MAX_VALUE));
        }
        fields.object("reasoning").ifPresent(reasoning -> {
            reasoning.find("effort").ifPresent(effort -> chat.set("reasoning_effort", effort));
            reasoning.unread().forEach(name -> ignored.add("reasoning." + name));
        });
        fields.object("text").ifPresent(text -> {
            text.find("format").ifPresent(format -> chat.set(GrammarReader.FORMAT, nested(format, "json_schema")));
            text.unread().forEach(name -> ignored.add("text." + name));
        });
        fields.find(TOOLS).filter(JsonNode::isArray).ifPresent(tools -> {
            ArrayNode all = chat.putArray(TOOLS);
            tools.forEach(tool -> all.add(nested(tool, FUNCTION)));
        });
        fields.find(CHOICE).ifPresent(choice -> chat.set(CHOICE, nested(choice, FUNCTION)));
        if (!fields.flag(STORE)) {
            chat.remove(STORE);
        }
        if (chat.remove(STREAM_OPTIONS) != null) {
            ignored.add(STREAM_OPTIONS);
        }
        if (fields.flag("stream")) {
            chat.putObject(STREAM_OPTIONS).put("include_usage", true);
        }
        return chat;
    }

    /** Returns an object of this type with its other fields one level deeper, as in a chat; others are unchanged. */
    private static JsonNode nested(JsonNode flat, String type) {
        if (!flat.path("type").asString("").equals(type)) {
            return flat;
        }
        ObjectNode fields = ((ObjectNode) flat.deepCopy()).without("type");
        fields.removeIf(JsonNode::isNull);
        return StrictJson.mapper().createObjectNode().put("type", type).set(type, fields);
    }

    /** Returns the settings that the response repeats, as OpenAI's clients expect them. */
    private static ObjectNode settings(Fields fields, SamplingParams sampling) {
        ObjectNode settings = StrictJson.mapper().createObjectNode();
        for (String name : List.of("instructions", MAX_OUTPUT_TOKENS, "reasoning", "user")) {
            settings.set(name, fields.find(name).orElseGet(settings::nullNode));
        }
        settings.set("metadata", fields.find("metadata").orElseGet(settings::objectNode));
        settings.set(TOOLS, fields.find(TOOLS).orElseGet(settings::arrayNode));
        settings.set(CHOICE, fields.find(CHOICE).orElseGet(() -> settings.stringNode("auto")));
        settings.put("parallel_tool_calls", fields.flag("parallel_tool_calls", true));
        settings.set("text", fields.find("text").orElseGet(ResponsesReader::plainText));
        return settings.put("temperature", sampling.temperature())
                .put("top_p", sampling.topP())
                .put("truncation", "disabled");
    }

    private static ObjectNode plainText() {
        ObjectNode text = StrictJson.mapper().createObjectNode();
        text.putObject("format").put("type", "text");
        return text;
    }
}
