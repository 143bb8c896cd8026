package io.roseinfer.server.api;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.engine.ChatFormat;
import io.roseinfer.engine.Tool;
import io.roseinfer.engine.Tools;
import io.roseinfer.engine.Tools.Choice;
import io.roseinfer.tokenizer.chat.reply.ToolCallFormat;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;

/** Reads the tools of a chat from {@code tools}, {@code tool_choice} and {@code parallel_tool_calls}. */
final class ToolFields {
    static final String TOOLS = "tools";
    private static final String CHOICE = "tool_choice";
    private static final String PARALLEL = "parallel_tool_calls";

    private ToolFields() {}

    /** Reads the fields, and checks that the model supports them. */
    static Tools read(Fields fields, ChatFormat format) {
        List<Tool> list = fields.find(TOOLS).map(ToolFields::list).orElse(List.of());
        boolean parallel = fields.flag(PARALLEL, true);
        Optional<JsonNode> asked = fields.find(CHOICE);
        if (list.isEmpty()) {
            if (asked.filter(node -> !node.isString() || !node.stringValue().equals("none"))
                    .isPresent()) {
                throw ApiError.badField(CHOICE, "tool_choice must be none if there are no tools");
            }
            return Tools.NONE.withParallel(parallel);
        }
        return Fields.located(TOOLS, () -> {
            Optional<String> named = asked.filter(JsonNode::isObject).map(ToolFields::named);
            Tools tools = new Tools(list, asked.map(ToolFields::choice).orElse(Choice.AUTO), named, parallel);
            if (format.template().usesTools()
                    && tools.mayCall()
                    && format.replies().calls() == ToolCallFormat.NONE) {
                throw ApiError.badField(
                        TOOLS,
                        "the format of the model's tool calls is not known, so they cannot be parsed; set tool_choice to"
                                + " none, remove tools, or start the server with a tool_call_parser");
            }
            format.requireSupported(tools);
            return tools;
        });
    }

    private static List<Tool> list(JsonNode node) {
        if (!(node instanceof ArrayNode definitions)) {
            throw Fields.wrong(TOOLS, node, "a list of tools");
        }
        List<Tool> list = new ArrayList<>();
        for (JsonNode definition : definitions) {
            try {
                list.add(Tool.of(definition));
            } catch (BadInput wrong) {
                String place = TOOLS + "[" + list.size() + "].";
                throw ApiError.badField(place + wrong.setting(), place + wrong.jsonMessage());
            }
        }
        return list;
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

    private static String named(JsonNode choice) {
        JsonNode name = choice.path("function").path("name");
        boolean isFunction = choice.path("type").asString("").equals("function");
        if (!isFunction || !name.isString()) {
            throw ApiError.badField(
                    CHOICE, "tool_choice must have type function and a function's name; other types are not supported");
        }
        return name.stringValue();
    }
}
