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
        return allocator(queues, pool);
    }

    private static BlockAllocator allocator(SequenceQueues queues, KvBlockPool pool) {
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

    @Test
    void sequence_preempted_by_choice_after_one_for_blocks_is_ranked_again() {
        SequenceQueues queues = new SequenceQueues();
        Sequence sequence = active(queues, new Random(1));
        sequence.restartsFirst = true;
        assertThat(allocator(queues).preempt(sequence, false)).isTrue();
        assertThat(sequence.restartsFirst).isFalse();
    }

    /** Adds an active sequence of 5 tokens with one block. */
    private Sequence growing(SequenceQueues queues, KvBlockPool from, long arrival) {
        Sequence sequence = new Sequence(arrival, this, new int[5], 40, SamplingParams.greedy(), 0, new int[0]);
        sequence.setArrival(arrival, 0);
        sequence.table().setPool(from);
        assertThat(sequence.table().grow(4)).isTrue();
        queues.activate(sequence);
        return sequence;
    }

    @Test
    void youngest_sequence_that_is_in_no_step_in_flight_is_preempted_for_blocks() {
        SequenceQueues queues = new SequenceQueues();
        KvBlockPool full = new KvBlockPool(3, 4, false);
        Sequence oldest = growing(queues, full, 0);
        Sequence middle = growing(queues, full, 1);
        Sequence youngest = growing(queues, full, 2);
        youngest.inFlight = 1;
        assertThat(allocator(queues, full).allocateSlot(oldest)).isTrue();
        assertThat(middle.isWaiting()).isTrue();
        assertThat(youngest.isWaiting()).isFalse();
    }

    @Test
    void drafts_take_blocks_until_as_many_are_left_as_sequences_are_active() {
        SequenceQueues queues = new SequenceQueues();
        KvBlockPool small = new KvBlockPool(7, 4, false);
        Sequence drafting = growing(queues, small, 0);
        Sequence unused = growing(queues, small, 1);
        assertThat(allocator(queues, small).growForDrafts(drafting, 15)).isEqualTo(11);
        assertThat(small.available()).isEqualTo(2);
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
