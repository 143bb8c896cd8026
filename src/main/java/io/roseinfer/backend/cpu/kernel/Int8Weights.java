package io.roseinfer.backend.cpu.kernel;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;

import io.roseinfer.backend.Precision;
import java.util.Arrays;

/**
 * Int8 weights with a scale per output: a word has four inputs, the first in its lowest byte.
 *
 * <p>Packing is symmetric: an output's largest magnitude becomes 127. An output that holds NaN or infinity gets a scale that is not
 * finite, so that the fault shows in its outputs.
 */
public record Int8Weights() implements WeightFormat {
    /**
     * The value of {@link #decode} for a weight of one, so that kernels need not shift a weight before converting the lane. A power of two,
     * so that scales undo it exactly.
     */
    public static final float UNIT = 0x1p24f;

    @Override
    public Precision precision() {
        return Precision.INT8;
    }

    @Override
    public int perWord() {
        return 4;
    }

    @Override
    public boolean scalesOutputs() {
        return true;
    }

    /** Returns the weight times {@link #UNIT}. */
    @Override
    public float decode(int word, int which) {
        return (float) (word << (24 - 8 * which) & 0xff000000);
    }

    @Override
    public void output(PackedMatrix matrix, int output, float[] target, int from) {
        WeightFormat.super.output(matrix, output, target, from);
        float scale = matrix.scales()[output];
        for (int k = 0; k < matrix.inputs(); k++) {
            target[from + k] *= scale;
        }
    }

    @Override
    public Packer packer() {
        return new Quantizer();
    }

    private static final class Quantizer extends WordPacker {
        private static final int LARGEST = 127;

        /** Outputs with all weights below this become zero: their scale would lose bits. */
        private static final float VANISHING = 1e-25f;

        /** The weights of one input, copied: loops whose arrays share one index become vector code. */
        private final float[] row = new float[COLUMNS];

        private final float[] inverse = new float[COLUMNS];

        @Override
        public void pack(float[] weights, PackedMatrix packed, int panel) {
            Arrays.fill(inverse, 0f);
            for (int k = 0; k < packed.inputs(); k++) {
                System.arraycopy(weights, k * COLUMNS, row, 0, COLUMNS);
                for (int c = 0; c < COLUMNS; c++) {
                    inverse[c] = Math.max(inverse[c], Math.abs(row[c]));
                }
            }
            for (int c = 0; c < COLUMNS; c++) {
                packed.scales()[panel * COLUMNS + c] = inverse[c] / LARGEST / UNIT;
                inverse[c] = inverse[c] < VANISHING ? 0 : LARGEST / inverse[c];
            }
            super.pack(weights, packed, panel);
        }

        @Override
        void join(float[] weights, int from, int[] words, int at) {
            for (int c = 0; c < COLUMNS; c++) {
                words[at + c] = toByte(weights[from + c] * inverse[c])
                        | toByte(weights[from + COLUMNS + c] * inverse[c]) << 8
                        | toByte(weights[from + 2 * COLUMNS + c] * inverse[c]) << 16
                        | toByte(weights[from + 3 * COLUMNS + c] * inverse[c]) << 24;
            }
        }

        /** The nearest integer, ties to even, of a number from -127 to 127; the sum has it in its lowest bits. */
        private static int toByte(float scaled) {
            return Float.floatToRawIntBits(scaled + QuantizedRows.ROUNDER) & 0xff;
        }
    }
}
