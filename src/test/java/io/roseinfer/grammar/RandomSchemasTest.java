package io.roseinfer.grammar;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.RoseException.BadInput;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Random schemas and values: a value is in the grammar, in some order of its properties, if and only if it is valid. */
class RandomSchemasTest {
    private static final int SCHEMAS = 250;
    private static final int VALUES = 8;
    private static final int TEXTS = 800;

    @Test
    void value_is_in_the_grammar_if_and_only_if_it_is_valid() {
        int decided = 0;
        for (long seed = 1; seed <= SCHEMAS; seed++) {
            RandomSchemas random = new RandomSchemas(seed);
            JsonNode schema = random.schema(3);
            Grammar grammar;
            try {
                grammar = grammar(schema);
            } catch (BadInput unsupported) {
                continue;
            }
            for (int i = 0; i < VALUES; i++) {
                JsonNode value = random.value(3);
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
            return Grammar.jsonSchema(schema.toString(), 0);
        } catch (BadInput e) {
            if (e.getMessage().startsWith("the schema is valid for no value")) {
                return null;
            }
            throw e;
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
