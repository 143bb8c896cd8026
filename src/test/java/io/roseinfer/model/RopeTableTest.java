package io.roseinfer.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.Check;
import io.roseinfer.model.Positions.Rope;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RopeTableTest {
    private static final int POSITIONS = 1000;
    private static final Rope ROPE = Rope.plain(10_000, 6);

    @Test
    void rows_do_not_depend_on_the_order_of_positions() {
        float[] whole = RopeTable.rows(ROPE, 0, POSITIONS);
        for (List<Integer> order : List.of(List.of(999), List.of(0, 255, 256, 700, 999), List.of(600, 3, 999))) {
            RopeTable table = new RopeTable(ROPE, POSITIONS);
            order.forEach(table::reach);
            for (int position = 0; position < POSITIONS; position++) {
                int from = table.offset(position);
                assertThat(Arrays.copyOfRange(table.array(position), from, from + 6))
                        .as("position %d after %s", position, order)
                        .isEqualTo(Arrays.copyOfRange(whole, position * 6, position * 6 + 6));
            }
        }
    }

    @Test
    void short_request_creates_rows_for_a_few_hundred_positions() {
        RopeTable table = new RopeTable(ROPE, 131_072);
        table.reach(30);
        assertThat(table.array(30).length).isLessThanOrEqualTo(512 * 6);
        assertThat(IntStream.range(512, 131_072).filter(position -> table.array(position) != null))
                .isEmpty();
    }

    @Test
    void positions_beyond_the_context_are_not_reached() {
        RopeTable table = new RopeTable(ROPE, POSITIONS);
        assertThatThrownBy(() -> table.reach(POSITIONS)).isInstanceOf(Check.Failure.class);
    }
}
