package io.roseinfer.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.metrics.StepRecord.Fact;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class StepTableTest {
    /** Returns steps whose facts need all widths: constants, counts, times, and the extremes of a long. */
    private static List<StepRecord> steps(int count) {
        Random random = new Random(count);
        List<StepRecord> steps = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            WritableStep step = new WritableStep();
            step.set(Fact.STEP, i);
            step.set(Fact.START_NANOS, -5 + i * 2_000_000L);
            step.set(Fact.DEVICE_NANOS, random.nextInt(1 << 30));
            step.set(Fact.ROWS, random.nextInt(256));
            step.set(Fact.TOKENS, random.nextInt(1 << 16));
            step.set(Fact.ENGINE, 7);
            step.set(Fact.ATTENDED, random.nextLong());
            step.set(Fact.WAIT_NANOS, i % 2 == 0 ? Long.MIN_VALUE : Long.MAX_VALUE);
            steps.add(step);
        }
        return steps;
    }

    @Test
    void table_has_the_facts_of_its_steps() {
        for (int count : new int[] {0, 1, 1023, 1024, 1025, 3000}) {
            List<StepRecord> steps = steps(count);
            StepTable table = StepTable.copyOf(steps);
            assertThat(table).as("%d steps", count).isEqualTo(steps);
            for (Fact fact : Fact.values()) {
                assertThat(table.sum(fact))
                        .as("%d steps, %s", count, fact)
                        .isEqualTo(
                                steps.stream().mapToLong(step -> step.get(fact)).sum());
            }
        }
    }

    @Test
    void builder_copies_reused_records_and_can_go_on() {
        StepTable.Builder builder = new StepTable.Builder();
        WritableStep reused = new WritableStep();
        for (int i = 0; i < 2000; i++) {
            reused.set(Fact.STEP, i);
            builder.add(reused);
        }
        StepTable first = builder.build();
        reused.set(Fact.STEP, -1);
        builder.add(reused);
        assertThat(first).hasSize(2000);
        assertThat(first.get(1999, Fact.STEP)).isEqualTo(1999);
        assertThat(builder.build().get(2000, Fact.STEP)).isEqualTo(-1);
        assertThat(StepTable.copyOf(first)).isSameAs(first);
    }

    @Test
    void index_out_of_range_is_rejected() {
        StepTable table = StepTable.copyOf(steps(3));
        assertThatThrownBy(() -> table.get(3)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> table.get(3, Fact.STEP)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> StepTable.EMPTY.get(0, Fact.STEP)).isInstanceOf(IndexOutOfBoundsException.class);
    }
}
