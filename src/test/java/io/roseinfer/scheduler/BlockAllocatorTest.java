package io.roseinfer.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.metrics.WritableStep;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.policy.PreemptionPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class BlockAllocatorTest {
    private final KvBlockPool pool = new KvBlockPool(1000, 4, false);

    private Sequence active(SequenceQueues queues, Random random) {
        int length = 1 + random.nextInt(40);
        Sequence sequence = new Sequence(
                0, this, new int[length], length + 1 + random.nextInt(40), SamplingParams.greedy(), 0, new int[0]);
        sequence.table().setPool(pool);
        assertThat(sequence.table().grow(1 + random.nextInt(length))).isTrue();
        queues.activate(sequence);
        if (random.nextBoolean()) {
            queues.prefilling.remove(sequence);
            queues.decoding.addLast(sequence);
        }
        return sequence;
    }

    private BlockAllocator allocator(SequenceQueues queues) {
        SchedulerOptions options = SchedulerOptions.defaults();
        WaitingQueue waitingQueue = new WaitingQueue(1, options.policies());
        Admission view = new Admission(options, queues, waitingQueue, 0, pool);
        return new BlockAllocator(pool, queues, PreemptionPolicy.youngest(), view, waitingQueue, new WritableStep());
    }

    @Test
    void admission_leaves_a_block_for_each_active_sequence_to_grow_into() {
        SequenceQueues queues = new SequenceQueues();
        BlockAllocator blocks = allocator(queues);
        Sequence waits = new Sequence(1, this, new int[9], 20, SamplingParams.greedy(), 0, new int[0]);
        waits.table().setPool(pool);
        for (int actives = 0; actives < 6; actives++) {
            assertThat(blocks.requiredBlocks(waits)).isEqualTo(3 + actives);
            active(queues, new Random(actives));
        }
    }

    @Test
    void policy_preempts_a_guarded_sequence_up_to_the_restart_limit() {
        SequenceQueues queues = new SequenceQueues();
        BlockAllocator blocks = allocator(queues);
        Sequence unused = active(queues, new Random(1));
        Sequence younger = new Sequence(1, this, new int[9], 20, SamplingParams.greedy(), 0, new int[0]);
        younger.setArrival(1, 0);
        younger.table().setPool(pool);
        for (int preemption = 0; preemption < Scheduler.MAX_RESTARTS; preemption++) {
            queues.activate(younger);
            assertThat(blocks.preempt(younger, true)).isTrue();
        }
        queues.activate(younger);
        assertThat(blocks.preempt(younger, true)).isFalse();
        assertThat(blocks.preempt(younger, false)).isTrue();
    }

    /**
     * Then no growth of any active sequence can exhaust the pool, so it is not preempted again.
     */
    @Test
    void sequence_at_the_restart_limit_waits_until_all_can_grow() {
        for (long seed = 0; seed < 100; seed++) {
            Random random = new Random(seed);
            SequenceQueues queues = new SequenceQueues();
            BlockAllocator blocks = allocator(queues);
            List<Sequence> all = new ArrayList<>();
            for (int i = random.nextInt(6); i > 0; i--) {
                all.add(active(queues, random));
            }
            Sequence waits =
                    new Sequence(1, this, new int[9], 10 + random.nextInt(60), SamplingParams.greedy(), 0, new int[0]);
            waits.table().setPool(pool);
            waits.preemptions = Scheduler.MAX_RESTARTS;
            all.add(waits);
            assertThat(blocks.requiredBlocks(waits))
                    .as("seed %d", seed)
                    .isEqualTo(all.stream()
                            .mapToInt(s -> Math.ceilDiv(s.maxLength() - 1, 4)
                                    - s.table().size())
                            .sum());
            all.forEach(s -> s.table().release());
        }
    }
}
