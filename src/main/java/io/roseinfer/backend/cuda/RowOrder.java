package io.roseinfer.backend.cuda;

import io.roseinfer.model.BlockSpec.Attention;
import java.util.Arrays;

/** Row orders of packed matrices: for every packed row the matrix's output, or {@link #PADDING}. */
final class RowOrder {
    public static final int PADDING = -1;

    private RowOrder() {}

    /** Returns the outputs in order, padded to a whole tile. */
    public static int[] plain(int outputs) {
        int[] order = padding(outputs);
        for (int i = 0; i < outputs; i++) {
            order[i] = i;
        }
        return order;
    }

    /**
     * Returns the order of QKV, every head padded. In queries and keys, rotated pairs, i and i + rotarySize / 2, are adjacent, so that a
     * thread has both; scores do not change, since both are reordered alike.
     *
     * @param headPad padded head size
     * @param rotarySize rotated elements per head; 0 keeps the order
     */
    public static int[] heads(Attention attention, int headPad, int rotarySize) {
        int heads = attention.heads() + 2 * attention.kvHeads();
        int[] order = padding(heads * headPad);
        for (int head = 0; head < heads; head++) {
            int rotated = head < attention.heads() + attention.kvHeads() ? rotarySize : 0;
            for (int i = 0; i < attention.headSize(); i++) {
                order[head * headPad + packedIndex(i, rotated)] = head * attention.headSize() + i;
            }
        }
        return order;
    }

    /** Returns the packed index of an element of a head with {@code rotarySize} rotated elements. */
    public static int packedIndex(int element, int rotarySize) {
        int half = rotarySize / 2;
        if (element >= rotarySize) {
            return element;
        }
        return element < half ? 2 * element : 2 * (element - half) + 1;
    }

    /** Returns the order of a gated MLP's first matrix: gate and up projection interleaved by row. */
    public static int[] gated(int inner) {
        int[] order = padding(2 * inner);
        for (int i = 0; i < inner; i++) {
            order[2 * i] = i;
            order[2 * i + 1] = inner + i;
        }
        return order;
    }

    /**
     * Returns an order restricted to some outputs, renumbered.
     *
     * @param from the first of them; all others become padding
     * @param numbers the new number of each
     */
    public static int[] part(int[] order, int from, int[] numbers) {
        return Arrays.stream(order)
                .map(output -> output >= from && output - from < numbers.length ? numbers[output - from] : PADDING)
                .toArray();
    }

    private static int[] padding(int outputs) {
        int[] order = new int[ModelShape.roundUp(outputs, ModelShape.TILE)];
        Arrays.fill(order, PADDING);
        return order;
    }
}
