package io.roseinfer.bench.load;

import io.roseinfer.base.Limits;
import io.roseinfer.base.RoseException.BadInput;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/**
 * How one prompt becomes the prompts of a workload.
 *
 * @param prompt the text they are made from
 * @param repeats request i repeats the prompt {@code repeats[i mod size]} times, joined by a space
 * @param unique whether request i's prompt ends in {@code " [i]"}, so that no two are equal
 */
public record PromptPlan(String prompt, List<Integer> repeats, boolean unique) {
    public PromptPlan {
        repeats = List.copyOf(repeats);
        if (prompt.isEmpty()) {
            throw new BadInput("--prompt is empty; a request needs at least one token to continue");
        }
        if (repeats.isEmpty() || repeats.stream().anyMatch(count -> count < 1)) {
            throw new BadInput("--prompt-repeats must contain positive integers, not " + repeats);
        }
        long longest = (prompt.length() + 1L) * Collections.max(repeats);
        if (longest > Limits.PROMPT_CHARS) {
            throw new BadInput("--prompt-repeats makes a prompt of " + longest + " characters; at most "
                    + Limits.PROMPT_CHARS + " are read");
        }
    }

    /** The prompts of this many requests. */
    public List<String> texts(int requests) {
        List<String> repeated = repeats.stream()
                .map(count -> String.join(" ", Collections.nCopies(count, prompt)))
                .toList();
        return IntStream.range(0, requests)
                .mapToObj(i -> repeated.get(i % repeated.size()) + (unique ? " [" + i + "]" : ""))
                .toList();
    }
}
