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
 * @param cachedTokens prompt tokens that were found in the prefix cache instead of computed
 */
public record RequestCounts(
        long accepted,
        long refused,
        Map<FinishReason, Long> ended,
        long promptTokens,
        long generatedTokens,
        long cachedTokens) {

    public RequestCounts {
        ended = Map.copyOf(ended);
    }

    /** Counts of a loop without an engine around it, which counts no requests. */
    static RequestCounts none(long cachedTokens) {
        return new RequestCounts(0, 0, Map.of(), 0, 0, cachedTokens);
    }
}
