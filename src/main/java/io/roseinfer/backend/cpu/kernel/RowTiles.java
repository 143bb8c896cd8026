package io.roseinfer.backend.cpu.kernel;

/**
 * The layout of activations that a matrix product reads: rows in tiles, a tile's rows interleaved, so that the values a register
 * tile needs for one input lie side by side.
 *
 * <p>Tiles are as tall as the kernel's register tile; what remains at the end is cut into powers of two. A tile of height h that
 * starts at row f holds the value of row r, input k at {@code f · width + k · h + (r - f)}. A single row is simply contiguous.
 */
public final class RowTiles {
    private RowTiles() {}

    /** Height of the tile that starts at row {@code first} of {@code rows}; {@code tallest} is a power of two. */
    public static int height(int first, int rows, int tallest) {
        return Math.min(tallest, Integer.highestOneBit(rows - first));
    }

    /** Tiles that {@code rows} rows are cut into. */
    public static int count(int rows, int tallest) {
        return rows / tallest + Integer.bitCount(rows % tallest);
    }

    /** First row of the tile that holds {@code row}. */
    public static int first(int row, int rows, int tallest) {
        int first = Math.min(row, rows - rows % tallest) / tallest * tallest;
        while (first + height(first, rows, tallest) <= row) {
            first += height(first, rows, tallest);
        }
        return first;
    }

    /** Puts {@code count} consecutive values of a row, the first of them at input {@code input}, in their places. */
    public static void put(
            float[] values, int from, int count, float[] tiles, int width, int input, int row, int rows, int tallest) {
        int first = first(row, rows, tallest);
        int height = height(first, rows, tallest);
        int at = first * width + input * height + (row - first);
        if (height == 1) {
            System.arraycopy(values, from, tiles, at, count);
            return;
        }
        for (int k = 0; k < count; k++) {
            tiles[at + k * height] = values[from + k];
        }
    }
}
