package io.roseinfer.batch;

/**
 * The progress of a batch.
 *
 * @param lines of the input read so far, except blank ones
 * @param skipped lines whose responses the output already had
 * @param answered lines with a completion
 * @param refused lines with an error
 * @param promptTokens of the answered lines
 * @param completionTokens of the answered lines
 */
public record BatchTotals(
        long lines, long skipped, long answered, long refused, long promptTokens, long completionTokens) {

    /** Returns the number of lines in flight. */
    public long inFlight() {
        return lines - skipped - answered - refused;
    }
}
