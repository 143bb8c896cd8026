package io.roseinfer.tokenizer.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.base.StrictJson;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

final class ChatTemplatesTest {
    private static final JsonNode NOBODY = StrictJson.mapper().createArrayNode();

    @TempDir
    Path directory;

    private void write(String file, String content) throws IOException {
        Files.writeString(directory.resolve(file), content);
    }

    private String rendered() {
        return ChatTemplates.fromDirectory(directory, Map.of())
                .orElseThrow()
                .render(Conversation.of(NOBODY, LocalDateTime.MIN));
    }

    @Test
    void directory_without_template_has_none() throws IOException {
        write("tokenizer_config.json", "{\"chat_template\": null}");
        assertEquals(Optional.empty(), ChatTemplates.fromDirectory(directory, Map.of()));
    }

    @Test
    void newest_file_takes_precedence() throws IOException {
        write("tokenizer_config.json", "{\"chat_template\": \"config\"}");
        assertEquals("config", rendered());
        write("chat_template.json", "{\"chat_template\": \"json\"}");
        assertEquals("json", rendered());
        write("chat_template.jinja", "jinja\n");
        assertEquals("jinja", rendered());
    }

    @Test
    void default_template_is_used_and_the_tool_template_with_tools() throws IOException {
        write(
                "tokenizer_config.json",
                "{\"chat_template\": [{\"name\": \"tool_use\", \"template\": \"with\"}, {\"name\": \"default\", \"template\": \"plain\"}]}");
        ChatTemplate template = ChatTemplates.fromDirectory(directory, Map.of()).orElseThrow();
        Conversation withTools = new Conversation(NOBODY, Optional.of(NOBODY), true, Map.of(), LocalDateTime.MIN);
        assertEquals("plain", rendered());
        assertEquals("with", template.render(withTools));
        assertTrue(template.usesTools());
    }

    @Test
    void list_without_a_default_is_rejected() throws IOException {
        write("tokenizer_config.json", "{\"chat_template\": [{\"name\": \"rag\", \"template\": \"x\"}]}");
        BadModel refused = assertThrows(BadModel.class, () -> ChatTemplates.fromDirectory(directory, Map.of()));
        assertTrue(refused.getMessage().contains("none named \"default\""), refused.getMessage());
    }

    @Test
    void template_of_another_type_is_rejected() throws IOException {
        write("chat_template.json", "{\"chat_template\": 5}");
        assertThrows(BadModel.class, () -> ChatTemplates.fromDirectory(directory, Map.of()));
    }

    @Test
    void file_with_invalid_utf_8_is_rejected() throws IOException {
        Files.write(directory.resolve("chat_template.jinja"), new byte[] {(byte) 0xff});
        assertThrows(BadModel.class, () -> ChatTemplates.fromDirectory(directory, Map.of()));
    }
}
