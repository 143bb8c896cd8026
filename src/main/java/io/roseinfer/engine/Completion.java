package io.roseinfer.engine;

import io.roseinfer.metrics.RequestTimeline;
import io.roseinfer.scheduler.FinishReason;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * A finished completion.
 *
 * @param promptIds the prompt as the model saw it
 * @param tokens what was generated, the end-of-text token included if there was one
 * @param text the generated text without a stop string, a stop token or an end-of-text mark; empty without a tokenizer
 * @param finishReason why it ended
 * @param stopString the stop string that ended it, as the request spelled it; empty if it ended otherwise
 * @param cachedTokens tokens of the prompt that were found in the prefix cache instead of computed
 * @param timeline when
 * @param tag the caller's own object, if the request had one
 */
public record Completion(
        int[] promptIds,
        List<GeneratedToken> tokens,
        Optional<String> text,
        FinishReason finishReason,
        Optional<String> stopString,
        int cachedTokens,
        RequestTimeline timeline,
        Optional<Object> tag) {

    /** The prompt as the model saw it, a copy. */
    @Override
    public int[] promptIds() {
        return promptIds.clone();
    }

    /**
     * The time to the first token, as the benchmark counts it: from entering the submit call until the engine had the token, whenever
     * it was read. Empty if there was none.
     */
    public Optional<Duration> ttft() {
        OptionalDouble nanos = timeline.tokenTimes().ttftNanos(timeline.submittedNanos());
        return nanos.isPresent() ? Optional.of(Duration.ofNanos((long) nanos.getAsDouble())) : Optional.empty();
    }

    /** For people: why it ended, its prompt, and its text or, without a tokenizer, its token ids. */
    @Override
    public String toString() {
        return "Completion[finishReason=" + finishReason + ", promptIds=" + Arrays.toString(promptIds) + ", "
                + text.map(it -> "text=" + it).orElseGet(() -> "ids=" + Arrays.toString(ids())) + "]";
    }

    /** The generated token ids. */
    public int[] ids() {
        return tokens.stream().mapToInt(GeneratedToken::id).toArray();
    }
}
