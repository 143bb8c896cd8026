package io.roseinfer.tokenizer.chat;

import io.roseinfer.base.FileFailure;
import io.roseinfer.base.Limits;
import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.base.StrictJson;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * Finds the chat template of a model directory, like transformers: {@code chat_template.jinja}, else
 * {@code chat_template.json}, else the field {@code chat_template} of {@code tokenizer_config.json}, which is a text or
 * a list of named templates.
 */
public final class ChatTemplates {
    private static final String FIELD = "chat_template";
    private static final String CONFIG = "tokenizer_config.json";

    private ChatTemplates() {}

    /**
     * Returns the template of a directory, if it has one.
     *
     * @param specialTokens the tokenizer's, by role
     * @throws BadModel if a file cannot be read, or the template uses an unsupported feature
     */
    public static Optional<ChatTemplate> fromDirectory(Path directory, Map<String, String> specialTokens) {
        Path jinja = directory.resolve("chat_template.jinja");
        if (Files.exists(jinja)) {
            return Optional.of(ChatTemplate.parse(text(jinja), jinja.toString(), specialTokens));
        }
        Path config = directory.resolve(CONFIG);
        Path legacy = directory.resolve("chat_template.json");
        return Files.exists(legacy)
                ? fromField(json(legacy), legacy.toString(), specialTokens)
                : fromField(json(config), config.toString(), specialTokens);
    }

    /**
     * Returns the template of a {@code tokenizer_config.json} in memory, if it has one.
     *
     * @param utf8 the file
     * @param description its name in messages
     * @param specialTokens the tokenizer's, by role
     * @throws BadModel like {@link #fromDirectory}
     */
    public static Optional<ChatTemplate> fromTokenizerConfig(
            byte[] utf8, String description, Map<String, String> specialTokens) {
        return fromField(object(utf8, description), description, specialTokens);
    }

    private static Optional<ChatTemplate> fromField(JsonNode object, String file, Map<String, String> tokens) {
        JsonNode field = object.path(FIELD);
        String where = file + ": " + FIELD;
        if (field.isMissingNode() || field.isNull()) {
            return Optional.empty();
        }
        if (field.isString()) {
            return Optional.of(ChatTemplate.parse(field.stringValue(), where, tokens));
        }
        Map<String, String> byName = new LinkedHashMap<>();
        if (field.isArray()) {
            for (JsonNode named : field) {
                byName.put(string(named.path("name"), where), string(named.path("template"), where));
            }
        } else {
            throw new BadModel(where + " is neither a text nor a list of templates");
        }
        String chosen = byName.get("default");
        if (chosen == null) {
            throw new BadModel(
                    where + " has the templates " + Quoted.names(byName.keySet()) + ", but none named \"default\"");
        }
        return Optional.of(ChatTemplate.parse(chosen, Optional.ofNullable(byName.get("tool_use")), where, tokens));
    }

    private static String string(JsonNode node, String where) {
        if (!node.isString()) {
            throw new BadModel(where + " is a list with an element that is not a name and a template");
        }
        return node.stringValue();
    }

    /** Returns the object in a file, or an empty one if there is no file. */
    private static JsonNode json(Path file) {
        if (!Files.exists(file)) {
            return StrictJson.mapper().createObjectNode();
        }
        return object(bytes(file), file.toString());
    }

    private static JsonNode object(byte[] utf8, String file) {
        try {
            JsonNode node = StrictJson.parse(utf8);
            if (node.isObject()) {
                return node;
            }
            throw new BadModel(file + " is not a JSON object");
        } catch (JacksonException e) {
            throw new BadModel(file + ": not valid JSON: " + StrictJson.reason(e) + "; download the file again", e);
        }
    }

    private static String text(Path file) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(java.nio.ByteBuffer.wrap(bytes(file)))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new BadModel(file + " is not valid UTF-8; download the file again", e);
        }
    }

    private static byte[] bytes(Path file) {
        try {
            long size = Files.size(file);
            if (size > Limits.CONFIG_BYTES) {
                throw new BadModel(file + " has " + size + " bytes, at most " + Limits.CONFIG_BYTES
                        + " are allowed; check that it is the right file");
            }
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw new BadModel(file + ": cannot be read (" + FileFailure.reason(e) + ")", e);
        }
    }
}
