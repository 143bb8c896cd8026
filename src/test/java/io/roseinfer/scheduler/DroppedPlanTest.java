package io.roseinfer.scheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A plan that was proposed and dropped has not happened. */
class DroppedPlanTest {
    private static final int EVENTS = 600;

    /**
     * One of two schedulers that are told the same; this one drops so many proposals before each that it commits, unless one had to
     * preempt somebody, which is not taken back.
     */
    private static final class Twin {
        private final KvBlockPool pool;
        private final Scheduler scheduler;
        private final int drops;
        private int dropped;
        private final List<Sequence> sequences = new ArrayList<>();
        private final ArrayDeque<StepPlan> inFlight = new ArrayDeque<>();

        Twin(SchedulerOptions options, KvBlockPool pool, int drops) {
            this.pool = pool;
            this.scheduler = new Scheduler(options, pool, 1000);
            this.drops = drops;
        }

        void add(int[] prompt, int maxNewTokens) {
            Sequence sequence = new Sequence(
                    sequences.size(),
                    this,
                    prompt,
                    prompt.length + maxNewTokens,
                    SamplingParams.greedy(),
                    0,
                    new int[0],
                    pool);
            sequences.add(sequence);
            scheduler.add(sequence);
        }

        /** Plans a step, and says all that it is. */
        String plan() {
            StepPlan plan = scheduler.newPlan();
            List<String> before = marks();
            long preemptions = scheduler.preemptions();
            scheduler.propose(plan);
            for (int i = 0; i < drops && scheduler.preemptions() == preemptions; i++) {
                scheduler.drop(plan);
                assertThat(marks()).as("marks after a dropped plan").isEqualTo(before);
                dropped++;
                scheduler.propose(plan);
            }
            scheduler.commit(plan);
            if (!plan.isEmpty()) {
                inFlight.addLast(plan);
            }
            return describe(plan) + "; " + scheduler.waiting() + " wait, " + scheduler.active() + " active, "
                    + scheduler.preemptions() + " preempted, " + scheduler.cachedTokens() + " cached, "
                    + pool.available() + " available";
        }

        private List<String> marks() {
            return sequences.stream()
                    .map(s -> s.id() + ": " + s.computed + " " + s.confirmed + " " + s.plannedLength() + " "
                            + s.length() + " " + s.inFlight + " " + s.plannedStep + " " + s.timesPassedOver + " "
                            + s.cachedTokens + " " + s.isWaiting())
                    .toList();
        }

        private static String describe(StepPlan plan) {
            StringBuilder text = new StringBuilder("step " + plan.step());
            for (int row = 0; row < plan.rows(); row++) {
                Sequence s = plan.sequence(row);
                text.append(", ").append(s.id()).append(" from ").append(plan.start(row));
                text.append(" + ").append(plan.count(row)).append(" sample ").append(plan.sample(row));
                text.append(" after ").append(plan.pendingSample(row)).append(" passes ");
                text.append(s.timesPassedOver());
            }
            return text.toString();
        }

        void applyOldest() {
            if (!inFlight.isEmpty()) {
                scheduler.apply(inFlight.removeFirst(), sample -> 1);
            }
        }
    }

    private static SchedulerOptions options(Random random) {
        AdmissionPolicy admission =
                switch (random.nextInt(3)) {
                    case 0 -> AdmissionPolicy.fifo();
                    case 1 -> AdmissionPolicy.pack(1 + random.nextInt(6), random.nextInt(4));
                    default -> AdmissionPolicy.pack(64, 0);
                };
        return SchedulerOptions.builder()
                .maxBatchSize(1 + random.nextInt(6))
                .prefillMaxBatchSize(1 + random.nextInt(6))
                .prefillMaxTokens(1 + random.nextInt(30))
                .maxActiveRequests(random.nextBoolean() ? SchedulerOptions.UNLIMITED : 1 + random.nextInt(6))
                .decodeFirst(random.nextBoolean())
                .chunkedPrefill(random.nextBoolean())
                .admission(admission)
                .build();
    }

    static LongStream seeds() {
        return LongStream.range(0, 100);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void planning_again_after_a_plan_was_dropped_gives_the_plan_it_would_have_given(long seed) {
        Random random = new Random(seed);
        SchedulerOptions options = options(random);
        int blocks = 12 + random.nextInt(20);
        int blockSize = 1 + random.nextInt(5);
        boolean cache = random.nextBoolean();
        int maxInFlight = 1 + random.nextInt(2);
        Twin once = new Twin(options, new KvBlockPool(blocks, blockSize, cache), 0);
        Twin again = new Twin(options, new KvBlockPool(blocks, blockSize, cache), 1 + random.nextInt(2));
        for (int event = 0; event < EVENTS; event++) {
            if (random.nextInt(3) == 0) {
                int[] prompt = random.ints(1 + random.nextInt(Math.min(20, blocks * blockSize - 5)), 0, 2)
                        .toArray();
                int maxNewTokens = 1 + random.nextInt(Math.min(12, blocks * blockSize - prompt.length));
                once.add(prompt, maxNewTokens);
                again.add(prompt, maxNewTokens);
            }
            if (!once.sequences.isEmpty() && random.nextInt(12) == 0) {
                int index = random.nextInt(once.sequences.size());
                once.scheduler.end(once.sequences.get(index), FinishReason.CANCELLED);
                again.scheduler.end(again.sequences.get(index), FinishReason.CANCELLED);
            }
            while (once.inFlight.size() >= maxInFlight) {
                once.applyOldest();
                again.applyOldest();
            }
            assertThat(again.plan()).as("event %d of seed %d", event, seed).isEqualTo(once.plan());
        }
        assertThat(again.dropped).as("dropped plans, seed %d", seed).isGreaterThan(EVENTS / 2);
    }

    @Test
    void nothing_else_happens_while_a_plan_is_proposed() {
        Twin twin = new Twin(SchedulerOptions.defaults(), new KvBlockPool(10, 4, true), 0);
        twin.add(new int[] {1, 2}, 2);
        StepPlan plan = twin.scheduler.newPlan();
        twin.scheduler.propose(plan);
        assertThatThrownBy(() -> twin.scheduler.propose(twin.scheduler.newPlan()))
                .hasMessageContaining("neither committed nor dropped");
        assertThatThrownBy(() -> twin.scheduler.end(twin.sequences.getFirst(), FinishReason.CANCELLED))
                .hasMessageContaining("neither committed nor dropped");
        twin.scheduler.commit(plan);
        assertThatThrownBy(() -> twin.scheduler.commit(plan)).hasMessageContaining("not proposed last");
    }
}
