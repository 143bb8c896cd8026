package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.policy.EvictionPolicy;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Runs the simulation with policies that choose rows, hold, pause and preempt at random: no request is lost or stands still. */
@Tag("sim")
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RandomPolicyTest {
    private static final int SEEDS = Integer.getInteger("roseinfer.iters", 1000);

    @Test
    void every_seed_passes_all_checks_and_every_request_that_arrives_ends_once() {
        long preemptions = 0;
        long pauses = 0;
        long holds = 0;
        long ranks = 0;
        for (long seed = 0; seed < SEEDS; seed++) {
            SimulationSettings drawn = SimulationSettings.of(seed);
            RandomPolicy policy = new RandomPolicy(seed);
            SchedulerOptions options = drawn.engine().scheduler();
            SimulationSettings settings = drawn.withEngine(drawn.engine()
                    .withScheduler(options.toBuilder()
                            .admission(policy)
                            .preemption(policy)
                            .eviction(options.prefixCache() ? policy : EvictionPolicy.lru())
                            .step(policy)
                            .chunkedPrefill(true)
                            .build()));
            assertThat(Simulation.run(settings, Trace.silent()).iterations())
                    .as("seed %d", seed)
                    .isPositive();
            assertThat(policy.liveCount()).as("requests left by seed %d", seed).isZero();
            preemptions += policy.preemptions();
            pauses += policy.pauses();
            holds += policy.holds();
            ranks += policy.ranks();
        }
        assertThat(preemptions).as("preemptions").isGreaterThan(SEEDS / 2);
        assertThat(pauses).as("pauses").isGreaterThan(SEEDS);
        assertThat(holds).as("holds").isGreaterThan(SEEDS);
        assertThat(ranks).as("ranks").isGreaterThan(SEEDS);
    }
}
