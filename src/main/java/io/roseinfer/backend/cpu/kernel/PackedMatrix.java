package io.roseinfer.backend.cpu.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A weight matrix of shape [inputs, outputs] as the kernels stream it: panels of {@value #COLUMNS} outputs, each panel
 * [⌈inputs / perWord⌉][{@value #COLUMNS}] 32-bit words in native byte order. Outputs beyond the last and inputs beyond the last
 * are zero.
 *
 * <p>Of {@link WeightFormat#INT4} every 64 inputs have nine rows of words: eight of weights, and one of two scales per output,
 * each a bfloat16, that of the first {@value QuantizedRows#GROUP} inputs in the lower half. That is 4.5 bits a weight.
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

    /** Inputs of INT4 that share a row of scales. */
    private static final int INT4_INPUTS = 2 * QuantizedRows.GROUP;

    private static final int INT4_WEIGHT_ROWS = INT4_INPUTS / 8;

    /** Bytes of the rows of words that hold 64 inputs of INT4 and their scales. */
    private static final long INT4_BYTES = (INT4_WEIGHT_ROWS + 1) * (long) ROW_BYTES;

    private static final ValueLayout.OfInt WORD = ValueLayout.JAVA_INT;

    /** Panels that hold this many outputs. */
    public static int panels(int outputs) {
        return Math.ceilDiv(outputs, COLUMNS);
    }

    /** Bytes of memory for a matrix of this shape. */
    public static long bytes(WeightFormat format, int inputs, int outputs) {
        return LEAD_BYTES + panels(outputs) * panelBytes(format, inputs);
    }

    private static long panelBytes(WeightFormat format, int inputs) {
        return format == WeightFormat.INT4
                ? Math.ceilDiv(inputs, INT4_INPUTS) * INT4_BYTES
                : Math.ceilDiv(inputs, format.perWord()) * (long) ROW_BYTES;
    }

    public int panels() {
        return panels(outputs);
    }

    /** Bytes of all panels: what a product reads. */
    public long panelBytes() {
        return panels() * panelBytes(format, inputs);
    }

    /** Byte offset of a panel. */
    public long panelStart(int panel) {
        return LEAD_BYTES + panel * panelBytes(format, inputs);
    }

    /** Byte offset, from a panel's start, of the row of words that holds input {@code k}. */
    public long rowOf(int k) {
        return format == WeightFormat.INT4
                ? k / INT4_INPUTS * INT4_BYTES + k % INT4_INPUTS / 8 * (long) ROW_BYTES
                : (k / format.perWord()) * (long) ROW_BYTES;
    }

    /** Byte offset, from a panel's start, of the first row of weights of the INT4 group {@code group}. */
    public static long int4Weights(int group) {
        return group / 2 * INT4_BYTES + group % 2 * (INT4_WEIGHT_ROWS / 2L) * ROW_BYTES;
    }

    /** Byte offset, from a panel's start, of the row of scales of the INT4 group {@code group}. */
    public static long int4Scales(int group) {
        return group / 2 * INT4_BYTES + INT4_WEIGHT_ROWS * (long) ROW_BYTES;
    }

    /** The scale of the INT4 weights of a group of inputs, for one output. */
    public float int4Scale(int panel, int column, int group) {
        int both = memory.get(WORD, panelStart(panel) + int4Scales(group) + 4L * column);
        return Float.intBitsToFloat(group % 2 == 0 ? both << 16 : both & 0xffff0000);
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
            MemorySegment.copy(memory, WORD, start + rowOf(k), words, 0, COLUMNS);
            format.decode(words, COLUMNS, k % perWord, target, (k - from) * COLUMNS);
        }
    }

    /** Copies one output's weights, scaled, to {@code target[from … from + inputs)}: a row of an embedding table. */
    public void output(int output, float[] target, int from) {
        long column = panelStart(output / COLUMNS) + 4L * (output % COLUMNS);
        int perWord = format.perWord();
        for (int k = 0; k < inputs; k++) {
            target[from + k] = format.decode(memory.get(WORD, column + rowOf(k)), k % perWord);
        }
        if (scales.length > 0) {
            float scale = scales[output];
            for (int k = 0; k < inputs; k++) {
                target[from + k] *= scale;
            }
        }
        if (format == WeightFormat.INT4) {
            for (int k = 0; k < inputs; k++) {
                target[from + k] *= int4Scale(output / COLUMNS, output % COLUMNS, k / QuantizedRows.GROUP);
            }
        }
    }
}
