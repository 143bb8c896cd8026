package io.roseinfer.backend.cpu.kernel;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;
import static io.roseinfer.backend.cpu.kernel.PackedMatrix.ROW_BYTES;

import io.roseinfer.backend.Precision;
import io.roseinfer.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * Int4 weights: nibbles with 8 added, eight inputs per word, and a scale for every {@value QuantizedRows#GROUP} inputs of an output,
 * stored among the words. Matmuls read {@link QuantizedRows}.
 *
 * <p>Every 64 inputs have nine rows of words: eight of weights, and one of two scales per output, each a bfloat16, the scale of the
 * first {@value QuantizedRows#GROUP} inputs in the lower half. That is 4.5 bits per weight.
 */
public record Int4Weights() implements WeightFormat {
    private static final int PER_WORD = 8;

    /** Inputs that share a row of scales. */
    private static final int INPUTS = 2 * QuantizedRows.GROUP;

    private static final int WEIGHT_ROWS = INPUTS / PER_WORD;

    /** Bytes of the rows of words that hold 64 inputs and their scales. */
    private static final long BYTES = (WEIGHT_ROWS + 1) * (long) ROW_BYTES;

    /** Returns the byte offset, from a panel's start, of the first row of weights of a group of inputs. */
    public static long weightRow(int group) {
        return group / 2 * BYTES + group % 2 * (WEIGHT_ROWS / 2L) * ROW_BYTES;
    }

    /** Returns the byte offset, from a panel's start, of the row with the scales of a group of inputs. */
    public static long scaleRow(int group) {
        return group / 2 * BYTES + WEIGHT_ROWS * (long) ROW_BYTES;
    }

    @Override
    public Precision precision() {
        return Precision.INT4;
    }

    /** Returns another format for the head, where 4 bits would cost the most accuracy. */
    @Override
    public WeightFormat ofHead() {
        return new Int8Weights();
    }

    @Override
    public int perWord() {
        return PER_WORD;
    }

    @Override
    public long panelBytes(int inputs) {
        return Math.ceilDiv(inputs, INPUTS) * BYTES;
    }

    @Override
    public long rowOf(int k) {
        return k / INPUTS * BYTES + k % INPUTS / PER_WORD * (long) ROW_BYTES;
    }

    @Override
    public boolean quantizesInputs() {
        return true;
    }

    @Override
    public float decode(int word, int which) {
        return (word >>> (4 * which) & 15) - 8;
    }

    @Override
    public float groupScale(PackedMatrix matrix, int panel, int column, int group) {
        long at = matrix.panelStart(panel) + scaleRow(group) + 4L * column;
        int both = matrix.memory().get(ValueLayout.JAVA_INT, at);
        return Float.intBitsToFloat(group % 2 == 0 ? both << 16 : both & 0xffff0000);
    }

    @Override
    public void output(PackedMatrix matrix, int output, float[] target, int from) {
        WeightFormat.super.output(matrix, output, target, from);
        for (int k = 0; k < matrix.inputs(); k++) {
            target[from + k] *= groupScale(matrix, output / COLUMNS, output % COLUMNS, k / QuantizedRows.GROUP);
        }
    }

    @Override
    public Packer packer() {
        return new Quantizer();
    }

    /**
     * Packs panels. The scale of a group is the weight of largest magnitude over one of {@link #DIVISORS}, rounded to bfloat16, whichever
     * leaves the smaller squared error. A divisor of -8 uses all sixteen values, 7 is symmetric.
     *
     * <p>A group that holds NaN or infinity gets a scale that is not finite.
     */
    private static final class Quantizer implements Packer {
        private static final float[] DIVISORS = {-8, 7};

        /** The nibble of a weight of zero. */
        private static final int ZERO = 8;

        private static final int MAGNITUDE = 0x7fffffff;

        /** Scales below would overflow when inverted; their weights become zero. */
        private static final float VANISHING = 1e-30f;

        private final int[] words = new int[COLUMNS];
        /** The weights of one input, copied: loops whose arrays share one index become vector code. */
        private final float[] row = new float[COLUMNS];

        private final float[] extreme = new float[COLUMNS];
        private final float[] scale = new float[COLUMNS];
        private final float[] inverse = new float[COLUMNS];
        private final float[] error = new float[COLUMNS];
        private final float[] bestScale = new float[COLUMNS];
        private final float[] bestError = new float[COLUMNS];

        @Override
        public void pack(float[] weights, PackedMatrix packed, int panel) {
            int inputs = packed.inputs();
            long start = packed.panelStart(panel);
            MemorySegment memory = packed.memory();
            for (int group = 0; group < QuantizedRows.groups(inputs); group++) {
                int first = Math.min(group * QuantizedRows.GROUP, inputs);
                int end = Math.min(first + QuantizedRows.GROUP, inputs);
                choose(weights, first, end);
                long at = start + weightRow(group);
                for (int k = first; k < first + QuantizedRows.GROUP; k += PER_WORD) {
                    Arrays.fill(words, 0);
                    for (int which = 0; which < PER_WORD; which++) {
                        add(weights, k + which, end, 4 * which);
                    }
                    MemorySegment.copy(words, 0, memory, ValueLayout.JAVA_INT, at, COLUMNS);
                    at += PackedMatrix.ROW_BYTES;
                }
                storeScales(memory, start + scaleRow(group), group % 2 == 1);
            }
        }

        private void storeScales(MemorySegment memory, long at, boolean second) {
            for (int c = 0; c < COLUMNS; c++) {
                int bits = Tensor.floatToBf16(bestScale[c]) & 0xffff;
                int first = second ? memory.get(ValueLayout.JAVA_INT, at + 4L * c) : 0;
                memory.set(ValueLayout.JAVA_INT, at + 4L * c, second ? first | bits << 16 : bits);
            }
        }

        /** Adds the nibbles of input {@code k} to the words; nibbles of inputs from {@code end} on stand for zero. */
        private void add(float[] weights, int k, int end, int shift) {
            if (k >= end) {
                for (int c = 0; c < COLUMNS; c++) {
                    words[c] |= ZERO << shift;
                }
                return;
            }
            System.arraycopy(weights, k * COLUMNS, row, 0, COLUMNS);
            for (int c = 0; c < COLUMNS; c++) {
                words[c] |= ((int) rounded(row[c] * inverse[c]) + ZERO) << shift;
            }
        }

        /** The nearest of -8 to 7, ties to even; NaN stays NaN, which converts to zero. */
        private static float rounded(float scaled) {
            return Math.min(7f, Math.max(-8f, scaled + QuantizedRows.ROUNDER - QuantizedRows.ROUNDER));
        }

        /** Leaves the group's best scales in {@link #bestScale}, their inverses in {@link #inverse}. */
        private void choose(float[] weights, int first, int end) {
            findExtremes(weights, first, end);
            Arrays.fill(bestError, Float.NaN);
            for (float divisor : DIVISORS) {
                setScales(divisor);
                measure(weights, first, end);
                for (int c = 0; c < COLUMNS; c++) {
                    if (!(error[c] >= bestError[c])) {
                        bestError[c] = error[c];
                        bestScale[c] = scale[c];
                    }
                }
            }
            System.arraycopy(bestScale, 0, scale, 0, COLUMNS);
            invert();
        }

        private void findExtremes(float[] weights, int first, int end) {
            Arrays.fill(extreme, 0);
            for (int k = first; k < end; k++) {
                System.arraycopy(weights, k * COLUMNS, row, 0, COLUMNS);
                for (int c = 0; c < COLUMNS; c++) {
                    float weight = row[c];
                    // Compared as integers, NaN is larger than any number.
                    if ((Float.floatToRawIntBits(weight) & MAGNITUDE)
                            > (Float.floatToRawIntBits(extreme[c]) & MAGNITUDE)) {
                        extreme[c] = weight;
                    }
                }
            }
        }

        private void setScales(float divisor) {
            for (int c = 0; c < COLUMNS; c++) {
                scale[c] = Tensor.bf16ToFloat(Tensor.floatToBf16(extreme[c] / divisor));
            }
            invert();
        }

        private void invert() {
            for (int c = 0; c < COLUMNS; c++) {
                inverse[c] = Math.abs(scale[c]) < VANISHING ? 0 : 1 / scale[c];
            }
        }

        private void measure(float[] weights, int first, int end) {
            Arrays.fill(error, 0);
            for (int k = first; k < end; k++) {
                System.arraycopy(weights, k * COLUMNS, row, 0, COLUMNS);
                for (int c = 0; c < COLUMNS; c++) {
                    float weight = row[c];
                    float off = weight - scale[c] * rounded(weight * inverse[c]);
                    error[c] += off * off;
                }
            }
        }
    }
}
