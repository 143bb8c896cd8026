package io.roseinfer.engine;

import io.roseinfer.base.Check;
import io.roseinfer.base.RoseException;
import io.roseinfer.scheduler.FinishReason;
import java.util.Optional;

/**
 * How a request ended.
 *
 * @param stopString the stop string that ended it, if one did
 * @param failure what it failed of; present with {@link FinishReason#ERROR}, and with no other reason
 */
record Ending(FinishReason reason, Optional<String> stopString, Optional<RoseException> failure) {
    static final Ending STOP = plain(FinishReason.STOP);
    static final Ending LENGTH = plain(FinishReason.LENGTH);
    static final Ending CANCELLED = plain(FinishReason.CANCELLED);
    static final Ending DEADLINE = plain(FinishReason.DEADLINE);

    Ending {
        Check.that(failure.isPresent() == (reason == FinishReason.ERROR), "a failure without ERROR, or ERROR without");
        Check.that(stopString.isEmpty() || reason == FinishReason.STOP, "a stop string without STOP");
    }

    private static Ending plain(FinishReason reason) {
        return new Ending(reason, Optional.empty(), Optional.empty());
    }

    static Ending stoppedBy(String stopString) {
        return new Ending(FinishReason.STOP, Optional.of(stopString), Optional.empty());
    }

    static Ending failed(RoseException failure) {
        return new Ending(FinishReason.ERROR, Optional.empty(), Optional.of(failure));
    }
}
