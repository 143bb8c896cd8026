package io.roseinfer.grammar;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.StrictJson;
import java.nio.charset.StandardCharsets;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Reads JSON Schema into grammars of JSON texts. */
final class JsonSchema {
    /** Maximum white space between two tokens unless a caller sets another: enough for indented text. */
    static final int DEFAULT_SPACE = 32;

    private JsonSchema() {}

    /** Returns the grammar of a schema's texts; see {@link Grammar#jsonSchema(JsonNode)}. */
    static Grammar grammar(JsonNode schema, int maxSpace) {
        return SchemaGrammar.of(schema, maxSpace);
    }

    /** Returns the schema of a text. */
    static JsonNode parse(String schema) {
        try {
            return StrictJson.mapper()
                    .reader()
                    .with(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
                    .readTree(schema.getBytes(StandardCharsets.UTF_8));
        } catch (JacksonException e) {
            throw new BadInput("the JSON schema is not JSON: " + StrictJson.reason(e), e);
        }
    }

    /** Returns the schema of every object. */
    static JsonNode anyObject() {
        return JsonNodeFactory.instance.objectNode().put("type", "object");
    }
}
