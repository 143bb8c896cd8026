package io.roseinfer.backend.cpu.kernel;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Packs words that several inputs share, and writes some rows of them together. */
abstract class WordPacker implements WeightFormat.Packer {
    /** Rows of words that are written to memory together. */
    private static final int ROWS = 16;

    private final int[] words = new int[ROWS * COLUMNS];

    /** Joins the inputs of a row of words, whose weights begin at {@code from}, to the words at {@code at}. */
    abstract void join(float[] weights, int from, int[] words, int at);

    @Override
    public void pack(float[] weights, PackedMatrix packed, int panel) {
        int perWord = packed.format().perWord();
        int rows = Math.ceilDiv(packed.inputs(), perWord);
        long at = packed.panelStart(panel);
        for (int row = 0; row < rows; row += ROWS) {
            int together = Math.min(ROWS, rows - row);
            for (int i = 0; i < together; i++) {
                join(weights, (row + i) * perWord * COLUMNS, words, i * COLUMNS);
            }
            MemorySegment.copy(words, 0, packed.memory(), ValueLayout.JAVA_INT, at, together * COLUMNS);
            at += (long) together * PackedMatrix.ROW_BYTES;
        }
    }
}
