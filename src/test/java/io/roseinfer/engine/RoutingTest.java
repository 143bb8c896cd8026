package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.engine.VirtualReplicas.Arrival;
import io.roseinfer.engine.VirtualReplicas.Latencies;
import io.roseinfer.engine.VirtualReplicas.Outcome;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.kv.PublishedPrefixes;
import io.roseinfer.observe.ObservedRequest;
import io.roseinfer.observe.Observers;
import io.roseinfer.scheduler.Scheduler;
import io.roseinfer.scheduler.SchedulerOptions;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Compares routing policies in virtual time, independent of the machine. */
@Tag("sim")
class RoutingTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

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

    /** 512 prefixes of 1,024 tokens; the pool of a replica holds two fifths of them. */
    @Test
    void prefix_policy_has_the_highest_hit_rate_and_the_lowest_p99_ttft() {
        List<Arrival> arrivals = VirtualReplicas.grouped(SEED, 4000, 512, 1024, 6e6);
        int pool = 512 * 1024 * 2 / 5;
        Outcome prefix = run(RoutingPolicy.prefix(), REPLICAS, pool, arrivals);
        Outcome roundRobin = run(RoutingPolicy.roundRobin(), REPLICAS, pool, arrivals);
        assertThat(prefix.hitRate()).isGreaterThan(roundRobin.hitRate());
        assertThat(prefix.p99Nanos() * 2).isLessThanOrEqualTo(roundRobin.p99Nanos());
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
    void pulling_replicas_have_no_longer_waits_than_one_replica_at_its_share_of_the_load() {
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

    /** A long request takes most of one pool; the short ones with all their tokens would not fit next to it. */
    @Test
    void request_does_not_wait_for_a_full_replica_while_another_has_capacity() {
        VirtualReplicas replicas = new VirtualReplicas(2, 64 * VirtualReplicas.BLOCK, RoutingPolicy.pull());
        List<Arrival> arrivals = new ArrayList<>();
        arrivals.add(new Arrival(0, prompt(700), 300));
        for (int i = 0; i < 8; i++) {
            arrivals.add(new Arrival(20_000_000, prompt(350 + i), 4));
        }
        replicas.serve(arrivals);
        long longEndNanos = replicas.requests().getFirst().timeline().finishedNanos();
        assertThat(replicas.requests().subList(1, 9))
                .allSatisfy(request ->
                        assertThat(request.timeline().finishedNanos()).isLessThan(longEndNanos / 4));
    }

    private static int[] prompt(int tokens) {
        return IntStream.range(tokens, 2 * tokens).toArray();
    }

    /**
     * Six loads of 60 %. One of eight replicas fails halfway; the seven others then have 69 %, like seven replicas from
     * the start.
     */
    @Test
    void failed_replica_costs_the_others_only_its_share_of_the_load() {
        double gapNanos = run(RoutingPolicy.pull(), 1, 1 << 20, VirtualReplicas.grouped(SEED, 500, 500, 256, 1))
                        .lastNanos()
                / 500.0
                / 0.6
                / 8;
        List<ObservedRequest> before = new ArrayList<>();
        List<ObservedRequest> beforeDeath = new ArrayList<>();
        List<ObservedRequest> after = new ArrayList<>();
        List<ObservedRequest> afterDeath = new ArrayList<>();
        List<ObservedRequest> afterOfSeven = new ArrayList<>();
        List<ObservedRequest> lost = new ArrayList<>();
        for (int seed = 1; seed <= 6; seed++) {
            List<Arrival> arrivals = VirtualReplicas.grouped(seed, 4000, 4000, 256, gapNanos);
            VirtualReplicas eight = new VirtualReplicas(8, 1 << 20, RoutingPolicy.pull());
            VirtualReplicas seven = new VirtualReplicas(7, 1 << 20, RoutingPolicy.pull());
            VirtualReplicas dying = new VirtualReplicas(8, 1 << 20, RoutingPolicy.pull())
                    .withDeath(3, arrivals.get(2000).nanos());
            List.of(eight, seven, dying).forEach(replicas -> replicas.serve(arrivals));
            for (int i = 0; i < 4000; i++) {
                ObservedRequest request = dying.requests().get(i);
                if (dying.wasOnTheDead(request)) {
                    lost.add(request);
                } else {
                    (i < 2000 ? before : after).add(eight.requests().get(i));
                    (i < 2000 ? beforeDeath : afterDeath).add(request);
                }
                if (i >= 2000) {
                    afterOfSeven.add(seven.requests().get(i));
                }
            }
        }
        System.out.println(lost.size() + " requests were on the engines that died");
        assertNoLonger(report("before the death", beforeDeath), report("before, without a death", before), 1.01);
        Latencies unused = report("after, eight engines", after);
        // These p99s differ by up to a tenth between seeds, in both directions.
        assertNoLonger(report("after the death", afterDeath), report("after, seven from the start", afterOfSeven), 1.1);
    }

    private static void assertNoLonger(Latencies seen, Latencies limit, double factor) {
        assertThat((double) seen.ttftP99Nanos()).as("TTFT p99").isLessThanOrEqualTo(factor * limit.ttftP99Nanos());
        assertThat((double) seen.itlP99Nanos()).as("ITL p99").isLessThanOrEqualTo(factor * limit.itlP99Nanos());
    }

    private static Latencies report(String of, List<ObservedRequest> requests) {
        Latencies latencies = VirtualReplicas.latencies(requests);
        System.out.printf(
                Locale.ROOT,
                "%s: %d requests, TTFT p99 %.2f ms, ITL p99 %.2f ms, longest %.2f ms%n",
                of,
                requests.size(),
                latencies.ttftP99Nanos() / 1e6,
                latencies.itlP99Nanos() / 1e6,
                latencies.itlMaxNanos() / 1e6);
        return latencies;
    }

    @Test
    void policy_with_memory_identifies_replicas_by_number() {
        List<ReplicaLoad> loads = IntStream.range(0, 3)
                .mapToObj(i -> new ReplicaLoad(
                        i,
                        new KvGeometry(16, 200, 1),
                        new Scheduler(SchedulerOptions.defaults(), new KvBlockPool(200, 16, true), 2048),
                        null))
                .toList();
        LiveRequest request = new LiveRequest(0, Models.request(4, 1, 2, 3), 0, Models.CONTEXT, Optional.empty());
        request.tokenized(3, 0);
        request.prefixes(PublishedPrefixes.prefixHashes(new int[1024], 16));
        RoutingPolicy policy = RoutingPolicy.sglang();
        loads.get(0).add(10, 10, 10);
        loads.get(1).add(10, 10, 10);
        assertThat(policy.choose(new RoutedView(request), loads))
                .as("the shortest queue")
                .isEqualTo(2);
        loads.get(2).add(10, 10, 10);
        loads.get(2).add(10, 10, 10);
        assertThat(policy.choose(new RoutedView(request), loads))
                .as("the same prompt again")
                .isEqualTo(2);
        assertThat(policy.choose(new RoutedView(request), loads.subList(1, 3)))
                .as("the same prompt, once replica 0 is dead")
                .isEqualTo(1);
    }

    @Test
    void policies_do_not_allocate() {
        int choices = 100_000;
        List<ReplicaLoad> loads = IntStream.range(0, 8)
                .mapToObj(i -> new LoneLoop(
                        Models.runner(Models.options(), SimOptions.defaults()),
                        Models.options(),
                        Models.ticking(),
                        Observers.NONE))
                .map(loop -> loop.loop().load())
                .toList();
        LiveRequest request = new LiveRequest(0, Models.request(4, 1, 2, 3), 0, Models.CONTEXT, Optional.empty());
        request.tokenized(3, 0);
        request.prefixes(PublishedPrefixes.prefixHashes(new int[2048], 16));
        for (RoutingPolicy policy : List.of(
                RoutingPolicy.pull(),
                RoutingPolicy.roundRobin(),
                RoutingPolicy.leastTokens(),
                RoutingPolicy.prefix(),
                RoutingPolicy.vllm(),
                RoutingPolicy.dynamo())) {
            assertThat(LongStream.range(0, 5)
                            .map(run -> bytes(choices, policy, new RoutedView(request), loads))
                            .min())
                    .as("bytes of %s, once all is loaded", policy)
                    .hasValue(0);
        }
    }

    private static long bytes(int choices, RoutingPolicy policy, RoutedView request, List<ReplicaLoad> loads) {
        long start = System.nanoTime();
        long before = THREADS.getCurrentThreadAllocatedBytes();
        int sum = 0;
        for (int i = 0; i < choices; i++) {
            sum += policy.choose(request, loads);
        }
        long bytes = THREADS.getCurrentThreadAllocatedBytes() - before;
        System.out.printf(Locale.ROOT, "%s: %d ns a choice (%d)%n", policy, (System.nanoTime() - start) / choices, sum);
        return bytes;
    }
}
