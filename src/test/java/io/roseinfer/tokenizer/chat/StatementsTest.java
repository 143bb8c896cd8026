package io.roseinfer.tokenizer.chat;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.roseinfer.base.StrictJson;
import java.time.LocalDateTime;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import tools.jackson.databind.JsonNode;

/** Compares single expressions and statements with Jinja2. */
final class StatementsTest {
    private static final LocalDateTime NOW = LocalDateTime.of(2026, 3, 5, 14, 7, 9);

    private final JsonNode goldens = ChatGoldens.read("statements.json");

    @TestFactory
    Stream<DynamicTest> statements_render_like_jinja() {
        Map<String, JsonNode> variables = new HashMap<>();
        goldens.get("variables").properties().forEach(entry -> variables.put(entry.getKey(), entry.getValue()));
        Conversation empty =
                new Conversation(StrictJson.mapper().createArrayNode(), Optional.empty(), true, variables, NOW);
        return goldens.get("cases").valueStream().map(golden -> {
            String source = golden.get("source").stringValue();
            return DynamicTest.dynamicTest(
                    source,
                    () -> ChatGoldens.assertAgrees(
                            golden,
                            () -> ChatTemplate.parse(source, "test", Map.of()).render(empty)));
        });
    }

    @Test
    void there_are_enough_statements() {
        assertTrue(goldens.get("cases").size() >= 100);
    }
}
