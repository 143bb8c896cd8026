package io.roseinfer.backend.cuda;

import io.roseinfer.backend.StepInputs;

/**
 * A step's rows as the kernels see them. A row with drafts is split: each of its tokens is a decode row with the context up to it, and
 * these rows share the block table. So drafts run in the kernels and graphs of decode steps.
 */
final class KernelRows {
    /** Maximum tokens of a row that is split. Decode attention looks back at most 31 rows for tokens of the same step. */
    static final int MAX_SPLIT = 16;

    private final boolean[] isSplit;
    private int rows;
    private int decodeRows;

    /** Creates an empty step of up to {@code maxRows} rows. */
    KernelRows(int maxRows) {
        isSplit = new boolean[maxRows];
    }

    /** Returns the rows of a step. */
    static KernelRows of(StepInputs in) {
        KernelRows rows = new KernelRows(in.rows());
        rows.set(in);
        return rows;
    }

    /** Splits the rows of another step. */
    void set(StepInputs in) {
        rows = 0;
        decodeRows = 0;
        int sample = 0;
        for (int row = 0; row < in.rows(); row++) {
            int tokens = in.rowStart(row + 1) - in.rowStart(row);
            int draws = 0;
            while (sample < in.samples() && in.sampleRow(sample) == row) {
                draws += in.reported(sample) == StepInputs.DRAWN ? 1 : 0;
                sample++;
            }
            isSplit[row] = draws == tokens && tokens > 1 && tokens <= MAX_SPLIT;
            rows += isSplit[row] ? tokens : 1;
            decodeRows += isSplit[row] || tokens == 1 ? tokens : 0;
        }
    }

    /** Returns the number of rows after splitting. */
    int rows() {
        return rows;
    }

    /** Returns the number of rows of one token after splitting. */
    int decodeRows() {
        return decodeRows;
    }

    /** Returns the number of rows that a row of the step becomes. */
    int parts(StepInputs in, int row) {
        return isSplit[row] ? in.rowStart(row + 1) - in.rowStart(row) : 1;
    }
}
