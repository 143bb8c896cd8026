package io.roseinfer.backend.cpu.kernel;

/**
 * The input rows of a matmul. Formats with quantized inputs read {@code words}, tiles of {@link QuantizedRows}; {@code floats} are then the
 * unquantized rows. Other formats read {@code floats} in tiles of {@link RowTiles}, and {@code words} is empty.
 */
@SuppressWarnings("ArrayRecordComponent") // read in the innermost loops; inputs are never compared
public record MatmulInput(float[] floats, int[] words) {
    private static final int[] NONE = {};

    /** Creates the input of a format without quantized inputs. */
    public MatmulInput(float[] floats) {
        this(floats, NONE);
    }

    /** Returns an input of zeros for {@code rows} rows of {@code inputs}. */
    public static MatmulInput zeros(WeightFormat format, int rows, int inputs) {
        return format.quantizesInputs()
                ? new MatmulInput(new float[rows * inputs], new int[rows * QuantizedRows.words(inputs)])
                : new MatmulInput(new float[rows * inputs]);
    }

    /** Returns whether matmuls read {@link #words}. */
    public boolean isQuantized() {
        return words.length > 0;
    }
}
