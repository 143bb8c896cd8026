package io.roseinfer.backend.cpu.pack;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;

import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import io.roseinfer.model.OpenMatrix;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * Brings a matrix into the layout of a {@link PackedMatrix}, panel by panel; panels may be packed by different threads.
 *
 * <p>INT8 is symmetric with one scale per output: the largest magnitude becomes 127. An output that holds NaN or infinity gets a
 * scale that is not finite, so that the fault shows in its sums instead of vanishing. INT4 is {@link Int4Packer}'s.
 */
public final class PanelPacker {
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

    /** Packs one panel by way of {@code buffer}, at least {@code inputs × COLUMNS}. */
    public void pack(int panel, float[] buffer) {
        int used = packed.inputs() * COLUMNS;
        if (order.columns(panel) < COLUMNS) {
            Arrays.fill(buffer, 0, used, 0f);
        }
        matrix.copyTo(order.first(panel), order.columns(panel), buffer, COLUMNS);
        switch (packed.format()) {
            case F32 ->
                MemorySegment.copy(buffer, 0, packed.memory(), ValueLayout.JAVA_FLOAT, packed.panelStart(panel), used);
            case BF16, INT8 -> encode(panel, buffer);
            case INT4 -> new Int4Packer().pack(buffer, packed, panel);
        }
    }

    private void encode(int panel, float[] buffer) {
        float[] inverse = new float[COLUMNS];
        if (packed.format() == WeightFormat.INT8) {
            scale(panel, buffer, inverse);
        }
        int perWord = packed.format().perWord();
        long at = packed.panelStart(panel);
        int[] words = new int[COLUMNS];
        for (int k = 0; k < packed.inputs(); k += perWord) {
            int present = Math.min(perWord, packed.inputs() - k);
            for (int c = 0; c < COLUMNS; c++) {
                int word = 0;
                for (int which = 0; which < present; which++) {
                    word |= packed.format().encode(buffer[(k + which) * COLUMNS + c], inverse[c], which);
                }
                words[c] = word;
            }
            MemorySegment.copy(words, 0, packed.memory(), ValueLayout.JAVA_INT, at, COLUMNS);
            at += PackedMatrix.ROW_BYTES;
        }
    }

    private void scale(int panel, float[] buffer, float[] inverse) {
        for (int k = 0; k < packed.inputs(); k++) {
            for (int c = 0; c < COLUMNS; c++) {
                inverse[c] = Math.max(inverse[c], Math.abs(buffer[k * COLUMNS + c]));
            }
        }
        for (int c = 0; c < COLUMNS; c++) {
            packed.scales()[panel * COLUMNS + c] = inverse[c] / INT8_LARGEST / WeightFormat.INT8_UNIT;
            inverse[c] = inverse[c] < INT8_VANISHING ? 0 : INT8_LARGEST / inverse[c];
        }
    }
}
