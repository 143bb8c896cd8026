package io.roseinfer.backend.cpu.kernel;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Packs formats with several inputs per word, several rows of words at a time. */
abstract class WordPacker implements WeightFormat.Packer {
    /** Rows of words written at a time. */
    private static final int ROWS = 16;

    private final int[] words = new int[ROWS * COLUMNS];

    /** Packs a row of words from the weights at {@code from} to the words at {@code at}. */
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
