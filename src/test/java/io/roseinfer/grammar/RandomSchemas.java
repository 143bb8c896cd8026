package io.roseinfer.grammar;

import java.math.BigDecimal;
import java.util.List;
import java.util.Random;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Random schemas of all keywords, and values that are often valid. */
final class RandomSchemas {
    private static final List<String> NAMES = List.of("a", "b", "c", "ab", "x1");
    private static final List<String> TYPES =
            List.of("null", "boolean", "integer", "number", "string", "array", "object");
    private static final List<String> PATTERNS =
            List.of("a", "^a", "b$", "^a|b$", "^[^a]*$", "^(?!a)", "x?", "^(a|ab)(b|c)?$", "\\d");
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

    private final Random random;

    RandomSchemas(long seed) {
        random = new Random(seed);
    }

    private <T> T any(List<T> choices) {
        return choices.get(random.nextInt(choices.size()));
    }

    private BigDecimal number() {
        return new BigDecimal(random.nextInt(40) - 20).movePointLeft(random.nextInt(2));
    }

    JsonNode value(int depth) {
        return switch (random.nextInt(depth <= 0 ? 5 : 10)) {
            case 0 -> JSON.nullNode();
            case 1 -> JSON.booleanNode(random.nextBoolean());
            case 2 -> JSON.numberNode(random.nextInt(7) - 3);
            case 3 -> JSON.numberNode(number());
            case 4 -> JSON.stringNode(any(List.of("", "a", "b", "ab", "abc", "x1", "é", "\n")));
            case 5, 6 -> {
                ArrayNode array = JSON.arrayNode();
                for (int i = random.nextInt(4); i > 0; i--) {
                    array.add(value(depth - 2));
                }
                yield array;
            }
            default -> {
                ObjectNode object = JSON.objectNode();
                for (int i = random.nextInt(4); i > 0; i--) {
                    object.set(any(NAMES), value(depth - 2));
                }
                yield object;
            }
        };
    }

    JsonNode schema(int depth) {
        if (random.nextInt(12) == 0) {
            return JSON.booleanNode(random.nextInt(4) > 0);
        }
        ObjectNode schema = JSON.objectNode();
        for (int i = 1 + random.nextInt(3); i > 0; i--) {
            addKeyword(schema, depth);
        }
        return schema;
    }

    private ArrayNode schemas(int depth) {
        ArrayNode schemas = JSON.arrayNode();
        for (int i = 1 + random.nextInt(3); i > 0; i--) {
            schemas.add(schema(depth - 1));
        }
        return schemas;
    }

    private ObjectNode schemasBy(List<String> names, int depth) {
        ObjectNode schemas = JSON.objectNode();
        for (int i = 1 + random.nextInt(3); i > 0; i--) {
            schemas.set(any(names), schema(depth - 1));
        }
        return schemas;
    }

    private void addKeyword(ObjectNode schema, int depth) {
        switch (random.nextInt(depth <= 0 ? 9 : 24)) {
            case 0, 1 -> schema.put("type", any(TYPES));
            case 2 ->
                schema.set("enum", JSON.arrayNode().add(value(1)).add(value(2)).add(value(2)));
            case 3 -> schema.set("const", value(2));
            case 4 -> schema.put(any(List.of("minLength", "maxLength")), random.nextInt(3));
            case 5 -> schema.put("pattern", any(PATTERNS));
            case 6 -> schema.put(any(List.of("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")), number());
            case 7 -> schema.put("multipleOf", new BigDecimal(1 + random.nextInt(12)).movePointLeft(random.nextInt(2)));
            case 8 -> schema.set("required", JSON.arrayNode().add(any(NAMES)));
            case 9, 10 -> schema.set("properties", schemasBy(NAMES, depth));
            case 11 -> schema.set("additionalProperties", schema(depth - 1));
            case 12 -> schema.set("patternProperties", schemasBy(List.of("^a", "b", "[0-9]", "."), depth));
            case 13 -> schema.set("propertyNames", schema(0));
            case 14 -> schema.put(any(List.of("minProperties", "maxProperties")), random.nextInt(3));
            case 15 -> schema.set(any(List.of("items", "contains")), schema(depth - 1));
            case 16 -> schema.set("prefixItems", schemas(depth));
            case 17 -> schema.put(any(List.of("minItems", "maxItems")), random.nextInt(3));
            case 18 -> {
                schema.set("contains", schema(depth - 1));
                schema.put(any(List.of("minContains", "maxContains")), random.nextInt(3));
            }
            case 19 -> schema.set(any(List.of("anyOf", "allOf")), schemas(depth));
            case 20 -> schema.set("oneOf", schemas(depth));
            case 21 -> schema.set("not", schema(depth - 1));
            case 22 -> {
                schema.set("if", schema(depth - 1));
                schema.set("then", schema(depth - 1));
                schema.set("else", schema(depth - 1));
            }
            default -> {
                schema.set(
                        "dependentRequired",
                        JSON.objectNode().set(any(NAMES), JSON.arrayNode().add(any(NAMES))));
                schema.set("dependentSchemas", schemasBy(NAMES, depth));
            }
        }
    }
}
