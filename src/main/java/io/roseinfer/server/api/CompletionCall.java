package io.roseinfer.server.api;

import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.Prompt;
import java.util.List;

/**
 * A completion as a client has asked for it, checked.
 *
 * @param prompts token ids, one list for each prompt
 * @param request what each is continued with, with the first prompt in it
 * @param n completions of each prompt
 * @param output how they are told
 * @param clamped whether fewer tokens were asked of the engine than of us, because the context ends before
 * @param ignored fields that are not known here
 */
public record CompletionCall(
        List<int[]> prompts, GenerationRequest request, int n, Output output, boolean clamped, List<String> ignored) {

    /**
     * How completions are told.
     *
     * @param stream as events, while they are made
     * @param usage an event with the counts of tokens at the end of a stream
     * @param continuousUsage the counts so far in every event
     * @param echo the prompt's text in front
     * @param tokenIds the ids beside the text
     * @param tokensAsIds {@code token_id:17} for a token's text among the log-probabilities
     * @param stopString the stop string that ended a completion as the end of its text
     * @param interval tokens of an event in a stream; the first and the last go at once
     */
    public record Output(
            boolean stream,
            boolean usage,
            boolean continuousUsage,
            boolean echo,
            boolean tokenIds,
            boolean tokensAsIds,
            boolean stopString,
            int interval) {}

    /** Completions in all. */
    public int choices() {
        return prompts.size() * n;
    }

    /**
     * The request of the engine that makes a completion. Those of one prompt have seeds that follow each other, if the call has one.
     *
     * @param choice 0 to {@link #choices()} exclusive; those of one prompt stand together
     */
    public GenerationRequest request(int choice) {
        GenerationRequest one = request.withPrompt(new Prompt.Tokens(prompts.get(choice / n)));
        return one.seed().isPresent() ? one.withSeed(one.seed().getAsLong() + choice % n) : one;
    }

    /** The same call with a seed, unless it has one. */
    public CompletionCall orSeed(long seed) {
        return request.seed().isPresent()
                ? this
                : new CompletionCall(prompts, request.withSeed(seed), n, output, clamped, ignored);
    }

    public int promptTokens() {
        return prompts.stream().mapToInt(ids -> ids.length).sum();
    }
}
