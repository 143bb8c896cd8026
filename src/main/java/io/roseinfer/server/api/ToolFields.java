package io.roseinfer.server.api;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.StrictJson;
import io.roseinfer.grammar.Grammar;
import io.roseinfer.tokenizer.Tokenizer;
import io.roseinfer.tokenizer.chat.ChatTemplate;
import io.roseinfer.tokenizer.chat.reply.CallGrammar;
import io.roseinfer.tokenizer.chat.reply.ReplyFormat;
import io.roseinfer.tokenizer.chat.reply.ToolCallFormat;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The tools of a chat, from {@code tools}, {@code tool_choice} and {@code parallel_tool_calls}.
 *
 * @param tools for the template, as the client sent them
 * @param choice whether the model may or must call them
 * @param named the function that it must call
 * @param parallel whether a reply may have several calls
 */
record ToolFields(Optional<ArrayNode> tools, Choice choice, Optional<String> named, boolean parallel) {
    static final String TOOLS = "tools";
    private static final String CHOICE = "tool_choice";
    private static final String PARALLEL = "parallel_tool_calls";
    private static final String STRICT = "strict";

    private static final String NO_PARAMETERS =
            "{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}";

    /** The names that OpenAI allows. */
    private static final Pattern NAME = Pattern.compile("[a-zA-Z0-9_-]{1,64}");

    private static final String ANY_OBJECT = "{\"type\":\"object\"}";

    /** Maximum white space between two tokens of enforced arguments: as models write calls, and without a waste of tokens. */
    private static final int MAX_SPACE = 1;

    /** A call without tools. */
    static final ToolFields ABSENT = new ToolFields(Optional.empty(), Choice.NONE, Optional.empty(), true);

    /** Whether the model calls tools. */
    enum Choice {
        NONE,
        AUTO,
        REQUIRED
    }

    /** Reads the fields, and checks that the model supports them. */
    static ToolFields read(Fields fields, ServedModel model) {
        Optional<ArrayNode> tools = fields.find(TOOLS).map(ToolFields::list).filter(list -> !list.isEmpty());
        boolean parallel = fields.flag(PARALLEL, true);
        Optional<JsonNode> asked = fields.find(CHOICE);
        if (tools.isEmpty()) {
            if (asked.filter(node -> !node.isString() || !node.stringValue().equals("none"))
                    .isPresent()) {
                throw ApiError.badField(CHOICE, "tool_choice must be none if there are no tools");
            }
            return new ToolFields(tools, Choice.NONE, Optional.empty(), parallel);
        }
        Choice choice = asked.map(ToolFields::choice).orElse(Choice.AUTO);
        Optional<String> named = asked.filter(JsonNode::isObject).map(node -> named(node, tools.get()));
        if (!model.chat().map(ChatTemplate::usesTools).orElse(false)) {
            throw ApiError.badField(TOOLS, "the model's chat template does not use tools; remove tools");
        }
        if (choice != Choice.NONE && model.replies().calls() == ToolCallFormat.NONE) {
            throw ApiError.badField(
                    TOOLS,
                    "the format of the model's tool calls is not known, so they cannot be parsed; set tool_choice to none,"
                            + " remove tools, or start the server with a tool_call_parser");
        }
        if (!CallGrammar.exists(model.replies().calls()) && (choice == Choice.REQUIRED || isStrict(tools.get()))) {
            throw ApiError.badField(
                    choice == Choice.REQUIRED ? CHOICE : TOOLS,
                    "calls in the model's format cannot be enforced; set tool_choice to auto, and no tool to strict");
        }
        return new ToolFields(tools, choice, named, parallel);
    }

    /**
     * Returns the grammar of a reply. A required call, and a call of a strict tool, has arguments that are valid
     * against the tool's schema. A call that is required but not strict has any object if its schema is not supported.
     *
     * @param other the grammar that the content must have
     * @param ignored takes the place of each keyword of an enforced schema that has no effect
     */
    Optional<Grammar> grammar(
            ReplyFormat format, Tokenizer tokenizer, Optional<Grammar> other, Consumer<String> ignored) {
        if (choice == Choice.NONE && other.isEmpty()) {
            return other;
        }
        CallGrammar grammars = new CallGrammar(format, tokenizer);
        ArrayNode all = tools.orElseGet(StrictJson.mapper()::createArrayNode);
        Optional<Grammar> grammar =
                switch (choice) {
                    case NONE -> other;
                    case REQUIRED -> Optional.of(grammars.calls(functions(all, ignored)));
                    case AUTO ->
                        other.isPresent() && CallGrammar.exists(format.calls())
                                ? Optional.of(grammars.callsOr(other.get(), functions(all, ignored)))
                                : isStrict(all) ? Optional.of(grammars.optionalCalls(functions(all, ignored))) : other;
                };
        return grammar.map(grammars::afterReasoning);
    }

