package io.roseinfer.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.Check;
import io.roseinfer.model.Matrix.Layout;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The weight of output o and input k is 10·o + k, regardless of how it is stored. */
class MatrixTest {
    private static final int INPUTS = 5;
    private static final int OUTPUTS = 12;

    private final ArraySource source = new ArraySource();

    /** A tensor with these outputs, in this order. */
    private StoredTensor store(String name, Layout layout, int... outputs) {
        float[] values = new float[outputs.length * INPUTS];
        for (int i = 0; i < outputs.length; i++) {
            for (int k = 0; k < INPUTS; k++) {
                values[layout == Layout.OUT_IN ? i * INPUTS + k : k * outputs.length + i] = 10 * outputs[i] + k;
            }
        }
        return layout == Layout.OUT_IN
                ? source.put(name, values, outputs.length, INPUTS)
                : source.put(name, values, INPUTS, outputs.length);
    }

    private static Matrix matrix(Layout layout, Outputs... parts) {
        return new Matrix(List.of(parts), INPUTS, OUTPUTS, layout, Optional.empty());
    }

    private static void assertWhole(Matrix matrix) {
        try (Arena arena = Arena.ofConfined()) {
            OpenMatrix open = matrix.open(arena);
            float[] rows = new float[OUTPUTS * INPUTS];
            open.copyRows(rows);
            for (int o = 0; o < OUTPUTS; o++) {
                for (int k = 0; k < INPUTS; k++) {
                    assertThat(rows[o * INPUTS + k])
                            .as("row %d, input %d", o, k)
                            .isEqualTo(10 * o + k);
                }
            }
            for (int from = 0; from < OUTPUTS; from++) {
                assertPanel(open, from, Math.min(7, OUTPUTS - from));
            }
        }
    }

    private static void assertPanel(OpenMatrix open, int from, int count) {
        float[] panel = new float[INPUTS * 8];
        open.copyTo(from, count, panel, 8, new OpenMatrix.Buffer());
        for (int k = 0; k < INPUTS; k++) {
            for (int c = 0; c < 8; c++) {
                assertThat(panel[k * 8 + c])
                        .as("input %d, column %d from output %d", k, c, from)
                        .isEqualTo(c < count ? 10 * (from + c) + k : 0);
            }
        }
    }

    @Test
    void tensor_of_either_layout_is_read() {
        for (Layout layout : Layout.values()) {
            StoredTensor tensor = store("all", layout, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
            Matrix matrix = Matrix.of(tensor, INPUTS, OUTPUTS, layout, Optional.empty());
            assertThat(matrix.asStored()).hasValue(tensor);
            assertWhole(matrix);
        }
    }

    @Test
    void outputs_of_several_tensors_follow_one_another() {
        for (Layout layout : Layout.values()) {
            Matrix matrix = matrix(
                    layout,
                    Outputs.whole(store("queries", layout, 0, 1, 2, 3, 4, 5), 6),
                    Outputs.whole(store("keys", layout, 6, 7, 8), 3),
                    Outputs.whole(store("values", layout, 9, 10, 11), 3));
            assertThat(matrix.asStored()).isEmpty();
            assertWhole(matrix);
        }
    }

    /** Two heads of two elements: queries, keys and values of the first head, then of the second. */
    @Test
    void outputs_stored_head_by_head_are_reordered() {
        for (Layout layout : Layout.values()) {
            StoredTensor tensor = store("qkv", layout, 0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11);
            assertWhole(matrix(
                    layout,
                    new Outputs(tensor, 4, 0, 2, 6),
                    new Outputs(tensor, 4, 2, 2, 6),
                    new Outputs(tensor, 4, 4, 2, 6)));
        }
    }

    @Test
    void first_rows_of_a_table_can_be_left_out() {
        StoredTensor tensor = store("positions", Layout.OUT_IN, 77, 78, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
        Matrix matrix = matrix(Layout.OUT_IN, new Outputs(tensor, OUTPUTS, 2, OUTPUTS, OUTPUTS));
        assertThat(matrix.asStored()).isEmpty();
        assertWhole(matrix);
    }

    @Test
    void parts_that_do_not_add_up_to_the_outputs_are_a_bug() {
        StoredTensor tensor = store("some", Layout.OUT_IN, 0, 1, 2);
        assertThatThrownBy(() -> matrix(Layout.OUT_IN, Outputs.whole(tensor, 3)))
                .isInstanceOf(Check.Failure.class)
                .hasMessageContaining("12 outputs has parts with 3");
    }

    @Test
    void bias_is_reordered_like_the_outputs_and_may_have_an_offset() {
        StoredTensor tensor = source.put("bias", new float[] {1, 2, 5, 6, 3, 4, 7, 8}, 8);
        Vector vector = new Vector(List.of(new Outputs(tensor, 4, 0, 2, 4), new Outputs(tensor, 4, 2, 2, 4)), 0.5f);
        assertThat(vector.read()).containsExactly(1.5f, 2.5f, 3.5f, 4.5f, 5.5f, 6.5f, 7.5f, 8.5f);
        assertThat(vector.asStored()).isEmpty();
    }
}
