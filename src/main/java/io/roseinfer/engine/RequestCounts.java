package io.roseinfer.engine;

import io.roseinfer.scheduler.FinishReason;
import java.util.Map;
import java.util.Objects;

/**
 * An engine's requests and their tokens since it was opened; all values only increase.
 *
 * @param accepted requests accepted; equals the number of ended ones when nothing is in flight
 * @param rejected requests whose submission failed: invalid input, too many in flight, a closed engine
 * @param ended accepted requests that have ended, for every reason
 * @param promptTokens tokens of tokenized prompts
 * @param generatedTokens tokens delivered to requests that have ended
 */
public record RequestCounts(
        long accepted, long rejected, Map<FinishReason, Long> ended, long promptTokens, long generatedTokens) {

    /** All zero. */
    static final RequestCounts NONE = new RequestCounts(0, 0, Map.of(), 0, 0);

    public RequestCounts {
        ended = Map.copyOf(Objects.requireNonNull(ended, "ended"));
    }
}
