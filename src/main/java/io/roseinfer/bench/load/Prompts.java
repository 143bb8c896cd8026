package io.roseinfer.bench.load;

import io.roseinfer.base.Limits;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.engine.Prompt;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/** Creates the prompts of a run in submit order; all runs of a benchmark have the same prompts. */
public final class Prompts {
    private Prompts() {}

    /**
     * Creates text prompts.
     *
     * @param prompt the repeated text
     * @param repeats request i repeats the text {@code repeats[i mod size]} times, separated by spaces
     * @param unique whether to append {@code " [i]"} to the prompt of request i
     */
    public static List<Prompt> texts(String prompt, List<Integer> repeats, boolean unique, int requests) {
        if (prompt.isEmpty()) {
            throw new BadInput("--prompt is empty; it must have at least one token");
        }
        if (repeats.isEmpty() || repeats.stream().anyMatch(count -> count < 1)) {
            throw new BadInput("--prompt-repeats is " + repeats + "; it must be positive whole numbers");
        }
        requireReadable((prompt.length() + 1L) * Collections.max(repeats), "characters");
        List<String> repeated = repeats.stream()
                .map(count -> String.join(" ", Collections.nCopies(count, prompt)))
                .toList();
        return IntStream.range(0, requests)
                .mapToObj(i -> repeated.get(i % repeated.size()) + (unique ? " [" + i + "]" : ""))
                .map(text -> (Prompt) new Prompt.Text(text))
                .toList();
    }

    /**
     * Creates prompts of token ids.
     *
     * @param ids the repeated ids
     * @param repeats request i repeats them {@code repeats[i mod size]} times
     * @throws BadInput if a prompt would exceed the maximum length
     */
    public static List<Prompt> tokens(int[] ids, List<Integer> repeats, int requests) {
        requireReadable((long) ids.length * Collections.max(repeats), "tokens");
        List<Prompt> prompts = repeats.stream()
                .map(count -> (Prompt) new Prompt.Tokens(repeated(ids, count)))
                .toList();
        return IntStream.range(0, requests)
                .mapToObj(i -> prompts.get(i % prompts.size()))
                .toList();
    }

    /**
     * Creates prompts of random token ids, identical in every process. They have no common prefix, so the prefix cache has no hits.
     *
     * @param lengths request i has {@code lengths[i mod size]} ids
     * @param vocabularySize exclusive upper bound of ids
     */
    public static List<Prompt> randomTokens(List<Integer> lengths, int requests, int vocabularySize) {
        return IntStream.range(0, requests)
                .mapToObj(i -> (Prompt) new Prompt.Tokens(new SplittableRandom(i)
                        .ints(lengths.get(i % lengths.size()), 0, vocabularySize)
                        .toArray()))
                .toList();
    }

    private static void requireReadable(long longest, String unit) {
        if (longest > Limits.PROMPT_CHARS) {
            throw new BadInput("--prompt-repeats makes a prompt of " + longest + " " + unit + "; at most "
                    + Limits.PROMPT_CHARS + " are allowed");
        }
    }

    private static int[] repeated(int[] ids, int count) {
        int[] all = new int[ids.length * count];
        Arrays.setAll(all, i -> ids[i % ids.length]);
        return all;
    }

    /** Returns a function that tokenizes prompts; equal texts are tokenized once. */
    public static UnaryOperator<Prompt> tokenized(Function<String, int[]> encode) {
        Map<String, Prompt> known = new HashMap<>();
        return prompt -> switch (prompt) {
            case Prompt.Text text -> known.computeIfAbsent(text.text(), key -> new Prompt.Tokens(encode.apply(key)));
            case Prompt.Tokens tokens -> tokens;
        };
    }
}
