package io.roseinfer.backend.cpu;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The order of outputs if the halves of a matrix alternate. */
class PanelOrderTest {
    @ParameterizedTest
    @ValueSource(ints = {1, 47, 48, 49, 96, 101})
    void gate_and_up_are_a_panel_apart(int half) {
        PanelOrder order = new PanelOrder(2 * half, true);
        float[] outputs = new float[2 * half];
        for (int i = 0; i < outputs.length; i++) {
            outputs[i] = i + 1;
        }
        float[] arranged = order.arrange(outputs);
        assertThat(arranged).hasSize(order.packedOutputs());
        for (int i = 0; i < half; i++) {
            int place = i / COLUMNS * 2 * COLUMNS + i % COLUMNS;
            assertThat(arranged[place]).as("output %d", i).isEqualTo(outputs[i]);
            assertThat(arranged[place + COLUMNS]).as("output %d", half + i).isEqualTo(outputs[half + i]);
        }
        assertThat(IntStream.range(0, arranged.length).filter(i -> arranged[i] != 0))
                .as("places taken")
                .hasSize(2 * half);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 47, 48, 49, 101})
    void matrix_without_halves_keeps_its_order(int outputs) {
        PanelOrder order = new PanelOrder(outputs, false);
        float[] values = new float[outputs];
        assertThat(order.arrange(values)).isSameAs(values);
        assertThat(order.packedOutputs()).isEqualTo(outputs);
        int panels = order.panels();
        assertThat(order.first(panels - 1) + order.columns(panels - 1)).isEqualTo(outputs);
    }
}
