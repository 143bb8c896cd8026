package io.roseinfer.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.metrics.StepRecord.Fact;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;

class StepRecordTest {
    private static final StepRecord STEP = StepRecords.step(Map.of(
            Fact.START_NANOS, 500L,
            Fact.PLAN_NANOS, 1L,
            Fact.PACK_NANOS, 2L,
            Fact.DEVICE_NANOS, 30L,
            Fact.SUBMIT_NANOS, 4L,
            Fact.APPLY_NANOS, 5L));

    @Test
    void phases_are_contiguous() {
        assertThat(STEP.plannedNanos()).isEqualTo(501);
        assertThat(STEP.packedNanos()).isEqualTo(503);
        assertThat(STEP.submittedNanos()).isEqualTo(507);
        assertThat(STEP.awaitedNanos()).isEqualTo(533);
        assertThat(STEP.endNanos()).isEqualTo(538);
        assertThat(STEP.hostNanos())
                .as("all but the device's phase, and submitting")
                .isEqualTo(12);
    }

    @Test
    void copy_has_all_facts_and_does_not_change() {
        WritableStep record = new WritableStep();
        for (Fact fact : Fact.values()) {
            record.set(fact, 7L * fact.ordinal());
        }
        long[] values = new long[StepRecord.FACTS + 3];
        record.copyTo(values, 3);
        StepRecord copy = StepRecord.copyOf(values, 3);
        assertThat(copy).isEqualTo(record);
        record.set(Fact.PREEMPTIONS, -1);
        Arrays.fill(values, -2);
        for (Fact fact : Fact.values()) {
            assertThat(copy.get(fact)).as(fact.label()).isEqualTo(7L * fact.ordinal());
        }
    }

    @Test
    void accepted_drafts_are_counted_by_position() {
        WritableStep record = new WritableStep();
        int most = StepRecord.MAX_DRAFT_ROWS;
        for (int position = 0; position < StepRecord.DRAFT_POSITIONS; position++) {
            record.setAcceptedAt(position, most);
        }
        for (int position = 0; position < StepRecord.DRAFT_POSITIONS; position++) {
            record.setAcceptedAt(position, most - 3 * position);
        }
        for (int position = 0; position < StepRecord.DRAFT_POSITIONS; position++) {
            assertThat(record.acceptedAt(position)).isEqualTo(most - 3 * position);
        }
    }
}
