package io.roseinfer.server.api;

import io.roseinfer.base.RoseException.BadInput;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * The limits of one call.
 *
 * @param duration maximum duration of a completion, including queueing; a client may request less
 * @param tokens maximum tokens of a conversation and its completion, if the client sets no maximum
 */
public record CallLimits(Optional<Duration> duration, int tokens) {
    /** No limits other than the model's. */
    public static final CallLimits NONE = new CallLimits(Optional.empty(), Integer.MAX_VALUE);

    public CallLimits {
        Objects.requireNonNull(duration, "duration");
        BadInput.require(tokens > 0, "the maximum of tokens", tokens, "positive");
    }

    public CallLimits withDuration(Optional<Duration> value) {
        return new CallLimits(value, tokens);
    }

    public CallLimits withTokens(int value) {
        return new CallLimits(duration, value);
    }
}
