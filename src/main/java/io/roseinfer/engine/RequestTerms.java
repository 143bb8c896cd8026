package io.roseinfer.engine;

import io.roseinfer.base.RoseException.BadInput;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * How a request is to be served, beside what it is to yield.
 *
 * @param deadlineNanos reading of the engine's clock at which the request is ended, wherever it is
 * @param timeout the same, counted from the moment it is submitted; of the two the earlier counts
 * @param priority for policies that look at it, higher is more urgent; the default policies do not
 * @param tag the caller's own object, handed to policies and observers and back with the completion; never looked into
 */
public record RequestTerms(OptionalLong deadlineNanos, Optional<Duration> timeout, int priority, Optional<Object> tag) {

    /** No deadline, priority 0, no tag. */
    public static final RequestTerms NONE =
            new RequestTerms(OptionalLong.empty(), Optional.empty(), 0, Optional.empty());

    public RequestTerms {
        Objects.requireNonNull(deadlineNanos, "deadlineNanos");
        Objects.requireNonNull(timeout, "timeout");
        Objects.requireNonNull(tag, "tag");
        if (timeout.filter(limit -> limit.isNegative() || limit.isZero()).isPresent()) {
            throw new BadInput("the timeout is " + timeout.get() + "; it must be positive");
        }
    }

    /** These terms with the timeout made a deadline, for a request that is submitted now. */
    RequestTerms startingAt(long nowNanos) {
        if (timeout.isEmpty()) {
            return this;
        }
        long end = nowNanos + EngineLimits.nanos(timeout.get());
        return new RequestTerms(
                OptionalLong.of(Math.min(end, deadlineNanos.orElse(Long.MAX_VALUE))), Optional.empty(), priority, tag);
    }
}
