package io.roseinfer.server.api;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.StrictJson;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Converts the input of {@code /v1/responses} to the messages of a chat. Adjacent items of one reply, which are its
 * reasoning, its text and its calls, become one message.
 */
final class ResponsesInput {
    static final String INPUT = "input";
    private static final String INSTRUCTIONS = "instructions";
    private static final String CONTENT = "content";
    private static final String REASONING = "reasoning_content";
    private static final String CALLS = "tool_calls";
    private static final Set<String> TEXTS = Set.of("input_text", "output_text");

    private final ArrayNode messages = StrictJson.mapper().createArrayNode();
    /** The field that each message comes from. */
    private final List<String> places = new ArrayList<>();

    private final Consumer<String> ignored;

    /**
     * Reads the input.
     *
     * @param ignored takes the name of each item without effect
     */
    ResponsesInput(Fields fields, Consumer<String> ignored) {
        this.ignored = ignored;
        fields.string(INSTRUCTIONS)
                .ifPresent(text -> add("system", INSTRUCTIONS).put(CONTENT, text));
        JsonNode input = fields.find(INPUT)
                .orElseThrow(() -> ApiError.badField(INPUT, "input is missing; it must be text or a list of items"));
        if (input.isString()) {
            add("user", INPUT).put(CONTENT, input.stringValue());
        } else if (!input.isArray() || input.isEmpty()) {
            throw ApiError.badField(INPUT, "input must be text or a list of at least one item");
        } else {
            for (int i = 0; i < input.size(); i++) {
                String place = INPUT + "[" + i + "]";
                addItem(Fields.of(place, input.get(i)), place);
            }
        }
    }

    ArrayNode messages() {
        return messages;
    }

    /** Returns the field that a message comes from. */
    String place(int message) {
        return places.get(message);
    }

    private void addItem(Fields item, String place) {
        String type = item.string("type").orElse("message");
        switch (type) {
            case "message" -> addMessage(item, place);
            case "function_call" -> addCall(item, place);
            case "function_call_output" -> {
                ObjectNode result = add("tool", place).put("tool_call_id", required(item, "call_id", place));
                result.set(CONTENT, content(item, "output", place));
            }
            case "reasoning" -> addReasoning(item, place);
            case "item_reference" -> addReference(item, place);
            default ->
                throw ApiError.badField(
                        place + ".type",
                        place + ".type is " + Quoted.name(type) + "; it must be message, function_call,"
                                + " function_call_output or reasoning");
        }
    }

    private void addMessage(Fields item, String place) {
        String role = required(item, "role", place);
        JsonNode content = content(item, CONTENT, place);
        boolean continues = role.equals("assistant")
                && reply().filter(last -> !last.has(CONTENT) && !last.has(CALLS))
                        .isPresent();
        ObjectNode message = continues ? reply().orElseThrow() : add(role, place);
        message.set(CONTENT, content);
    }

    private void addCall(Fields item, String place) {
        ObjectNode message = reply().orElseGet(() -> add("assistant", place));
        ArrayNode calls = message.has(CALLS) ? (ArrayNode) message.get(CALLS) : message.putArray(CALLS);
        ChatJson.putCall(
                calls.addObject(),
                required(item, "call_id", place),
                required(item, "name", place),
                required(item, "arguments", place));
    }

    /** Adds reasoning as the chat's message has it; the text of a summary is used without the whole. */
    private void addReasoning(Fields item, String place) {
        String whole = texts(item, CONTENT);
        String text = whole.isEmpty() ? texts(item, "summary") : whole;
        if (text.isEmpty()) {
            ignored.accept(place);
        } else {
            add("assistant", place).put(REASONING, text);
        }
    }

    private static String texts(Fields item, String field) {
        List<String> texts = new ArrayList<>();
        item.find(field)
                .ifPresent(parts ->
                        parts.forEach(part -> texts.add(part.path("text").asString(""))));
        return String.join("\n", texts);
    }

    /** Ignores a reference to reasoning; throws for others, because nothing is stored. */
    private void addReference(Fields item, String place) {
        if (!required(item, "id", place).startsWith(ResponsesJson.REASONING_ID)) {
            throw ApiError.badField(
                    place,
                    place + " is a reference, but this server keeps no state; send the item itself, which clients do if"
                            + " their option store is false");
        }
        ignored.accept(place);
    }

    /** Returns the last message if it is the model's, so that the next item may be a part of it. */
    private Optional<ObjectNode> reply() {
        return Optional.ofNullable((ObjectNode) messages.get(messages.size() - 1))
                .filter(last -> last.get("role").stringValue().equals("assistant"));
    }

    private ObjectNode add(String role, String place) {
        places.add(place);
        return messages.addObject().put("role", role);
    }

    private static String required(Fields item, String field, String place) {
        return item.find(field)
                .filter(JsonNode::isString)
                .map(JsonNode::stringValue)
                .orElseThrow(() -> ApiError.badField(
                        place + "." + field, place + "." + field + " is missing; it must be a string"));
    }

    /** Returns text, or a chat's text parts. */
    private static JsonNode content(Fields item, String field, String place) {
        String where = place + "." + field;
        JsonNode content = item.find(field)
                .orElseThrow(
                        () -> ApiError.badField(where, where + " is missing; set it to a string or a list of parts"));
        if (content.isString()) {
            return content;
        }
        if (!content.isArray()) {
            throw Fields.wrong(where, content, "a string or a list of parts");
        }
        ArrayNode parts = StrictJson.mapper().createArrayNode();
        for (JsonNode part : content) {
            String type = part.path("type").asString("");
            if (!TEXTS.contains(type) || !part.path("text").isString()) {
                throw ApiError.badField(
                        where,
                        where + " has a part of type " + Quoted.name(type)
                                + "; only input_text and output_text with text are supported");
            }
            parts.addObject().put("type", "text").set("text", part.get("text"));
        }
        return parts;
    }
}
