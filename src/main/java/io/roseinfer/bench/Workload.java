package io.roseinfer.bench;

import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.Prompt;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** The requests of a run, in the order they are submitted; every run of a benchmark submits the same ones. */
public record Workload(List<GenerationRequest> requests) {
    public Workload {
        requests = List.copyOf(requests);
    }

    /** One request per text, each like {@code template} but for its prompt. */
    public static Workload of(List<String> texts, GenerationRequest template) {
        return new Workload(texts.stream()
                .map(text -> withPrompt(template, new Prompt.Text(text)))
                .toList());
    }

    /** The same requests as token ids, so that submitting them tokenizes nothing. */
    public Workload pretokenized(Function<String, int[]> encode) {
        Map<String, Prompt> known = new HashMap<>();
        return new Workload(requests.stream()
                .map(request -> withPrompt(request, tokens(request.prompt(), known, encode)))
                .toList());
    }

    private static Prompt tokens(Prompt prompt, Map<String, Prompt> known, Function<String, int[]> encode) {
        return switch (prompt) {
            case Prompt.Text text -> known.computeIfAbsent(text.text(), key -> new Prompt.Tokens(encode.apply(key)));
            case Prompt.Tokens tokens -> tokens;
        };
    }

    private static GenerationRequest withPrompt(GenerationRequest request, Prompt prompt) {
        return new GenerationRequest(
                prompt,
                request.maxNewTokens(),
                request.sampling(),
                request.seed(),
                request.stop(),
                request.ignoreEndOfText());
    }
}
