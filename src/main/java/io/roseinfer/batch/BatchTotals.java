package io.roseinfer.batch;

/**
 * How far a batch is.
 *
 * @param lines of the input read so far, blank ones aside
 * @param skipped of them, because the output had their answers
 * @param answered with a completion
 * @param refused answered with an error
 * @param promptTokens of the lines answered
 * @param completionTokens of the lines answered
 */
public record BatchTotals(
        long lines, long skipped, long answered, long refused, long promptTokens, long completionTokens) {

    /** Lines whose answers are on their way. */
    public long inFlight() {
        return lines - skipped - answered - refused;
    }
}
