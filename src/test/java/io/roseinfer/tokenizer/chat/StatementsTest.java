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

/** Single expressions and statements, against what Jinja2 makes of them. */
final class StatementsTest {
    private static final LocalDateTime NOW = LocalDateTime.of(2026, 3, 5, 14, 7, 9);

    private final JsonNode goldens = ChatGoldens.read("statements.json");

    @TestFactory
    Stream<DynamicTest> what_jinja_gives() {
        Map<String, JsonNode> variables = new HashMap<>();
        goldens.get("variables").properties().forEach(entry -> variables.put(entry.getKey(), entry.getValue()));
        Conversation nobody =
                new Conversation(StrictJson.mapper().createArrayNode(), Optional.empty(), true, variables, NOW);
        return goldens.get("cases").valueStream().map(golden -> {
            String source = golden.get("source").stringValue();
            return DynamicTest.dynamicTest(
                    source,
                    () -> ChatGoldens.assertAgrees(
                            golden,
                            () -> ChatTemplate.parse(source, "test", Map.of()).render(nobody)));
        });
    }

    @Test
    void there_are_enough_of_them() {
        assertTrue(goldens.get("cases").size() >= 100);
    }
}
