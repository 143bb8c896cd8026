package io.roseinfer.bench.load;

import io.roseinfer.base.FileFailure;
import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.StrictJson;
import io.roseinfer.engine.Prompt;
import io.roseinfer.grammar.Grammar;
import io.roseinfer.server.api.ApiError;
import io.roseinfer.server.api.GrammarReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * The dataset {@code jsonl}: a line per request with {@code prompt}, text or token ids, optionally
 * {@code output_tokens}, and optionally vLLM's {@code structured_outputs}.
 */
public final class JsonlPrompts {
    private static final Set<String> FIELDS = Set.of("prompt", "output_tokens", GrammarReader.OUTPUTS);

    private JsonlPrompts() {}

    /**
     * Reads the first requests of a file, all due at the start.
     *
     * @param most maximum number of requests
     * @param outputTokens output length of requests that specify none
     */
    public static List<OfferedRequest> read(Path file, int most, int outputTokens) {
        FileFailure.requireRegular(file);
        List<OfferedRequest> requests = new ArrayList<>();
        try (Stream<String> lines = Files.lines(file, StandardCharsets.UTF_8)) {
            int number = 0;
            for (String line : (Iterable<String>) lines::iterator) {
                number++;
                if (!line.isBlank() && requests.size() < most) {
                    requests.add(request(line, FileFailure.shown(file) + " line " + number, outputTokens));
                }
            }
        } catch (IOException | java.io.UncheckedIOException e) {
            throw new BadInput(FileFailure.shown(file) + " cannot be read: " + e.getMessage(), e);
        }
        if (requests.isEmpty()) {
            throw new BadInput(FileFailure.shown(file) + " has no line with a request");
        }
        return requests;
    }

    private static OfferedRequest request(String line, String where, int outputTokens) {
        JsonNode node;
        try {
            node = StrictJson.parse(line.getBytes(StandardCharsets.UTF_8));
        } catch (JacksonException e) {
            throw new BadInput(where + " is not JSON: " + StrictJson.reason(e), e);
        }
        node.propertyNames().stream()
                .filter(name -> !FIELDS.contains(name))
                .findFirst()
                .ifPresent(name -> {
                    throw new BadInput(where + ": " + Quoted.name(name) + " is not supported; a line has prompt and"
                            + " optionally output_tokens and structured_outputs, so leave it out");
                });
        JsonNode prompt = node.path("prompt");
        JsonNode tokens = node.path("output_tokens");
        if (!tokens.isMissingNode() && !tokens.isNull() && !(tokens.isInt() && tokens.intValue() > 0)) {
            throw new BadInput(where + ": output_tokens is " + tokens + "; it must be a positive whole number");
        }
        return new OfferedRequest(
                0,
                prompt(prompt, where),
                tokens.isInt() ? tokens.intValue() : outputTokens,
                structuredOutputs(node.path(GrammarReader.OUTPUTS), where));
    }

    private static Optional<JsonNode> structuredOutputs(JsonNode value, String where) {
        if (value.isMissingNode() || value.isNull()) {
            return Optional.empty();
        }
        try {
            Grammar unused = GrammarReader.outputs(value);
        } catch (ApiError | BadInput wrong) {
            throw new BadInput(where + ": " + wrong.getMessage(), wrong);
        }
        return Optional.of(value);
    }

    private static Prompt prompt(JsonNode prompt, String where) {
        if (prompt.isString()) {
            return new Prompt.Text(prompt.stringValue());
        }
        boolean ids = prompt.isArray() && !prompt.isEmpty();
        for (JsonNode id : prompt) {
            ids &= id.isInt() && id.intValue() >= 0;
        }
        if (!ids) {
            throw new BadInput(where + ": prompt must be text or a non-empty list of token ids");
        }
        return new Prompt.Tokens(
                prompt.valueStream().mapToInt(JsonNode::intValue).toArray());
    }
}
