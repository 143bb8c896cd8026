package io.roseinfer.grammar;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.StrictJson;
import java.nio.charset.StandardCharsets;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;

/** Parses the text of a JSON Schema. */
final class JsonSchema {
    private JsonSchema() {}

    /** Returns the schema of a text. */
    static JsonNode parse(String schema) {
        GrammarSize.require(
                schema.length() <= GrammarSize.TEXT_CHARS,
                "the length of a JSON schema",
                schema.length(),
                "at most " + GrammarSize.TEXT_CHARS);
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
}
