package io.roseinfer.backend.cpu.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A weight matrix of shape [inputs, outputs] as the kernels stream it: panels of {@value #COLUMNS} outputs, each panel
 * [⌈inputs / perWord⌉][{@value #COLUMNS}] 32-bit words in native byte order. Outputs beyond the last and inputs beyond the last
 * are zero.
 *
 * <p>Why 48: three 512-bit vectors by eight rows is the largest register tile that leaves room for its operands, and narrower
 * vectors take the panel in halves or quarters; GPT-2's 768, 2304 and 3072 outputs fill their panels.
 *
 * @param memory the panels, 64-byte aligned
 * @param scales what an output's sum is multiplied by, one per output of all panels; empty where they are not scaled, or not by output
 */
@SuppressWarnings("ArrayRecordComponent") // read in the innermost loops; nobody compares matrices
public record PackedMatrix(WeightFormat format, int inputs, int outputs, MemorySegment memory, float[] scales) {
    /** Outputs per panel. */
    public static final int COLUMNS = 48;

    /** Bytes of one row of words in a panel. */
    public static final int ROW_BYTES = 4 * COLUMNS;

    /** Bytes before the first panel that mean nothing: a kernel may load words from a few bytes before they begin. */
    private static final int LEAD_BYTES = 64;

    private static final ValueLayout.OfInt WORD = ValueLayout.JAVA_INT;

    /** Panels that hold this many outputs. */
    public static int panels(int outputs) {
        return Math.ceilDiv(outputs, COLUMNS);
    }

    /** Bytes of memory for a matrix of this shape. */
    public static long bytes(WeightFormat format, int inputs, int outputs) {
        return LEAD_BYTES + panels(outputs) * format.panelBytes(inputs);
    }

    public int panels() {
        return panels(outputs);
    }

    /** Bytes of all panels: what a product reads. */
    public long panelBytes() {
        return panels() * format.panelBytes(inputs);
    }

    /** Byte offset of a panel. */
    public long panelStart(int panel) {
        return LEAD_BYTES + panel * format.panelBytes(inputs);
    }

    /** Outputs of a panel that exist. */
    public int columns(int panel) {
        return Math.min(COLUMNS, outputs - panel * COLUMNS);
    }

    /**
     * Writes a panel's weights of inputs {@code from <= k < to} to {@code target[(k - from) · COLUMNS + column]}, not scaled.
     *
     * @param words room for one row of words, {@link #COLUMNS}: code that is not compiled yet reads an array many times faster than memory
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
