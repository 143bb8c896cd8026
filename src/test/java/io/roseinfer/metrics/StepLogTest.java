package io.roseinfer.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class StepLogTest {
    /** A step all of whose figures follow from its number. */
    private static void note(StepDraft draft, long step) {
        int small = (int) (step % 1_000_000);
        draft.start(100 * step);
        draft.planned(100 * step + 1);
        draft.packed(100 * step + 3);
        draft.submitted(100 * step + 4);
        draft.awaiting(100 * step + 4);
        draft.awaited(100 * step + 6);
        draft.applied(100 * step + 10);
        draft.work(step, small, small);
        draft.queue(small, small, small);
        draft.reuse(step, step);
    }

    private static StepRecord expected(long step) {
        int small = (int) (step % 1_000_000);
        return new StepRecord(step, 100 * step, 1, 2, 3, 4, 1, 2, small, small, small, small, small, step, step);
    }

    private static StepLog logOf(int capacity, long steps) {
        StepLog log = new StepLog(capacity);
        StepDraft draft = new StepDraft();
        for (long step = 0; step < steps; step++) {
            note(draft, step);
            log.append(draft);
        }
        return log;
    }

    @Test
    void steps_fewerThanFit_areAllThere() {
        assertThat(logOf(4, 3).steps()).containsExactly(expected(0), expected(1), expected(2));
    }

    @Test
    void steps_moreThanFit_areTheNewestInOrder() {
        StepLog log = logOf(4, 11);
        assertThat(log.steps()).containsExactly(expected(7), expected(8), expected(9), expected(10));
        assertThat(log.appended()).isEqualTo(11);
    }

    @Test
    void steps_none_isEmpty() {
        assertThat(new StepLog(1).steps()).isEmpty();
    }

    @Test
    void endNanos_isWhereThePhasesEnd() {
        assertThat(expected(5).endNanos()).isEqualTo(510);
    }

    /** The ring is overwritten many times while it is read; whatever a reader gets is whole and in order. */
    @Test
    void steps_readWhileWritten_areNeverTorn() throws InterruptedException {
        StepLog log = new StepLog(8);
        Thread writer = Thread.ofPlatform().start(() -> {
            StepDraft draft = new StepDraft();
            for (long step = 0; step < 400_000; step++) {
                note(draft, step);
                log.append(draft);
            }
        });
        int seen = 0;
        while (writer.isAlive()) {
            List<StepRecord> steps = log.steps();
            for (int i = 0; i < steps.size(); i++) {
                assertThat(steps.get(i)).isEqualTo(expected(steps.getFirst().step() + i));
                seen++;
            }
        }
        writer.join();
        assertThat(seen).isPositive();
        assertThat(log.steps()).hasSize(8);
    }
}
