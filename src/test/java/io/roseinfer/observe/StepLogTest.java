package io.roseinfer.observe;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.metrics.WritableStep;
import java.util.List;
import org.junit.jupiter.api.Test;

class StepLogTest {
    /** Fills a record with facts that all follow from its number, each in a different way. */
    private static void note(WritableStep record, long step) {
        for (Fact fact : Fact.values()) {
            record.set(fact, step * (1 + fact.ordinal()));
        }
    }

    private static StepRecord expected(long step) {
        WritableStep record = new WritableStep();
        note(record, step);
        return record;
    }

    private static StepLog logOf(int capacity, long steps) {
        StepLog log = new StepLog(capacity);
        WritableStep record = new WritableStep();
        for (long step = 0; step < steps; step++) {
            note(record, step);
            log.on(StepEvent.APPLIED, record);
        }
        return log;
    }

    @Test
    void log_keeps_all_steps_up_to_its_capacity() {
        assertThat(logOf(4, 3).steps()).containsExactly(expected(0), expected(1), expected(2));
    }

    @Test
    void full_log_keeps_the_newest_steps_in_order() {
        StepLog log = logOf(4, 11);
        assertThat(log.steps()).containsExactly(expected(7), expected(8), expected(9), expected(10));
        assertThat(log.appended()).isEqualTo(11);
    }

    @Test
    void steps_start_at_the_given_number_and_are_limited() {
        StepLog log = logOf(4, 11);
        assertThat(log.steps(8, 2)).containsExactly(expected(8), expected(9));
        assertThat(log.steps(0, 1)).containsExactly(expected(7));
        assertThat(log.steps(11, 4)).isEmpty();
    }

    @Test
    void new_log_is_empty() {
        assertThat(new StepLog(1).steps()).isEmpty();
    }

    /** The ring is overwritten many times while it is read; all returned records are complete and in order. */
    @Test
    void concurrent_reads_are_never_torn() throws InterruptedException {
        StepLog log = new StepLog(8);
        Thread writer = Thread.ofPlatform().start(() -> {
            WritableStep record = new WritableStep();
            for (long step = 0; step < 400_000; step++) {
                note(record, step);
                log.on(StepEvent.APPLIED, record);
            }
        });
        int seen = 0;
        while (writer.isAlive()) {
            List<StepRecord> steps = log.steps();
            for (int i = 0; i < steps.size(); i++) {
                assertThat(steps.get(i)).isEqualTo(expected(steps.getFirst().get(Fact.STEP) + i));
                seen++;
            }
        }
        writer.join();
        assertThat(seen).isPositive();
        assertThat(log.steps()).hasSize(8);
    }
}
