package io.roseinfer.grammar;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.StrictJson;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;

/** Parses the text of a JSON Schema, and bounds its length. */
final class JsonSchema {
    private JsonSchema() {}

    /** Returns the schema of a text. */
    static JsonNode parse(String schema) {
        requireLength(schema.length());
        try {
            JsonNode root = StrictJson.mapper()
                    .reader()
                    .with(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
                    .readTree(schema.getBytes(StandardCharsets.UTF_8));
            if (root.isMissingNode()) {
                throw new BadInput("the JSON schema is empty; allow any value with {}");
            }
            return root;
        } catch (JacksonException e) {
            throw new BadInput("the JSON schema is not JSON: " + StrictJson.reason(e), e);
        }
    }

    /** Returns a parsed schema, whose text is not too long apart from white space and escapes. */
    static JsonNode bounded(JsonNode schema) {
        requireLength(length(schema));
        return schema;
    }

    private static void requireLength(long length) {
        GrammarSize.require(
                length <= GrammarSize.TEXT_CHARS,
                "the length of a JSON schema",
                length,
                "at most " + GrammarSize.TEXT_CHARS);
    }

    /** Returns the minimum length of a value's text, without printing it. */
    static long length(JsonNode value) {
        return switch (value.getNodeType()) {
            case STRING -> value.stringValue().length() + 2;
            case ARRAY -> {
                long length = Math.max(2, value.size() + 1);
                for (JsonNode element : value) {
                    length += length(element);
                }
                yield length;
            }
            case OBJECT -> {
                long length = Math.max(2, value.size() + 1);
                for (Map.Entry<String, JsonNode> property : value.properties()) {
                    length += property.getKey().length() + 3 + length(property.getValue());
                }
                yield length;
            }
            case BOOLEAN, NULL -> 4;
            default -> 1;
        };
    }
}
