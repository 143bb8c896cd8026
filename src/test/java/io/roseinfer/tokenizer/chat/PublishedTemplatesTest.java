package io.roseinfer.tokenizer.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.roseinfer.base.StrictJson;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import tools.jackson.databind.JsonNode;

/**
 * Templates whose licenses do not allow us to store them: {@code tools/golden/published-templates DIR} downloads them,
 * and {@code ROSEINFER_TEMPLATES=DIR} enables their tests.
 */
final class PublishedTemplatesTest {
    private static final JsonNode GOLDENS = ChatGoldens.read("published.json");

    @TestFactory
    Stream<DynamicTest> conversations_are_written_as_jinja_writes_them() {
        Optional<String> directory = Optional.ofNullable(System.getenv("ROSEINFER_TEMPLATES"));
        assumeTrue(directory.isPresent(), "ROSEINFER_TEMPLATES names no directory of published templates");
        return GOLDENS.properties().stream().flatMap(golden -> {
            Path file = Path.of(directory.orElseThrow(), golden.getKey() + ".json");
            return cases(golden.getKey(), file, golden.getValue());
        });
    }

    private static Stream<DynamicTest> cases(String name, Path file, JsonNode golden) {
        String source;
        try {
            source = StrictJson.parse(Files.readAllBytes(file))
                    .get("chat_template")
                    .stringValue();
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(source.getBytes(StandardCharsets.UTF_8));
            assertEquals(
                    golden.get("sha256").stringValue(), HexFormat.of().formatHex(digest), file + " is another version");
        } catch (Exception e) {
            throw new AssertionError(file.toString(), e);
        }
        return ChatTemplateTest.compared(name, source, golden.get("rendered"));
    }
}
