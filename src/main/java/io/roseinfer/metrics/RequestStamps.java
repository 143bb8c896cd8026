package io.roseinfer.metrics;

/**
 * All stamps of one request: those of the thread that submitted it around those of the engine, all of one clock.
 *
 * @param submitStartNanos just before the submit call
 * @param submitEndNanos just after it returned
 * @param timeline what the engine recorded
 */
public record RequestStamps(long submitStartNanos, long submitEndNanos, RequestTimeline timeline) {

    /** When the first token was there; when the request ended, if it made none. */
    public long firstTokenNanos() {
        long[] tokens = timeline.tokenNanos();
        return tokens.length == 0 ? timeline.finishedNanos() : tokens[0];
    }

    /** Number of generated tokens. */
    public int tokens() {
        return timeline.tokenNanos().length;
    }
}
