package io.roseinfer.batch;

import io.roseinfer.base.RoseException.BadInput;

/**
 * How a batch is worked off.
 *
 * @param inFlight most lines between input and output; what they hold is what a batch needs of memory, beside some 30 bytes for each
 *     line's key
 * @param ordered whether answers are written in the order of the input, rather than as they come
 * @param feeders threads that check bodies and tokenize prompts
 */
public record BatchOptions(int inFlight, boolean ordered, int feeders) {
    public BatchOptions {
        if (inFlight < 1) {
            throw new BadInput("in_flight is " + inFlight + "; it must be positive");
        }
        if (feeders < 1) {
            throw new BadInput("feeders is " + feeders + "; it must be positive");
        }
    }
}
