package io.roseinfer.engine;

import io.roseinfer.scheduler.FinishReason;
import java.util.Map;

/**
 * An engine's requests and their tokens since it was opened; every number only grows.
 *
 * @param accepted requests that were accepted; as many have ended, in whatever way, once nothing is in flight
 * @param refused requests whose submission failed: bad input, too many in flight, a closed engine
 * @param ended accepted requests that have ended, by reason; every reason is there
 * @param promptTokens tokens of the prompts that were tokenized
 * @param generatedTokens tokens delivered to requests that have ended
 */
public record RequestCounts(
        long accepted, long refused, Map<FinishReason, Long> ended, long promptTokens, long generatedTokens) {

    /** None counted. */
    static final RequestCounts NONE = new RequestCounts(0, 0, Map.of(), 0, 0);

    public RequestCounts {
        ended = Map.copyOf(ended);
    }
}
