package io.roseinfer.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.sampling.SamplingParams;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

class SequenceTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final KvBlockPool pool = new KvBlockPool(2000, 4, false);

    private Sequence sequence(int maxLength) {
        return new Sequence(0, this, new int[] {7, 8, 9}, maxLength, SamplingParams.greedy(), 0, new int[0]);
    }

    @Test
    void sequence_takes_heap_for_its_tokens_not_for_those_that_are_allowed() {
        Sequence warm = sequence(10);
        long before = THREADS.getCurrentThreadAllocatedBytes();
        Sequence allowedMuch = sequence(1_000_000);
        assertThat(THREADS.getCurrentThreadAllocatedBytes() - before).isBetween(1L, 4000L);
        assertThat(warm.promptLength()).isEqualTo(allowedMuch.promptLength());
        assertThat(allowedMuch.remainingNewTokens()).isEqualTo(999_997);
    }

    @Test
    void tokens_and_blocks_stay_as_they_were_while_a_sequence_grows() {
        int length = 5000;
        Scheduler scheduler = new Scheduler(SchedulerOptions.defaults(), pool, length);
        Sequence sequence = sequence(length);
        scheduler.add(sequence);
        StepPlan plan = scheduler.newPlan();
        while (scheduler.hasWork()) {
            scheduler.plan(plan);
            int next = 10 + sequence.length();
            scheduler.apply(plan, sample -> next);
        }
        assertThat(sequence.finishReason()).contains(FinishReason.LENGTH);
        assertThat(sequence.length()).isEqualTo(length);
        for (int index = 3; index < length; index++) {
            assertThat(sequence.token(index)).as("token %d", index).isEqualTo(10 + index);
        }
        assertThat(sequence.promptIds()).containsExactly(7, 8, 9);
    }
}
