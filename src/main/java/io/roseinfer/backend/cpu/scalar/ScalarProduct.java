package io.roseinfer.backend.cpu.scalar;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;

import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import io.roseinfer.backend.cpu.kernel.PanelProduct;
import java.util.Arrays;

final class ScalarProduct implements PanelProduct {
    private final float[] weightRow = new float[COLUMNS];

    @Override
    public int tallestTile() {
        return 1;
    }

    @Override
    public void multiply(float[] x, int rows, PackedMatrix weights, int panel, float[] sums) {
        int inputs = weights.inputs();
        Arrays.fill(sums, 0, rows * COLUMNS, 0f);
        for (int k = 0; k < inputs; k++) {
            weights.unpack(panel, k, k + 1, weightRow);
            for (int r = 0; r < rows; r++) {
                float a = x[r * inputs + k];
                for (int c = 0; c < COLUMNS; c++) {
                    sums[r * COLUMNS + c] = Math.fma(a, weightRow[c], sums[r * COLUMNS + c]);
                }
            }
        }
    }
}
