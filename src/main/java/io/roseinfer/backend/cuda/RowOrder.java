package io.roseinfer.backend.cuda;

import io.roseinfer.model.BlockSpec.Attention;
import java.util.Arrays;

/**
 * In which order the rows of a packed matrix lie. An order has, for every packed row, the output of the matrix that it is, or
 * {@link #PADDING}.
 */
final class RowOrder {
    public static final int PADDING = -1;

    private RowOrder() {}

    /** Outputs as they come, padded to a whole tile. */
    public static int[] plain(int outputs) {
        int[] order = padding(outputs);
        for (int i = 0; i < outputs; i++) {
            order[i] = i;
        }
        return order;
    }

    /**
     * Queries, keys and values, every head padded. Elements of a head that turn together, i and i + rotarySize / 2, are neighbours
     * in queries and keys, so that a kernel has both at once; scores do not change when both are reordered alike.
     *
     * @param headPad padded size of a head
     * @param rotarySize how many elements of a head turn; 0 leaves heads as they are
     */
    public static int[] heads(Attention attention, int headPad, int rotarySize) {
        int heads = attention.heads() + 2 * attention.kvHeads();
        int[] order = padding(heads * headPad);
        for (int head = 0; head < heads; head++) {
            int turning = head < attention.heads() + attention.kvHeads() ? rotarySize : 0;
            for (int i = 0; i < attention.headSize(); i++) {
                order[head * headPad + packedIndex(i, turning)] = head * attention.headSize() + i;
            }
        }
        return order;
    }

    /** Where an element of a head is packed, of whose elements so many turn. */
    public static int packedIndex(int element, int rotarySize) {
        int half = rotarySize / 2;
        if (element >= rotarySize) {
            return element;
        }
        return element < half ? 2 * element : 2 * (element - half) + 1;
    }

    /** The two halves of a gated MLP's first matrix, first the gate and then what it is for, row by row in turns. */
    public static int[] gated(int inner) {
        int[] order = padding(2 * inner);
        for (int i = 0; i < inner; i++) {
            order[2 * i] = i;
            order[2 * i + 1] = inner + i;
        }
        return order;
    }

    /**
     * The same for some of the outputs, in another numbering.
     *
     * @param from the first of them; all others become padding
     * @param numbers what each of them is called
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
