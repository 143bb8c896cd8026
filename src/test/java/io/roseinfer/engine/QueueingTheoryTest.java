package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.SplitMix64;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.observe.ObservedRequest;
import io.roseinfer.observe.Observers;
import io.roseinfer.observe.RequestEvent;
import io.roseinfer.observe.RequestObserver;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.scheduler.SchedulerOptions;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.PriorityQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Compares the waits of a {@link VirtualEngine} with queueing theory. Requests arrive at random, and each is one step
 * of constant length, alone on its replica. {@code -Droseinfer.iters=1000000} sets the number of requests.
 */
@Tag("sim")
class QueueingTheoryTest {
    private static final int REQUESTS = Math.max(100_000, Integer.getInteger("roseinfer.iters", 0));

    /** Independent parts of a run, whose means give an interval. */
    private static final int RUNS = 20;

    private static final long STEP_NANOS = 1_000_000;
    /** Quantile of Student's t distribution with 19 degrees of freedom, for an interval of 99 %. */
    private static final double T_99 = 2.861;

    /** Returns Poisson arrivals that keep this many replicas busy for a share of the time. */
    private static long[] arrivals(long seed, int count, int replicas, double busy) {
        long[] nanos = new long[count];
        double at = 0;
        for (int i = 0; i < count; i++) {
            at -= Math.log1p(-SplitMix64.uniform(seed, i)) * STEP_NANOS / (busy * replicas);
            nanos[i] = (long) at;
        }
        return nanos;
    }

    /** Returns the waits of all requests until their step starts, in order of arrival. */
    private static long[] simulated(long[] arrivals, int replicas, RoutingPolicy routing) {
        EngineOptions options = EngineOptions.defaults()
                .withKvBlocks(8)
                .withScheduler(SchedulerOptions.builder()
                        .maxBatchSize(1)
                        .maxActiveRequests(1)
                        .build());
        List<SimRunner> runners = Stream.generate(() -> new SimRunner(
                        Models.spec(),
                        EngineLimits.runnerLimits(options, Models.spec()),
                        SimOptions.defaults().withReadBack(false)))
                .limit(replicas)
                .toList();
        long[] waits = new long[arrivals.length];
        Arrays.fill(waits, -1);
        RequestObserver observer = event -> {
            if (event instanceof RequestEvent.Ended(ObservedRequest request, FinishReason reason)) {
                long[] tokens = request.timeline().tokenNanos();
                assertThat(reason).isEqualTo(FinishReason.LENGTH);
                assertThat(tokens).hasSize(1);
                waits[(int) request.id()] = tokens[0] - STEP_NANOS - arrivals[(int) request.id()];
            }
        };
        VirtualEngine engine = new VirtualEngine(
                runners,
                options.withMaxInflightRequests(Integer.MAX_VALUE),
                routing,
                (step, startNanos) -> startNanos + STEP_NANOS,
                Observers.ofRequests(observer));
        GenerationRequest request = Models.request(1, 7);
        for (long arrival : arrivals) {
            engine.runUntil(arrival);
            ObservedRequest unused = engine.submit(request, arrival);
        }
        engine.runUntil(Long.MAX_VALUE);
        engine.checkIdle();
        runners.forEach(SimRunner::close);
        assertThat(waits).as("waits of all requests").doesNotContain(-1);
        return waits;
    }

    /** Returns the waits of requests that replicas serve in turn: Lindley's recursion for each of them. */
    private static long[] inTurn(long[] arrivals, int replicas) {
        long[] freeNanos = new long[replicas];
        long[] waits = new long[arrivals.length];
        for (int i = 0; i < arrivals.length; i++) {
            long startNanos = Math.max(arrivals[i], freeNanos[i % replicas]);
            waits[i] = startNanos - arrivals[i];
            freeNanos[i % replicas] = startNanos + STEP_NANOS;
        }
        return waits;
    }

    /** Returns the waits of requests that the first free replica serves. */
    private static long[] firstFree(long[] arrivals, int replicas) {
        PriorityQueue<Long> freeNanos = new PriorityQueue<>();
        long[] waits = new long[arrivals.length];
        for (int i = 0; i < arrivals.length; i++) {
            long free = freeNanos.size() < replicas ? 0 : freeNanos.remove();
            long startNanos = Math.max(arrivals[i], free);
            waits[i] = startNanos - arrivals[i];
            freeNanos.add(startNanos + STEP_NANOS);
        }
        return waits;
    }

    /** The mean wait of a single server, by the Pollaczek-Khinchine formula, lies in the interval of independent runs. */
    @ParameterizedTest
    @CsvSource({"0.3", "0.6", "0.85"})
    void mean_wait_of_one_replica_is_that_of_an_m_d_1_queue(double busy) {
        double[] means = new double[RUNS];
        for (int run = 0; run < RUNS; run++) {
            long[] arrivals = arrivals(SplitMix64.at(1, run), REQUESTS / RUNS, 1, busy);
            long[] waits = simulated(arrivals, 1, RoutingPolicy.pull());
            assertThat(waits).as("Lindley's recursion, run %d", run).isEqualTo(inTurn(arrivals, 1));
            means[run] = Arrays.stream(waits).average().orElseThrow();
        }
        double mean = Arrays.stream(means).average().orElseThrow();
        double variance =
                Arrays.stream(means).map(each -> (each - mean) * (each - mean)).sum() / (RUNS - 1);
        double half = T_99 * Math.sqrt(variance / RUNS);
        double expected = busy * STEP_NANOS / (2 * (1 - busy));
        System.out.printf(
                Locale.ROOT,
                "M/D/1 at %.2f: %.1f ± %.1f µs, expected %.1f%n",
                busy,
                mean / 1e3,
                half / 1e3,
                expected / 1e3);
        assertThat(mean).isBetween(expected - half, expected + half);
    }

    @ParameterizedTest
    @CsvSource({"2,0.3", "2,0.6", "2,0.85", "8,0.3", "8,0.6", "8,0.85"})
    void waits_in_turn_are_those_of_lindleys_recursion(int replicas, double busy) {
        long[] arrivals = arrivals(2, REQUESTS, replicas, busy);
        assertThat(simulated(arrivals, replicas, RoutingPolicy.roundRobin())).isEqualTo(inTurn(arrivals, replicas));
    }

    @ParameterizedTest
    @CsvSource({"2,0.3", "2,0.6", "2,0.85", "8,0.3", "8,0.6", "8,0.85"})
    void waits_of_pulling_replicas_are_those_of_an_m_d_k_queue(int replicas, double busy) {
        long[] arrivals = arrivals(3, REQUESTS, replicas, busy);
        assertThat(simulated(arrivals, replicas, RoutingPolicy.pull())).isEqualTo(firstFree(arrivals, replicas));
    }
}
