package io.roseinfer.engine;

import io.roseinfer.metrics.RequestTimeline;
import io.roseinfer.scheduler.FinishReason;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/**
 * A finished completion. Immutable, except for what {@code tag} refers to.
 *
 * @param promptIds the prompt's token ids as the model saw them
 * @param tokens the generated tokens, including an end-of-text token
 * @param text the generated text without stop string, stop token and end-of-text token; empty without a tokenizer
 * @param finishReason why it ended
 * @param stopString the stop string that ended it, as spelled in the request; empty if it ended otherwise
 * @param cachedTokens number of prompt tokens taken from the prefix cache
 * @param timeline the request's timestamps
 * @param tag the object that the caller attached, if any
 * @param promptLogprobs the prompt's tokens with log-probabilities, one for each id; empty unless requested by
 *     {@link GenerationRequest#withPromptLogprobs}, or if the request ended before all were computed
 */
public record Completion(
        int[] promptIds,
        List<GeneratedToken> tokens,
        Optional<String> text,
        FinishReason finishReason,
        Optional<String> stopString,
        int cachedTokens,
        RequestTimeline timeline,
        Optional<Object> tag,
        List<PromptToken> promptLogprobs) {
    public Completion {
        promptIds = Objects.requireNonNull(promptIds, "promptIds").clone();
        tokens = copy(Objects.requireNonNull(tokens, "tokens"));
        Objects.requireNonNull(text, "text");
        Objects.requireNonNull(finishReason, "finishReason");
        Objects.requireNonNull(stopString, "stopString");
        Objects.requireNonNull(timeline, "timeline");
        Objects.requireNonNull(tag, "tag");
        promptLogprobs = copy(Objects.requireNonNull(promptLogprobs, "promptLogprobs"));
    }

    /** Returns an unmodifiable copy. Lists of the engine are kept: they never change, and create elements on access. */
    private static <T> List<T> copy(List<T> list) {
        return list instanceof TokenBuffer.ReadTokens || list instanceof PromptLogprobs.Tokens
                ? list
                : List.copyOf(list);
    }

    /** Returns a copy of the prompt's token ids as the model saw them. */
    @Override
    public int[] promptIds() {
        return promptIds.clone();
    }

    /**
     * Returns the time to first token, as benchmarks define it: from entering the submit call until the engine had the
     * token, regardless of when it was read. Empty if there is no token.
     */
    public Optional<Duration> ttft() {
        OptionalDouble nanos = timeline.tokenTimes().ttftNanos(timeline.submittedNanos());
        return nanos.isPresent() ? Optional.of(Duration.ofNanos((long) nanos.getAsDouble())) : Optional.empty();
    }

    /** Returns whether {@code other} has equal components, with equal prompt ids and equal times of tokens. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Completion that
                && Arrays.equals(promptIds, that.promptIds)
                && tokens.equals(that.tokens)
                && text.equals(that.text)
                && finishReason == that.finishReason
                && stopString.equals(that.stopString)
                && cachedTokens == that.cachedTokens
                && timeline.equals(that.timeline)
                && tag.equals(that.tag)
                && promptLogprobs.equals(that.promptLogprobs);
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(promptIds)
                + Objects.hash(tokens, text, finishReason, stopString, cachedTokens, timeline, tag, promptLogprobs);
    }

    /** Returns the finish reason, the prompt and the text (without a tokenizer, the token ids) for display. */
    @Override
    public String toString() {
        return "Completion[finishReason=" + finishReason + ", promptIds=" + Arrays.toString(promptIds) + ", "
                + text.map(it -> "text=" + it).orElseGet(() -> "ids=" + Arrays.toString(ids())) + "]";
    }

    /** Returns the generated token ids. */
    public int[] ids() {
        return tokens.stream().mapToInt(GeneratedToken::id).toArray();
    }
}
