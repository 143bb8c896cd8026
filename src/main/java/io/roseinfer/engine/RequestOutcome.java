package io.roseinfer.engine;

import io.roseinfer.base.Check;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.Stopped;
import io.roseinfer.scheduler.FinishReason;
import java.util.Optional;

/**
 * The outcome of a request.
 *
 * @param stopString the stop string that ended it, if any
 * @param failure the cause; present only with {@link FinishReason#ERROR}
 */
record RequestOutcome(FinishReason reason, Optional<String> stopString, Optional<RoseException> failure) {
    static final RequestOutcome STOP = plain(FinishReason.STOP);
    static final RequestOutcome LENGTH = plain(FinishReason.LENGTH);
    static final RequestOutcome CANCELLED = plain(FinishReason.CANCELLED);
    static final RequestOutcome DEADLINE = plain(FinishReason.DEADLINE);

    RequestOutcome {
        Check.that(
                failure.isPresent() == (reason == FinishReason.ERROR), "a failure must be present exactly for ERROR");
        Check.that(stopString.isEmpty() || reason == FinishReason.STOP, "a stop string without STOP");
    }

    private static RequestOutcome plain(FinishReason reason) {
        return new RequestOutcome(reason, Optional.empty(), Optional.empty());
    }

    static RequestOutcome stoppedBy(String stopString) {
        return new RequestOutcome(FinishReason.STOP, Optional.of(stopString), Optional.empty());
    }

    /** Returns the outcome of a request that may be the cause if its engine or replica has stopped. */
    RequestOutcome suspectingRequest() {
        return failure.orElse(null) instanceof Stopped stopped ? failed(stopped.suspectingRequest()) : this;
    }

    static RequestOutcome failed(RoseException failure) {
        return new RequestOutcome(FinishReason.ERROR, Optional.empty(), Optional.of(failure));
    }
}
