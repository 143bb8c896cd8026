package io.roseinfer.backend.cpu.scalar;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;

import io.roseinfer.backend.cpu.kernel.MatmulInput;
import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import io.roseinfer.backend.cpu.kernel.PanelMatmul;
import io.roseinfer.backend.cpu.kernel.QuantizedRows;
import java.util.Arrays;

/** Reference matmul, one accumulator at a time in the order of {@link PanelMatmul}. */
final class ScalarMatmul implements PanelMatmul {
    /** Bytes of the arrays. */
    static final long BYTES = 4L * (2 * COLUMNS + QuantizedRows.GROUP * COLUMNS + QuantizedRows.GROUP);

    private final int[] words = new int[COLUMNS];
    private final float[] weightRow = new float[COLUMNS];
    private final float[] weightGroup = new float[QuantizedRows.GROUP * COLUMNS];
    private final int[] activations = new int[QuantizedRows.GROUP];

    @Override
    public int tallestTile() {
        return 1;
    }

    @Override
    public int[] representativeRows() {
        return new int[] {1};
    }

    @Override
    public void multiply(MatmulInput x, int rows, PackedMatrix weights, int panel, float[] sums) {
        if (weights.format().quantizesInputs()) {
            multiply(x.words(), rows, weights, panel, sums);
        } else {
            multiply(x.floats(), rows, weights, panel, sums);
        }
    }

    private void multiply(float[] x, int rows, PackedMatrix weights, int panel, float[] sums) {
        int inputs = weights.inputs();
        Arrays.fill(sums, 0, rows * COLUMNS, 0f);
        for (int k = 0; k < inputs; k++) {
            weights.unpack(panel, k, k + 1, words, weightRow);
            for (int r = 0; r < rows; r++) {
                float a = x[r * inputs + k];
                for (int c = 0; c < COLUMNS; c++) {
                    sums[r * COLUMNS + c] = Math.fma(a, weightRow[c], sums[r * COLUMNS + c]);
                }
            }
        }
    }

    private void multiply(int[] x, int rows, PackedMatrix weights, int panel, float[] sums) {
        int groups = QuantizedRows.groups(weights.inputs());
        Arrays.fill(sums, 0, rows * COLUMNS, 0f);
        for (int group = 0; group < groups; group++) {
            int first = group * QuantizedRows.GROUP;
            int count = Math.clamp(weights.inputs() - first, 0, QuantizedRows.GROUP);
            weights.unpack(panel, first, first + count, words, weightGroup);
            for (int r = 0; r < rows; r++) {
                int words = (r * groups + group) * QuantizedRows.GROUP_WORDS;
                QuantizedRows.unpack(x, words, activations);
                float scale = Float.intBitsToFloat(x[words + QuantizedRows.SCALE]);
                for (int c = 0; c < COLUMNS; c++) {
                    float both = weights.format().groupScale(weights, panel, c, group) * scale;
                    sums[r * COLUMNS + c] = Math.fma((float) dot(count, c), both, sums[r * COLUMNS + c]);
                }
            }
        }
    }

    private int dot(int count, int column) {
        int sum = 0;
        for (int k = 0; k < count; k++) {
            sum += activations[k] * (int) weightGroup[k * COLUMNS + column];
        }
        return sum;
    }
}
