package io.roseinfer.tokenizer.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.StrictJson;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Supplier;
import tools.jackson.databind.JsonNode;

/** What Jinja2 made of templates; {@code tools/golden/chat_templates.py} writes it. */
final class ChatGoldens {
    private static final Path ROOT = Path.of("src/test/resources/chat");

    private ChatGoldens() {}

    static JsonNode read(String file) {
        return StrictJson.parse(text(file).getBytes(java.nio.charset.StandardCharsets.UTF_8));
    }

    static String text(String file) {
        try {
            return Files.readString(ROOT.resolve(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Holds what comes of a template against a golden: its text, what it raises, or that it fails. */
    static void assertAgrees(JsonNode golden, Supplier<String> rendering) {
        if (golden.has("text")) {
            assertEquals(golden.get("text").stringValue(), rendering.get());
            return;
        }
        RoseException failure = assertThrows(RoseException.class, rendering::get);
        if (golden.has("raised")) {
            String message = golden.get("raised").stringValue();
            assertTrue(failure instanceof BadInput && failure.getMessage().contains(message), failure.getMessage());
        }
    }
}
