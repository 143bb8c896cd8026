package io.roseinfer.grammar;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.RoseException.BadInput;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Random schemas and values: a value is in the grammar, in some order of its properties, if and only if it is valid. */
class RandomSchemasTest {
    private static final int SCHEMAS = 250;
    private static final int VALUES = 8;
    private static final int TEXTS = 800;

    private static final List<String> NAMES = List.of("a", "b", "c", "ab", "x1");
    private static final List<String> TYPES =
            List.of("null", "boolean", "integer", "number", "string", "array", "object");
    private static final List<String> PATTERNS =
            List.of("a", "^a", "b$", "^a|b$", "^[^a]*$", "^(?!a)", "x?", "^(a|ab)(b|c)?$", "\\d");
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

    private Random random = new Random();

    @Test
    void value_is_in_the_grammar_if_and_only_if_it_is_valid() {
        int decided = 0;
        for (long seed = 1; seed <= SCHEMAS; seed++) {
            random = new Random(seed);
            JsonNode schema = schema(3);
            Grammar grammar;
            try {
                grammar = grammar(schema);
            } catch (BadInput unsupported) {
                continue;
            }
            for (int i = 0; i < VALUES; i++) {
                JsonNode value = value(3);
                boolean accepted =
                        grammar != null && texts(value).stream().anyMatch(text -> GrammarOracle.accepts(grammar, text));
                assertThat(accepted)
                        .as("seed %d: %s is valid for %s", seed, value, schema)
                        .isEqualTo(SchemaValidator.isValid(schema, value));
                decided++;
            }
        }
        assertThat(decided).isGreaterThan(SCHEMAS * VALUES * 3 / 4);
    }

    /** Returns the grammar; null if the schema has no value. */
    private static @Nullable Grammar grammar(JsonNode schema) {
        try {
            return Grammar.jsonSchema(schema, 0);
        } catch (BadInput e) {
            if (e.getMessage().equals("the schema is valid for no value")) {
                return null;
            }
            throw e;
        }
    }

    private <T> T any(List<T> choices) {
        return choices.get(random.nextInt(choices.size()));
    }

    private BigDecimal number() {
        return new BigDecimal(random.nextInt(40) - 20).movePointLeft(random.nextInt(2));
    }

    private JsonNode value(int depth) {
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

    private JsonNode schema(int depth) {
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

    /** Returns the texts of a value, with the properties of each object in every order, up to a number. */
    private static List<String> texts(JsonNode value) {
        if (value.isString()) {
            return List.of(JsonText.quoted(value.stringValue()));
        }
        if (value.isNumber()) {
            BigDecimal number = value.decimalValue().stripTrailingZeros();
            return List.of(number.signum() == 0 ? "0" : number.toPlainString());
        }
        if (value.isArray()) {
            List<String> texts = List.of("");
            for (JsonNode element : value) {
                texts = joined(texts, "", texts(element));
            }
            return texts.stream().map(text -> "[" + text + "]").toList();
        }
        if (value.isObject()) {
            List<String> texts = new ArrayList<>();
            addOrders(List.copyOf(value.properties()), List.of(""), texts);
            return texts.stream().map(text -> "{" + text + "}").toList();
        }
        return List.of(value.toString());
    }

    private static void addOrders(List<Map.Entry<String, JsonNode>> rest, List<String> prefixes, List<String> texts) {
        if (rest.isEmpty()) {
            texts.addAll(prefixes);
        }
        for (Map.Entry<String, JsonNode> next : rest) {
            if (texts.size() < TEXTS) {
                addOrders(
                        rest.stream().filter(other -> !other.equals(next)).toList(),
                        joined(prefixes, JsonText.quoted(next.getKey()) + ":", texts(next.getValue())),
                        texts);
            }
        }
    }

    private static List<String> joined(List<String> prefixes, String key, List<String> texts) {
        return prefixes.stream()
                .flatMap(prefix -> texts.stream().map(text -> (prefix.isEmpty() ? "" : prefix + ",") + key + text))
                .limit(TEXTS)
                .toList();
    }
}
