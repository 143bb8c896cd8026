package io.roseinfer.backend.cpu.kernel;

/**
 * The rows that a product reads. A format that quantizes its inputs reads {@code words}, tiles of {@link QuantizedRows}; {@code floats}
 * are then the rows before that, one after another. Any other format reads {@code floats}, in tiles of {@link RowTiles}, and has no
 * words.
 */
@SuppressWarnings("ArrayRecordComponent") // read in the innermost loops; inputs are never compared
public record MatmulInput(float[] floats, int[] words) {
    private static final int[] NONE = {};

    /** The input of a product with a format that does not quantize its inputs. */
    public MatmulInput(float[] floats) {
        this(floats, NONE);
    }

    /** Returns an input of zeros for {@code rows} rows of {@code inputs}. */
    public static MatmulInput zeros(WeightFormat format, int rows, int inputs) {
        return format.quantizesInputs()
                ? new MatmulInput(new float[rows * inputs], new int[rows * QuantizedRows.words(inputs)])
                : new MatmulInput(new float[rows * inputs]);
    }

    /** Returns whether products read {@link #words}. */
    public boolean isQuantized() {
        return words.length > 0;
    }
}
