package io.roseinfer.backend.cpu.panama;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;

import io.roseinfer.backend.cpu.kernel.WeightFormat;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The scalar tail of a matmul: the last inputs of a matrix if they do not fill a word. */
final class InputTail {
    private InputTail() {}

    /** Adds {@code steps} inputs, all in the words at {@code at}; other arguments as in {@link RegisterTiles#add}. */
    static void add(
            WeightFormat format,
            MemorySegment w,
            long at,
            float[] x,
            int from,
            int height,
            int steps,
            int columns,
            float[] sums,
            int to) {
        for (int c = 0; c < columns; c++) {
            int word = w.get(ValueLayout.JAVA_INT, at + 4L * c);
            for (int k = 0; k < steps; k++) {
                float weight = format.decode(word, k);
                for (int r = 0; r < height; r++) {
                    int sum = to + r * COLUMNS + c;
                    sums[sum] = Math.fma(x[from + k * height + r], weight, sums[sum]);
                }
            }
        }
    }
}
