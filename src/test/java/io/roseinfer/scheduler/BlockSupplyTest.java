package io.roseinfer.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.policy.PreemptionPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class BlockSupplyTest {
    private final KvBlockPool pool = new KvBlockPool(1000, 4, false);

    private Sequence active(Roster roster, Random random) {
        int length = 1 + random.nextInt(40);
        Sequence sequence = new Sequence(
                0, this, new int[length], length + 1 + random.nextInt(40), SamplingParams.greedy(), 0, new int[0]);
        sequence.table().use(pool);
        assertThat(sequence.table().grow(1 + random.nextInt(length))).isTrue();
        roster.activate(sequence);
        if (random.nextBoolean()) {
            roster.prefilling.remove(sequence);
            roster.decoding.addLast(sequence);
        }
        return sequence;
    }

    /** So it is no victim again for lack of blocks: neither its own growth nor that of any active sequence can exhaust the pool. */
    @Test
    void sequence_that_started_over_as_often_as_it_may_waits_for_the_growth_of_all() {
        for (long seed = 0; seed < 100; seed++) {
            Random random = new Random(seed);
            Roster roster = new Roster();
            BlockSupply blocks =
                    new BlockSupply(roster, PreemptionPolicy.youngest(), new WaitingRoom(1), new StepRecord());
            List<Sequence> all = new ArrayList<>();
            for (int i = random.nextInt(6); i > 0; i--) {
                all.add(active(roster, random));
            }
            Sequence waits =
                    new Sequence(1, this, new int[9], 10 + random.nextInt(60), SamplingParams.greedy(), 0, new int[0]);
            waits.table().use(pool);
            waits.preemptions = Scheduler.MAX_RESTARTS;
            all.add(waits);
            assertThat(blocks.wanted(waits))
                    .as("seed %d", seed)
                    .isEqualTo(all.stream()
                            .mapToInt(s -> Math.ceilDiv(s.maxLength() - 1, 4)
                                    - s.table().size())
                            .sum());
            all.forEach(s -> s.table().release());
        }
    }
}
