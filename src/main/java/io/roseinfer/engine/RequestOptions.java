package io.roseinfer.engine;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.RequestTraits;
import io.roseinfer.scheduler.policy.PolicyRequest;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Consumer;

/**
 * Options of a request that do not affect its tokens. Immutable; {@code with…} methods return modified copies.
 *
 * @param deadlineNanos reading of the engine's clock, by default {@link System#nanoTime}, at which the request is ended,
 *     in any state
 * @param timeout maximum time after its submission, positive; the earlier of the two applies
 * @param target time after its submission by which it should be complete, positive, for custom policies; it does not end
 *     the request
 * @param priority for custom policies, higher is more urgent; built-in policies ignore it
 * @param tenant the user or group that it belongs to, for custom policies; empty if there is none
 * @param predictedNewTokens predicted tokens of the completion, for custom policies; 0 or more
 * @param tag an object of the caller, passed to policies, observers and the completion
 * @param promptLogprobs number of most likely tokens to report, with log-probabilities, at each position of the prompt;
 *     0 reports only the prompt's token, -1 nothing; at most {@value SamplingParams#MAX_LOGPROBS}
 */
public record RequestOptions(
        OptionalLong deadlineNanos,
        Optional<Duration> timeout,
        Optional<Duration> target,
        int priority,
        String tenant,
        OptionalInt predictedNewTokens,
        Optional<Object> tag,
        int promptLogprobs) {

    /** No deadline or target, priority 0, no tenant, prediction or tag, no log-probabilities of the prompt. */
    public static final RequestOptions NONE = new RequestOptions(
            OptionalLong.empty(), Optional.empty(), Optional.empty(), 0, "", OptionalInt.empty(), Optional.empty(), -1);

    public RequestOptions {
        Objects.requireNonNull(deadlineNanos, "deadlineNanos");
        Objects.requireNonNull(timeout, "timeout");
        Objects.requireNonNull(target, "target");
        Objects.requireNonNull(tenant, "tenant");
        Objects.requireNonNull(predictedNewTokens, "predictedNewTokens");
        Objects.requireNonNull(tag, "tag");
        requirePositive("timeout", timeout);
        requirePositive("target", target);
        BadInput.require(
                predictedNewTokens.orElse(0) >= 0, "predicted_new_tokens", predictedNewTokens.orElse(0), "0 or more");
        BadInput.require(
                promptLogprobs >= -1 && promptLogprobs <= SamplingParams.MAX_LOGPROBS,
                "prompt_logprobs",
                promptLogprobs,
                "-1 (off) to " + SamplingParams.MAX_LOGPROBS);
    }

    private static void requirePositive(String name, Optional<Duration> value) {
        if (value.filter(time -> time.isNegative() || time.isZero()).isPresent()) {
            throw new BadInput("the " + name + " is " + value.get() + "; it must be positive");
        }
    }

    /** The components of options, to change some. */
    private static final class Fields {
        private OptionalLong deadlineNanos;
        private Optional<Duration> timeout;
        private Optional<Duration> target;
        private int priority;
        private String tenant;
        private OptionalInt predictedNewTokens;
        private Optional<Object> tag;
        private int promptLogprobs;

        Fields(RequestOptions from) {
            deadlineNanos = from.deadlineNanos;
            timeout = from.timeout;
            target = from.target;
            priority = from.priority;
            tenant = from.tenant;
            predictedNewTokens = from.predictedNewTokens;
            tag = from.tag;
            promptLogprobs = from.promptLogprobs;
        }
    }

    /** Returns a copy with changes. */
    private RequestOptions with(Consumer<Fields> change) {
        Fields fields = new Fields(this);
        change.accept(fields);
        return new RequestOptions(
                fields.deadlineNanos,
                fields.timeout,
                fields.target,
                fields.priority,
                fields.tenant,
                fields.predictedNewTokens,
                fields.tag,
                fields.promptLogprobs);
    }

    /** Returns a copy with a deadline on the engine's clock. */
    public RequestOptions withDeadlineNanos(long nanos) {
        return with(fields -> fields.deadlineNanos = OptionalLong.of(nanos));
    }

    /** Returns a copy with another timeout. */
    public RequestOptions withTimeout(Duration value) {
        Objects.requireNonNull(value, "timeout");
        return with(fields -> fields.timeout = Optional.of(value));
    }

    /** Returns a copy with another target. */
    public RequestOptions withTarget(Duration value) {
        Objects.requireNonNull(value, "target");
        return with(fields -> fields.target = Optional.of(value));
    }

    /** Returns a copy with another priority. */
    public RequestOptions withPriority(int value) {
        return with(fields -> fields.priority = value);
    }

    /** Returns a copy with another tenant. */
    public RequestOptions withTenant(String value) {
        return with(fields -> fields.tenant = value);
    }

    /** Returns a copy with a prediction. */
    public RequestOptions withPredictedNewTokens(int value) {
        return with(fields -> fields.predictedNewTokens = OptionalInt.of(value));
    }

    /** Returns a copy with another tag. */
    public RequestOptions withTag(Object value) {
        Objects.requireNonNull(value, "tag");
        return with(fields -> fields.tag = Optional.of(value));
    }

    /** Returns a copy with other log-probabilities of the prompt. */
    public RequestOptions withPromptLogprobs(int value) {
        return with(fields -> fields.promptLogprobs = value);
    }

    /** Returns a copy with the timeout converted to a deadline, for a request submitted now. */
    RequestOptions startingAt(long nowNanos) {
        if (timeout.isEmpty()) {
            return this;
        }
        long end = nowNanos + EngineLimits.nanos(timeout.get());
        return with(fields -> {
            fields.deadlineNanos = OptionalLong.of(Math.min(end, deadlineNanos.orElse(Long.MAX_VALUE)));
            fields.timeout = Optional.empty();
        });
    }

    /**
     * Returns when a request that was submitted at {@code arrivalNanos} should be complete: at its deadline or its target,
     * whichever is earlier, or {@link PolicyRequest#NO_DEADLINE}. Allocates no memory.
     */
    long dueNanos(long arrivalNanos) {
        long targetNanos =
                target.isPresent() ? arrivalNanos + EngineLimits.nanos(target.get()) : PolicyRequest.NO_DEADLINE;
        return Math.min(targetNanos, deadlineNanos.orElse(PolicyRequest.NO_DEADLINE));
    }

    /** Returns what policies see of these options, for a request that was submitted at {@code arrivalNanos}. */
    RequestTraits traits(long arrivalNanos) {
        return new RequestTraits(arrivalNanos, dueNanos(arrivalNanos), priority, tenant, tag, predictedNewTokens);
    }
}
