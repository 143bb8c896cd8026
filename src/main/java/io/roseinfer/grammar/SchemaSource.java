package io.roseinfer.grammar;

import tools.jackson.databind.JsonNode;

/** A schema of a document; one instance for each, compared by identity. */
final class SchemaSource {
    private final JsonNode schema;
    private final String base;
    private final String pointer;

    /**
     * Creates a source.
     *
     * @param base the URI against which its references are resolved
     * @param pointer its JSON pointer, for messages
     */
    SchemaSource(JsonNode schema, String base, String pointer) {
        this.schema = schema;
        this.base = base;
        this.pointer = pointer;
    }

    JsonNode schema() {
        return schema;
    }

    String base() {
        return base;
    }

    String pointer() {
        return pointer;
    }

    boolean isTrue() {
        return schema.isBoolean() ? schema.booleanValue() : schema.isObject() && schema.isEmpty();
    }

    boolean isFalse() {
        return schema.isBoolean() && !schema.booleanValue();
    }

    @Override
    public String toString() {
        return pointer.isEmpty() ? "the root" : pointer;
    }
}
