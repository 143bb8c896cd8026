package io.roseinfer.backend.cpu.kernel;

/**
 * The layout of a matmul's activations: row tiles with interleaved rows, so that the values of one input for a register tile are
 * adjacent.
 *
 * <p>Tiles are as tall as the kernel's register tile; the remainder is split into powers of two. A tile of height h that
 * starts at row f holds the value of row r, input k at {@code f · width + k · h + (r - f)}. A single row is simply contiguous.
 */
public final class RowTiles {
    private RowTiles() {}

    /** Returns the height of the tile at row {@code first} of {@code rows}; {@code tallest} is a power of two. */
    public static int height(int first, int rows, int tallest) {
        return Math.min(tallest, Integer.highestOneBit(rows - first));
    }

    /** Returns the number of tiles of {@code rows}. */
    public static int count(int rows, int tallest) {
        return rows / tallest + Integer.bitCount(rows % tallest);
    }

    /** Returns the first row of the tile that holds {@code row}. */
    public static int first(int row, int rows, int tallest) {
        int first = Math.min(row, rows - rows % tallest) / tallest * tallest;
        while (first + height(first, rows, tallest) <= row) {
            first += height(first, rows, tallest);
        }
        return first;
    }

    /** Stores {@code count} consecutive values of a row, from {@code input} on. */
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
