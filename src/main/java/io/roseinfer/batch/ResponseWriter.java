package io.roseinfer.batch;

import java.util.HashMap;
import java.util.Map;

/** Writes responses: as they finish, or in the order of their lines. */
final class ResponseWriter {
    private final BatchOutput output;
    private final InFlightWindow window;
    private final boolean ordered;

    /** Responses waiting for earlier ones, by sequence number; at most as many as the window's size. */
    private final Map<Long, BatchResponse> early = new HashMap<>();

    private long next;
    private boolean hasGap;
    private long answered;
    private long refused;
    private long promptTokens;
    private long completionTokens;

    /**
     * Creates a writer.
     *
     * @param window is left by each line whose response is written
     */
    ResponseWriter(BatchOutput output, InFlightWindow window, boolean ordered) {
        this.output = output;
        this.window = window;
        this.ordered = ordered;
    }

    /**
     * Adds a line's response.
     *
     * @param sequence the line's sequence number
     */
    void put(long sequence, BatchResponse response) {
        if (!ordered) {
            write(response);
            return;
        }
        early.put(sequence, response);
        for (BatchResponse due = early.remove(next); due != null; due = early.remove(next)) {
            next++;
            hasGap |= due.isNone();
            write(hasGap ? BatchResponse.NONE : due);
        }
    }

    private void write(BatchResponse response) {
        if (!response.isNone()) {
            output.write(response.bytes());
            answered += response.refused() ? 0 : 1;
            refused += response.refused() ? 1 : 0;
            promptTokens += response.promptTokens();
            completionTokens += response.completionTokens();
        }
        window.leave();
    }

    /** Returns totals that include what was written. */
    BatchTotals totals(long lines, long skipped) {
        return new BatchTotals(lines, skipped, answered, refused, promptTokens, completionTokens);
    }
}
