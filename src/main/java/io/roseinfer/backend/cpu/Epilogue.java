package io.roseinfer.backend.cpu;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;

import io.roseinfer.backend.cpu.ModelWeights.Linear;
import io.roseinfer.backend.cpu.kernel.PackedMatrix;

/** Epilogue of a panel's matmul: applies scale and bias and stores the result. */
final class Epilogue {
    private static final float[] NO_BIAS = {};

    private Epilogue() {}

    /** Replaces {@code sums[r][c]} with {@code sums[r][c] · scale + bias}, by FMA if there is a scale. */
    static void finish(float[] sums, int rows, Linear linear, int panel) {
        finish(sums, rows, linear.matrix(), linear.bias(), panel);
    }

    /** Applies the scale only. */
    static void finish(float[] sums, int rows, PackedMatrix matrix, int panel) {
        finish(sums, rows, matrix, NO_BIAS, panel);
    }

    private static void finish(float[] sums, int rows, PackedMatrix matrix, float[] bias, int panel) {
        float[] scales = matrix.scales();
        int first = panel * COLUMNS;
        int columns = matrix.columns(panel);
        for (int r = 0; r < rows; r++) {
            int at = r * COLUMNS;
            if (scales.length > 0 && bias.length > 0) {
                for (int c = 0; c < columns; c++) {
                    sums[at + c] = Math.fma(sums[at + c], scales[first + c], bias[first + c]);
                }
            } else if (scales.length > 0) {
                for (int c = 0; c < columns; c++) {
                    sums[at + c] *= scales[first + c];
                }
            } else if (bias.length > 0) {
                for (int c = 0; c < columns; c++) {
                    sums[at + c] += bias[first + c];
                }
            }
        }
    }

    /** Stores a panel to a row-major result. */
    static void store(float[] sums, int rows, PackedMatrix matrix, int panel, float[] result) {
        int columns = matrix.columns(panel);
        for (int r = 0; r < rows; r++) {
            int to = r * matrix.outputs() + panel * COLUMNS;
            System.arraycopy(sums, r * COLUMNS, result, to, columns);
        }
    }

    /** Adds a panel to a row-major result. */
    static void add(float[] sums, int rows, PackedMatrix matrix, int panel, float[] result) {
        int columns = matrix.columns(panel);
        for (int r = 0; r < rows; r++) {
            int from = r * COLUMNS;
            int to = r * matrix.outputs() + panel * COLUMNS;
            for (int c = 0; c < columns; c++) {
                result[to + c] += sums[from + c];
            }
        }
    }
}
