package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.engine.VirtualReplicas.Arrival;
import io.roseinfer.engine.VirtualReplicas.Outcome;
import io.roseinfer.engine.routing.RoutingPolicy;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** Policies held against each other on virtual time, where nothing depends on the machine. */
class RoutingTest {
    private static final long SEED = 18;
    private static final int REPLICAS = 4;

    private static Outcome run(RoutingPolicy routing, int replicas, int poolTokens, List<Arrival> arrivals) {
        Outcome outcome = new VirtualReplicas(replicas, poolTokens, routing).run(arrivals);
        System.out.printf(
                Locale.ROOT,
                "%-13s x%d: hit rate %.3f, TTFT median %.1f ms, p99 %.1f ms, all done after %.1f s (seed %d)%n",
                routing,
                replicas,
                outcome.hitRate(),
                outcome.medianNanos() / 1e6,
                outcome.p99Nanos() / 1e6,
                outcome.lastNanos() / 1e9,
                SEED);
        return outcome;
    }

    /** 512 beginnings of 1,024 tokens, of which a replica's pool holds two fifths. */
    @Test
    void the_prefix_policy_finds_more_in_caches_than_any_other_and_its_slowest_first_tokens_are_sooner() {
        List<Arrival> arrivals = VirtualReplicas.grouped(SEED, 4000, 512, 1024, 6e6);
        int pool = 512 * 1024 * 2 / 5;
        Outcome prefix = run(RoutingPolicy.prefix(), REPLICAS, pool, arrivals);
        Outcome inTurn = run(RoutingPolicy.roundRobin(), REPLICAS, pool, arrivals);
        assertThat(prefix.hitRate()).isGreaterThan(inTurn.hitRate());
        assertThat(prefix.p99Nanos() * 2).isLessThanOrEqualTo(inTurn.p99Nanos());
        for (RoutingPolicy other : List.of(
                RoutingPolicy.pull(),
                RoutingPolicy.leastTokens(),
                RoutingPolicy.vllm(),
                RoutingPolicy.sglang(),
                RoutingPolicy.dynamo())) {
            Outcome outcome = run(other, REPLICAS, pool, arrivals);
            assertThat(prefix.p99Nanos()).as("p99 against %s", other).isLessThanOrEqualTo(outcome.p99Nanos());
        }
    }

    @Test
    void several_replicas_that_pull_make_nobody_wait_longer_than_one_at_its_share_of_the_load() {
        List<Arrival> all = VirtualReplicas.grouped(SEED, 500, 500, 256, 1);
        long busyNanos = run(RoutingPolicy.pull(), 1, 1 << 20, all).lastNanos();
        double gapNanos = busyNanos / 500.0 / 0.6;
        Outcome one = run(RoutingPolicy.pull(), 1, 1 << 20, VirtualReplicas.grouped(SEED, 2000, 2000, 256, gapNanos));
        List<Arrival> more = VirtualReplicas.grouped(SEED, 2000, 2000, 256, gapNanos / REPLICAS);
        assertThat(run(RoutingPolicy.pull(), REPLICAS, 1 << 20, more).p99Nanos())
                .isLessThanOrEqualTo(one.p99Nanos());
        Outcome unused = run(RoutingPolicy.leastTokens(), REPLICAS, 1 << 20, more);
        unused = run(RoutingPolicy.roundRobin(), REPLICAS, 1 << 20, more);
    }
}
