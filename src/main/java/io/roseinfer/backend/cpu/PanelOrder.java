package io.roseinfer.backend.cpu;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;

import io.roseinfer.backend.cpu.kernel.PackedMatrix;

/**
 * The outputs in each panel of a packed matrix.
 *
 * @param outputs outputs of the matrix
 * @param alternating whether panels alternate between the two halves of the outputs, gate and up, so that one worker can compute
 *     and combine both
 */
record PanelOrder(int outputs, boolean alternating) {

    private int half() {
        return outputs / 2;
    }

    int panels() {
        return alternating ? 2 * PackedMatrix.panels(half()) : PackedMatrix.panels(outputs);
    }

    /** Returns the outputs of the packed matrix, including padding between the halves. */
    public int packedOutputs() {
        return alternating ? panels() * COLUMNS : outputs;
    }

    /** Returns the first output of a panel. */
    int first(int panel) {
        return alternating ? panel % 2 * half() + panel / 2 * COLUMNS : panel * COLUMNS;
    }

    /** Returns the number of outputs of a panel. */
    int columns(int panel) {
        return alternating
                ? Math.min(COLUMNS, half() - panel / 2 * COLUMNS)
                : Math.min(COLUMNS, outputs - panel * COLUMNS);
    }

    /** Reorders one value per output to panel order; an empty array stays empty. */
    public float[] arrange(float[] values) {
        if (!alternating || values.length == 0) {
            return values;
        }
        float[] arranged = new float[packedOutputs()];
        for (int panel = 0; panel < panels(); panel++) {
            System.arraycopy(values, first(panel), arranged, panel * COLUMNS, columns(panel));
        }
        return arranged;
    }
}
