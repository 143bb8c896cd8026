package io.roseinfer.batch;

import io.roseinfer.base.RoseException.BadInput;

/**
 * The options of a batch.
 *
 * @param inFlight maximum lines between input and output, which determine the memory a batch needs, in addition to some
 *     30 bytes per line for its key
 * @param ordered whether responses are written in input order, instead of as they finish
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
