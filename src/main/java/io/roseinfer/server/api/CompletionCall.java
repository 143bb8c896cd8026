package io.roseinfer.server.api;

import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.Prompt;
import io.roseinfer.tokenizer.chat.reply.ReplyFormat;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/**
 * A checked completion call.
 *
 * @param prompts token ids, one list per prompt
 * @param request the request for each prompt, with the first prompt in it
 * @param n completions per prompt
 * @param output the output options
 * @param reply how the text of a completion is split into parts
 * @param clamped whether the maximum number of tokens was reduced because the context is shorter
 * @param grammarField the field that restricts the request to a grammar; empty if there is none
 * @param ignored unknown fields
 * @param settings the settings that a response of {@code /v1/responses} repeats; empty for other paths
 */
public record CompletionCall(
        List<int[]> prompts,
        GenerationRequest request,
        int n,
        Output output,
        ReplyFormat reply,
        boolean clamped,
        Optional<String> grammarField,
        List<String> ignored,
        Optional<ObjectNode> settings) {

    /**
     * The output options of a call.
     *
     * @param stream whether tokens are sent as events while they are generated
     * @param usage whether a stream ends with an event of token counts
     * @param continuousUsage whether every event has the token counts so far
     * @param echo whether the prompt's text is prepended, with its log-probabilities if any are requested
     * @param promptLogprobs number of most likely tokens in the list of the prompt's log-probabilities; -1 for no list
     * @param tokenIds whether token ids are sent along with the text
     * @param tokensAsIds whether log-probabilities have {@code token_id:17} instead of a token's text
     * @param stopString whether the stop string that ended a completion is part of its text
     * @param interval tokens per event of a stream; the first and the last are sent at once
     */
    public record Output(
            boolean stream,
            boolean usage,
            boolean continuousUsage,
            boolean echo,
            int promptLogprobs,
            boolean tokenIds,
            boolean tokensAsIds,
            boolean stopString,
            int interval) {}

    /** Returns the total number of completions. */
    public int choices() {
        return prompts.size() * n;
    }

    /**
     * Returns the engine's request for a completion. If the call has a seed, the seeds of one prompt's completions are
     * consecutive.
     *
     * @param choice 0 to {@link #choices()} exclusive; choices of one prompt are consecutive
     */
    public GenerationRequest request(int choice) {
        GenerationRequest one = request.withPrompt(new Prompt.Tokens(prompts.get(choice / n)));
        return one.seed().isPresent() ? one.withSeed(one.seed().getAsLong() + choice % n) : one;
    }

    /** Returns the same call with this seed, unless it has one. */
    public CompletionCall orSeed(long seed) {
        return request.seed().isPresent()
                ? this
                : new CompletionCall(
                        prompts, request.withSeed(seed), n, output, reply, clamped, grammarField, ignored, settings);
    }

    /**
     * Returns the maximum heap that the log-probabilities of all completions take; 0 without any. They are in
     * memory twice for generated tokens when a completion ends.
     */
    public long logprobBytes() {
        long perGenerated = bytesPerToken(request.sampling().logprobs());
        long perPrompt = bytesPerToken(request.options().promptLogprobs());
        return choices() * 2L * request.maxNewTokens() * perGenerated + (long) n * promptTokens() * perPrompt;
    }

    /** Returns the bytes for a token and its most likely alternatives: each has a log-probability, and an id or rank. */
    private static long bytesPerToken(int tops) {
        return tops < 0 ? 0 : (1L + tops) * (Integer.BYTES + Float.BYTES);
    }

    public int promptTokens() {
        return prompts.stream().mapToInt(ids -> ids.length).sum();
    }
}
