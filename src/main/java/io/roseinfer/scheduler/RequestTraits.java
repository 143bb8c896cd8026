package io.roseinfer.scheduler;

import io.roseinfer.scheduler.policy.PolicyRequest;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The caller's facts about a request, for policies; built-in policies ignore them.
 *
 * @param arrivalNanos when it was submitted, in nanoseconds of the engine's clock
 * @param deadlineNanos when it should have ended, on the same clock, or {@link PolicyRequest#NO_DEADLINE}
 * @param priority higher is more urgent
 * @param tenant the user or group it belongs to; empty if there is none
 * @param tag an object of the caller
 * @param predictedNewTokens predicted tokens of the completion
 */
public record RequestTraits(
        long arrivalNanos,
        long deadlineNanos,
        int priority,
        String tenant,
        Optional<Object> tag,
        OptionalInt predictedNewTokens) {

    /** Time 0, no deadline, priority 0, no tenant, tag or prediction. */
    public static final RequestTraits NONE =
            new RequestTraits(0, PolicyRequest.NO_DEADLINE, 0, "", Optional.empty(), OptionalInt.empty());

    public RequestTraits {
        Objects.requireNonNull(tenant, "tenant");
        Objects.requireNonNull(tag, "tag");
        Objects.requireNonNull(predictedNewTokens, "predictedNewTokens");
    }
}