    private List<CallGrammar.Function> functions(ArrayNode all, Consumer<String> ignored) {
        List<CallGrammar.Function> functions = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            JsonNode function = all.get(i).get("function");
            String name = function.get("name").stringValue();
            if (named.isEmpty() || named.get().equals(name)) {
                functions.add(new CallGrammar.Function(name, arguments(function, place(i) + ".parameters", ignored)));
            }
        }
        return functions;
    }

    private static String place(int tool) {
        return TOOLS + "[" + tool + "].function";
    }

    private Grammar arguments(JsonNode function, String place, Consumer<String> ignored) {
        JsonNode schema = function.path("parameters");
        String text = schema.isObject()
                ? ((ObjectNode) schema.deepCopy()).put("type", "object").toString()
                : NO_PARAMETERS;
        boolean isStrict = isTrue(function.path(STRICT));
        if (!isStrict && choice != Choice.REQUIRED) {
            return Grammar.jsonSchema(ANY_OBJECT, MAX_SPACE);
        }
        try {
            Grammar grammar = Grammar.jsonSchema(text, MAX_SPACE);
            Grammar.unknownKeywords(text).forEach(keyword -> ignored.accept(place + keyword));
            return grammar;
        } catch (BadInput unsupported) {
            if (isStrict) {
                throw ApiError.badField(place, place + ": " + unsupported.jsonMessage());
            }
            return Grammar.jsonSchema(ANY_OBJECT, MAX_SPACE);
        }
    }

    private static boolean isStrict(ArrayNode all) {
        return all.valueStream().anyMatch(tool -> isTrue(tool.get("function").path(STRICT)));
    }

    private static boolean isTrue(JsonNode node) {
        return node.isBoolean() && node.booleanValue();
    }

    /** Returns whether the model may call tools. */
    boolean mayCall() {
        return choice != Choice.NONE;
    }

    private static ArrayNode list(JsonNode node) {
        if (!(node instanceof ArrayNode list)) {
            throw Fields.wrong(TOOLS, node, "a list of tools");
        }
        Set<String> names = new HashSet<>();
        for (int i = 0; i < list.size(); i++) {
            JsonNode tool = list.get(i);
            JsonNode type = tool.path("type");
            if (!type.isString() || !type.stringValue().equals("function")) {
                throw wrong(TOOLS + "[" + i + "].type", " must be function, the only supported type of tools");
            }
            String where = place(i);
            JsonNode function = tool.path("function");
            JsonNode name = function.path("name");
            if (!name.isString() || !NAME.matcher(name.stringValue()).matches()) {
                throw wrong(
                        where + ".name",
                        " is " + Quoted.name(name.asString(""))
                                + "; it must have 1 to 64 of the characters a-z, A-Z, 0-9, _ and -");
            }
            if (!names.add(name.stringValue())) {
                throw wrong(where + ".name", " is " + Quoted.name(name.stringValue()) + ", which an earlier tool has");
            }
            JsonNode strict = function.path(STRICT);
            if (!strict.isBoolean() && !strict.isMissingNode() && !strict.isNull()) {
                throw wrong(where + ".strict", " must be true or false");
            }
            JsonNode parameters = function.path("parameters");
            if (!parameters.isObject() && !parameters.isMissingNode() && !parameters.isNull()) {
                throw wrong(where + ".parameters", " must be a JSON schema, an object");
            }
            JsonNode arguments = parameters.path("type");
            if (!arguments.isMissingNode() && !arguments.asString("").equals("object")) {
                throw wrong(where + ".parameters.type", " must be object");
            }
        }
        return list;
    }

    private static ApiError wrong(String place, String problem) {
        return ApiError.badField(place, place + problem);
    }

    private static Choice choice(JsonNode node) {
        if (node.isObject()) {
            return Choice.REQUIRED;
        }
        return switch (node.isString() ? node.stringValue() : "") {
            case "none" -> Choice.NONE;
            case "auto" -> Choice.AUTO;
            case "required" -> Choice.REQUIRED;
            default -> throw Fields.wrong(CHOICE, node, "none, auto, required, or an object that names a function");
        };
    }

    private static String named(JsonNode choice, ArrayNode tools) {
        JsonNode name = choice.path("function").path("name");
        boolean isFunction = choice.path("type").asString("").equals("function");
        if (!isFunction || !name.isString()) {
            throw ApiError.badField(
                    CHOICE, "tool_choice must have type function and function.name; other types are not supported");
        }
        String wanted = name.stringValue();
        boolean exists = tools.valueStream()
                .anyMatch(tool -> tool.get("function").get("name").stringValue().equals(wanted));
        if (!exists) {
            throw ApiError.badField(CHOICE, "tool_choice names " + Quoted.name(wanted) + ", which is not in tools");
        }
        return wanted;
    }
}
