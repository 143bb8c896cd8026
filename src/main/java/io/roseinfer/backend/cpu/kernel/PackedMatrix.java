package io.roseinfer.backend.cpu.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A weight matrix of shape [inputs, outputs] in panels of {@value #COLUMNS} outputs, each panel
 * [⌈inputs / perWord⌉][{@value #COLUMNS}] 32-bit words in native byte order. Padding outputs and inputs are zero.
 *
 * <p>Why 48: three 512-bit vectors by eight rows is the largest register tile that leaves room for its operands. Narrower vectors take a
 * panel in halves or quarters; GPT-2's 768, 2304 and 3072 outputs fill their panels.
 *
 * @param memory the panels, 64-byte aligned
 * @param scales one per output of all panels; empty without scales per output
 */
@SuppressWarnings("ArrayRecordComponent") // read in the innermost loops, never compared
public record PackedMatrix(WeightFormat format, int inputs, int outputs, MemorySegment memory, float[] scales) {
    /** Outputs per panel. */
    public static final int COLUMNS = 48;

    /** Bytes of one row of words in a panel. */
    public static final int ROW_BYTES = 4 * COLUMNS;

    /** Unused bytes before the first panel: a kernel may load words from a few bytes before their start. */
    private static final int LEAD_BYTES = 64;

    private static final ValueLayout.OfInt WORD = ValueLayout.JAVA_INT;

    /** Returns the panels for {@code outputs}. */
    public static int panels(int outputs) {
        return Math.ceilDiv(outputs, COLUMNS);
    }

    /** Returns the bytes of memory of a matrix. */
    public static long bytes(WeightFormat format, int inputs, int outputs) {
        return LEAD_BYTES + panels(outputs) * format.panelBytes(inputs);
    }

    public int panels() {
        return panels(outputs);
    }

    /** Returns the bytes of all panels, which a matmul reads. */
    public long panelBytes() {
        return panels() * format.panelBytes(inputs);
    }

    /** Returns the byte offset of a panel. */
    public long panelStart(int panel) {
        return LEAD_BYTES + panel * format.panelBytes(inputs);
    }

    /** Returns the outputs of a panel without padding. */
    public int columns(int panel) {
        return Math.min(COLUMNS, outputs - panel * COLUMNS);
    }

    /**
     * Writes a panel's weights of inputs {@code from <= k < to} to {@code target[(k - from) · COLUMNS + column]}, not scaled.
     *
     * @param words buffer of {@link #COLUMNS} words: interpreted code reads arrays many times faster than memory segments
     */
    public void unpack(int panel, int from, int to, int[] words, float[] target) {
        int perWord = format.perWord();
        long start = panelStart(panel);
        for (int k = from; k < to; k++) {
            MemorySegment.copy(memory, WORD, start + format.rowOf(k), words, 0, COLUMNS);
            format.decode(words, COLUMNS, k % perWord, target, (k - from) * COLUMNS);
        }
    }

    /** Copies one output's weights, scaled, to {@code target[from … from + inputs)}: a row of an embedding table. */
    public void output(int output, float[] target, int from) {
        format.output(this, output, target, from);
    }
}
