package io.roseinfer.engine;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.sampling.SamplingParams;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Options of a request that do not affect its tokens.
 *
 * @param deadlineNanos reading of the engine's clock, by default {@link System#nanoTime}, at which the request is ended,
 *     in any state
 * @param timeout maximum time after its submission, positive; the earlier of both applies
 * @param priority for custom policies, higher is more urgent; built-in policies ignore it
 * @param tag an object of the caller, passed to policies, observers and the completion
 * @param promptLogprobs number of most likely tokens to report, with log-probabilities, at each position of the prompt;
 *     0 reports only the prompt's token, -1 nothing; at most {@value SamplingParams#MAX_LOGPROBS}
 */
public record RequestOptions(
        OptionalLong deadlineNanos,
        Optional<Duration> timeout,
        int priority,
        Optional<Object> tag,
        int promptLogprobs) {

    /** No deadline, priority 0, no tag, no log-probabilities of the prompt. */
    public static final RequestOptions NONE =
            new RequestOptions(OptionalLong.empty(), Optional.empty(), 0, Optional.empty(), -1);

    public RequestOptions {
        Objects.requireNonNull(deadlineNanos, "deadlineNanos");
        Objects.requireNonNull(timeout, "timeout");
        Objects.requireNonNull(tag, "tag");
        if (timeout.filter(limit -> limit.isNegative() || limit.isZero()).isPresent()) {
            throw new BadInput("the timeout is " + timeout.get() + "; it must be positive");
        }
        BadInput.require(
                promptLogprobs >= -1 && promptLogprobs <= SamplingParams.MAX_LOGPROBS,
                "prompt_logprobs",
                promptLogprobs,
                "-1 (off) to " + SamplingParams.MAX_LOGPROBS);
    }

    RequestOptions withDeadlineNanos(long nanos) {
        return new RequestOptions(OptionalLong.of(nanos), timeout, priority, tag, promptLogprobs);
    }

    RequestOptions withTimeout(Duration value) {
        return new RequestOptions(deadlineNanos, Optional.of(value), priority, tag, promptLogprobs);
    }

    RequestOptions withPriority(int value) {
        return new RequestOptions(deadlineNanos, timeout, value, tag, promptLogprobs);
    }

    RequestOptions withTag(Object value) {
        return new RequestOptions(deadlineNanos, timeout, priority, Optional.of(value), promptLogprobs);
    }

    RequestOptions withPromptLogprobs(int value) {
        return new RequestOptions(deadlineNanos, timeout, priority, tag, value);
    }

    /** Returns a copy with the timeout converted to a deadline, for a request submitted now. */
    RequestOptions startingAt(long nowNanos) {
        if (timeout.isEmpty()) {
            return this;
        }
        long end = nowNanos + EngineLimits.nanos(timeout.get());
        return new RequestOptions(
                OptionalLong.of(Math.min(end, deadlineNanos.orElse(Long.MAX_VALUE))),
                Optional.empty(),
                priority,
                tag,
                promptLogprobs);
    }
}
