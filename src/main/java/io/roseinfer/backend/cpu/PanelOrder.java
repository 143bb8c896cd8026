package io.roseinfer.backend.cpu;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;

import io.roseinfer.backend.cpu.kernel.PackedMatrix;

/**
 * Which outputs of a matrix each panel of its packed form has.
 *
 * @param outputs those of the matrix
 * @param alternating whether panels take turns between the first half of the outputs and the second, each half with its own last
 *     panel. So a gate's panel is followed by the panel it is for: whoever computes both has all it needs to join them
 */
record PanelOrder(int outputs, boolean alternating) {

    private int half() {
        return outputs / 2;
    }

    int panels() {
        return alternating ? 2 * PackedMatrix.panels(half()) : PackedMatrix.panels(outputs);
    }

    /** Outputs of the packed matrix; with those between the halves that are zero. */
    public int packedOutputs() {
        return alternating ? panels() * COLUMNS : outputs;
    }

    /** The first output of a panel. */
    int first(int panel) {
        return alternating ? panel % 2 * half() + panel / 2 * COLUMNS : panel * COLUMNS;
    }

    /** How many outputs a panel has. */
    int columns(int panel) {
        return alternating
                ? Math.min(COLUMNS, half() - panel / 2 * COLUMNS)
                : Math.min(COLUMNS, outputs - panel * COLUMNS);
    }

    /** Brings one value per output, or none at all, into the order of the panels. */
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
