package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.model.BlockSpec.Attention;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RowOrderTest {
    private static final int P = RowOrder.PADDING;

    /** Returns {@link Attention#plain} with fewer KV heads. */
    private static Attention attention(int heads, int kvHeads, int headSize) {
        Attention plain = Attention.plain(heads, headSize, 1);
        return new Attention(heads, kvHeads, headSize, 1, plain.window(), plain.softCap(), false);
    }

    private static int[] row(int[] order, int from, int count) {
        return Arrays.copyOfRange(order, from, from + count);
    }

    @Test
    void plain_order_is_padded_to_a_tile() {
        int[] order = RowOrder.plain(130);
        assertThat(order).hasSize(256);
        assertThat(row(order, 127, 4)).containsExactly(127, 128, 129, P);
        assertThat(row(order, 130, 126)).containsOnly(P);
    }

    @Test
    void rope_pairs_are_adjacent_and_values_unchanged() {
        int[] order = RowOrder.heads(attention(2, 1, 6), 16, 4);
        assertThat(order).hasSize(128);
        assertThat(row(order, 0, 7)).containsExactly(0, 2, 1, 3, 4, 5, P);
        assertThat(row(order, 16, 7)).as("second head").containsExactly(6, 8, 7, 9, 10, 11, P);
        assertThat(row(order, 32, 7)).as("keys").containsExactly(12, 14, 13, 15, 16, 17, P);
        assertThat(row(order, 48, 7)).as("values").containsExactly(18, 19, 20, 21, 22, 23, P);
    }

    @Test
    void heads_without_rope_are_only_padded() {
        int[] order = RowOrder.heads(attention(1, 1, 3), 16, 0);
        assertThat(row(order, 0, 4)).containsExactly(0, 1, 2, P);
        assertThat(row(order, 16, 4)).containsExactly(3, 4, 5, P);
    }

    @Test
    void gate_and_up_projection_alternate() {
        assertThat(row(RowOrder.gated(3), 0, 7)).containsExactly(0, 3, 1, 4, 2, 5, P);
    }

    @Test
    void every_output_is_packed_once() {
        int[] order = RowOrder.heads(attention(5, 5, 80), 80, 20);
        int[] outputs =
                Arrays.stream(order).filter(output -> output != P).sorted().toArray();
        assertThat(outputs).isEqualTo(IntStream.range(0, 15 * 80).toArray());
    }

    @Test
    void part_of_an_order_is_renumbered_by_tensor() {
        assertThat(row(RowOrder.part(RowOrder.gated(3), 2, new int[] {40, 50}), 0, 6))
                .containsExactly(P, 50, P, P, 40, P);
    }
}
