package io.roseinfer.bench.load;

import io.roseinfer.base.Limits;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.Prompt;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.stream.IntStream;

/** The requests of a run, in the order they are submitted; every run of a benchmark submits the same ones. */
public record Workload(List<GenerationRequest> requests) {
    public Workload {
        requests = List.copyOf(requests);
    }

    /** One request per text, each like {@code template} but for its prompt. */
    public static Workload of(List<String> texts, GenerationRequest template) {
        return new Workload(texts.stream()
                .map(text -> template.withPrompt(new Prompt.Text(text)))
                .toList());
    }

    /**
     * Requests of token ids, each like {@code template} but for its prompt.
     *
     * @param ids the prompt that is repeated
     * @param repeats request i has it {@code repeats[i mod size]} times
     * @throws BadInput if a prompt would be longer than any is read
     */
    public static Workload ofTokens(int[] ids, List<Integer> repeats, int requests, GenerationRequest template) {
        long longest = (long) ids.length * Collections.max(repeats);
        if (longest > Limits.PROMPT_CHARS) {
            throw new BadInput("--prompt-repeats makes a prompt of " + longest + " tokens; at most "
                    + Limits.PROMPT_CHARS + " are read");
        }
        List<Prompt> prompts = repeats.stream()
                .map(count -> (Prompt) new Prompt.Tokens(repeated(ids, count)))
                .toList();
        return new Workload(IntStream.range(0, requests)
                .mapToObj(i -> template.withPrompt(prompts.get(i % prompts.size())))
                .toList());
    }

    /**
     * Requests of random token ids, the same in every process, each like {@code template} but for its prompt. They are random from the
     * first token on, so none finds another's blocks in the prefix cache.
     *
     * @param lengths request i has {@code lengths[i mod size]} ids
     * @param vocabularySize ids are below it
     */
    public static Workload ofRandomTokens(
            List<Integer> lengths, int requests, int vocabularySize, GenerationRequest template) {
        return new Workload(IntStream.range(0, requests)
                .mapToObj(i -> template.withPrompt(new Prompt.Tokens(new SplittableRandom(i)
                        .ints(lengths.get(i % lengths.size()), 0, vocabularySize)
                        .toArray())))
                .toList());
    }

    /** The requests of a load, each like {@code template} but for its prompt and length. */
    public static Workload of(OfferedLoad load, GenerationRequest template) {
        return new Workload(load.requests().stream()
                .map(request -> template.withPrompt(request.prompt()).withMaxNewTokens(request.outputTokens()))
                .toList());
    }

    private static int[] repeated(int[] ids, int count) {
        int[] all = new int[ids.length * count];
        Arrays.setAll(all, i -> ids[i % ids.length]);
        return all;
    }

    /** The same requests as token ids, so that submitting them tokenizes nothing. */
    public Workload pretokenized(Function<String, int[]> encode) {
        Map<String, Prompt> known = new HashMap<>();
        return new Workload(requests.stream()
                .map(request -> request.withPrompt(tokens(request.prompt(), known, encode)))
                .toList());
    }

    private static Prompt tokens(Prompt prompt, Map<String, Prompt> known, Function<String, int[]> encode) {
        return switch (prompt) {
            case Prompt.Text text -> known.computeIfAbsent(text.text(), key -> new Prompt.Tokens(encode.apply(key)));
            case Prompt.Tokens tokens -> tokens;
        };
    }
}
