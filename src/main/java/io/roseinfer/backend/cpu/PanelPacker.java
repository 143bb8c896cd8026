package io.roseinfer.backend.cpu;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;

import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import io.roseinfer.backend.cpu.kernel.QuantizedRows;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import io.roseinfer.model.OpenMatrix;
import io.roseinfer.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * Brings a matrix into the layout of a {@link PackedMatrix}, panel by panel; panels may be packed by different threads.
 *
 * <p>INT8 is symmetric with one scale per output: the largest magnitude becomes 127. An output that holds NaN or infinity gets a
 * scale that is not finite, so that the fault shows in its sums instead of vanishing. INT4 is {@link Int4Packer}'s.
 */
final class PanelPacker {
    private static final int INT8_LARGEST = 127;

    /** Outputs whose weights are all smaller become zero: their scale would lose bits. */
    private static final float INT8_VANISHING = 1e-25f;

    private final OpenMatrix matrix;
    private final PackedMatrix packed;
    private final PanelOrder order;

    public PanelPacker(OpenMatrix matrix, PackedMatrix packed, PanelOrder order) {
        this.matrix = matrix;
        this.packed = packed;
        this.order = order;
    }

    /** Packs one panel by way of {@code buffer}, which is for at least as many inputs. */
    public void pack(int panel, PackingBuffer buffer) {
        float[] weights = buffer.weights;
        int used = packed.inputs() * COLUMNS;
        int padded = Math.ceilDiv(packed.inputs(), packed.format().perWord())
                * packed.format().perWord()
                * COLUMNS;
        Arrays.fill(weights, order.columns(panel) < COLUMNS ? 0 : used, Math.max(used, padded), 0f);
        matrix.copyTo(order.first(panel), order.columns(panel), weights, COLUMNS, buffer.reading);
        switch (packed.format()) {
            case F32 ->
                MemorySegment.copy(weights, 0, packed.memory(), ValueLayout.JAVA_FLOAT, packed.panelStart(panel), used);
            case BF16 -> encode(panel, buffer);
            case INT8 -> {
                scale(panel, buffer);
                encode(panel, buffer);
            }
            case INT4 -> buffer.int4.pack(weights, packed, panel);
        }
    }

    private void encode(int panel, PackingBuffer buffer) {
        int perWord = packed.format().perWord();
        int rows = Math.ceilDiv(packed.inputs(), perWord);
        long at = packed.panelStart(panel);
        for (int row = 0; row < rows; row += PackingBuffer.WORD_ROWS) {
            int together = Math.min(PackingBuffer.WORD_ROWS, rows - row);
            for (int i = 0; i < together; i++) {
                int from = (row + i) * perWord * COLUMNS;
                if (packed.format() == WeightFormat.BF16) {
                    joinBf16(buffer.weights, from, buffer.words, i * COLUMNS);
                } else {
                    joinInt8(buffer.weights, from, buffer.inverse, buffer.words, i * COLUMNS);
                }
            }
            MemorySegment.copy(buffer.words, 0, packed.memory(), ValueLayout.JAVA_INT, at, together * COLUMNS);
            at += (long) together * PackedMatrix.ROW_BYTES;
        }
    }

    /** A row of words of two inputs, the first in the lower half. */
    private static void joinBf16(float[] weights, int from, int[] words, int at) {
        for (int c = 0; c < COLUMNS; c++) {
            int low = Tensor.floatToBf16(weights[from + c]) & 0xffff;
            words[at + c] = low | Tensor.floatToBf16(weights[from + COLUMNS + c]) << 16;
        }
    }

    /** A row of words of four inputs, the first in the lowest byte. */
    private static void joinInt8(float[] weights, int from, float[] inverse, int[] words, int at) {
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

    private void scale(int panel, PackingBuffer buffer) {
        float[] inverse = buffer.inverse;
        float[] row = buffer.row;
        Arrays.fill(inverse, 0f);
        for (int k = 0; k < packed.inputs(); k++) {
            System.arraycopy(buffer.weights, k * COLUMNS, row, 0, COLUMNS);
            for (int c = 0; c < COLUMNS; c++) {
                inverse[c] = Math.max(inverse[c], Math.abs(row[c]));
            }
        }
        for (int c = 0; c < COLUMNS; c++) {
            packed.scales()[panel * COLUMNS + c] = inverse[c] / INT8_LARGEST / WeightFormat.INT8_UNIT;
            inverse[c] = inverse[c] < INT8_VANISHING ? 0 : INT8_LARGEST / inverse[c];
        }
    }
}
