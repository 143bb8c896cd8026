package io.roseinfer.engine;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.StrictJson;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** A function that a model may call, with a JSON schema of its arguments. Immutable. */
public final class Tool {
    private static final String FUNCTION = "function";
    private static final String NAME = "name";
    private static final String PARAMETERS = "parameters";
    private static final String STRICT = "strict";
    private static final String NOT_A_SCHEMA = "it must be a JSON schema, an object";

    /** The names that OpenAI allows. */
    private static final Pattern ALLOWED_NAME = Pattern.compile("[a-zA-Z0-9_-]{1,64}");

    /** The definition in OpenAI's format, never modified. */
    private final JsonNode definition;

    private Tool(JsonNode definition) {
        this.definition = definition;
    }

    /**
     * Returns a tool.
     *
     * @param name 1 to 64 of the characters a-z, A-Z, 0-9, _ and -
     * @param description for the model: what the function does and when to call it
     * @param parameters the JSON schema of its arguments, an object of type {@code object}
     * @throws BadInput if the name or the schema is invalid; {@link BadInput#setting} is the parameter's name
     */
    public static Tool of(String name, String description, String parameters) {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(description, "description");
        Objects.requireNonNull(parameters, "parameters");
        ObjectNode definition = StrictJson.mapper().createObjectNode().put("type", FUNCTION);
        ObjectNode function = definition.putObject(FUNCTION).put(NAME, name).put("description", description);
        try {
            JsonNode schema = StrictJson.parse(parameters.getBytes(StandardCharsets.UTF_8));
            if (!schema.isObject()) {
                String seen = schema.isMissingNode() ? "empty" : seen(schema);
                throw BadInput.of(PARAMETERS, seen, NOT_A_SCHEMA);
            }
            function.set(PARAMETERS, schema);
        } catch (JacksonException notJson) {
            throw BadInput.about(PARAMETERS, " is not JSON (" + StrictJson.reason(notJson) + ")");
        }
        return of(definition, "");
    }

    /**
     * Returns a tool defined in OpenAI's format, an object with {@code type} and {@code function}. Fields other than those
     * checked reach the chat template unchanged.
     *
     * @throws BadInput if it is invalid; {@link BadInput#setting} is the field's path
     */
    public static Tool of(JsonNode definition) {
        return of(Objects.requireNonNull(definition, "definition"), FUNCTION + ".");
    }

    /**
     * Checks a definition.
     *
     * @param path precedes the names of the function's fields in messages
     */
    private static Tool of(JsonNode definition, String path) {
        JsonNode type = definition.path("type");
        if (!type.isString() || !type.stringValue().equals(FUNCTION)) {
            throw BadInput.about("type", " must be function, the only supported type of tools");
        }
        JsonNode name = definition.path(FUNCTION).path(NAME);
        if (!name.isString() || !ALLOWED_NAME.matcher(name.stringValue()).matches()) {
            throw BadInput.of(
                    path + NAME,
                    Quoted.name(name.asString("")),
                    "it must have 1 to 64 of the characters a-z, A-Z, 0-9, _ and -");
        }
        JsonNode strict = definition.path(FUNCTION).path(STRICT);
        if (!strict.isBoolean() && isPresent(strict)) {
            throw BadInput.about(path + STRICT, " must be true or false");
        }
        JsonNode parameters = definition.path(FUNCTION).path(PARAMETERS);
        if (!parameters.isObject() && isPresent(parameters)) {
            throw BadInput.of(path + PARAMETERS, seen(parameters), NOT_A_SCHEMA);
        }
        JsonNode arguments = parameters.path("type");
        if (!arguments.isMissingNode() && !arguments.asString("").equals("object")) {
            throw BadInput.of(
                    path + PARAMETERS + ".type",
                    seen(arguments),
                    "it must be \"object\", because the arguments of a call are an object");
        }
        return new Tool(definition.deepCopy());
    }

    private static boolean isPresent(JsonNode node) {
        return !node.isMissingNode() && !node.isNull();
    }

    private static String seen(JsonNode node) {
        return node.isString() ? Quoted.name(node.stringValue()) : Quoted.value(node.toString());
    }

    /**
     * Returns the same tool whose calls always have arguments that are valid against its schema, or need not.
     * {@link Engine#chatPrompt} throws {@link BadInput} if a strict tool's schema is not supported.
     */
    public Tool withStrict(boolean value) {
        ObjectNode changed = (ObjectNode) definition.deepCopy();
        ((ObjectNode) changed.get(FUNCTION)).put(STRICT, value);
        return new Tool(changed);
    }

    public String name() {
        return definition.get(FUNCTION).get(NAME).stringValue();
    }

    /** Returns whether calls always have arguments that are valid against the schema. */
    public boolean isStrict() {
        return definition.get(FUNCTION).path(STRICT).asBoolean(false);
    }

    /** Returns a copy of the definition in OpenAI's format. */
    JsonNode definition() {
        return definition.deepCopy();
    }

    /** Returns the schema of the arguments; a missing node if there is none. */
    JsonNode parameters() {
        return definition.get(FUNCTION).path(PARAMETERS);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Tool that && definition.equals(that.definition);
    }

    @Override
    public int hashCode() {
        return definition.hashCode();
    }

    @Override
    public String toString() {
        return definition.toString();
    }
}
