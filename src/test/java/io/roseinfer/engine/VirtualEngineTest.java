package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.metrics.RequestTimeline;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.observe.ObservedRequest;
import io.roseinfer.observe.Observers;
import io.roseinfer.observe.RequestObserver;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.scheduler.SchedulerOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("sim")
class VirtualEngineTest {
    private static final int SEEDS = Math.max(100, Integer.getInteger("roseinfer.iters", 0));
    private static final long STEP_NANOS = 1000;

    /** An engine whose requests and ends are recorded. */
    private static final class Recorded implements VirtualEngine.Durations, RequestObserver {
        private final VirtualEngine engine;
        private final List<SimRunner> runners;
        private final long wakeNanos;
        private final Map<ObservedRequest, FinishReason> ended = new HashMap<>();
        private final Map<ObservedRequest, Integer> admissions = new HashMap<>();

        Recorded(int replicas, int depth, EngineOptions options, RoutingPolicy routing, long wakeNanos) {
            this.wakeNanos = wakeNanos;
            this.runners = Stream.generate(() -> new SimRunner(
                            Models.spec(),
                            EngineLimits.runnerLimits(options, Models.spec()),
                            SimOptions.defaults().withMaxInFlight(depth)))
                    .limit(replicas)
                    .toList();
            this.engine = new VirtualEngine(runners, options, routing, this, Observers.ofRequests(this));
        }

        Recorded(int replicas, RoutingPolicy routing) {
            this(replicas, 1, Models.options(), routing, 0);
        }

        @Override
        public long stepEnd(StepRecord step, long startNanos) {
            return startNanos + STEP_NANOS + step.get(Fact.TOKENS);
        }

        @Override
        public long nextIteration(StepRecord step, long endNanos) {
            return endNanos + step.get(Fact.ENGINE);
        }

        @Override
        public long wakeUp(int replica, long arrivalNanos) {
            return arrivalNanos + wakeNanos;
        }

        @Override
        public void admitted(ObservedRequest request) {
            admissions.merge(request, 1, Integer::sum);
        }

        @Override
        public void ended(ObservedRequest request, FinishReason reason) {
            assertThat(ended.put(request, reason)).as("an earlier end").isNull();
            assertThat(request.timeline().finishedNanos()).as("the end").isEqualTo(engine.nowNanos());
        }

        ObservedRequest submit(long nanos, int newTokens, int... prompt) {
            engine.runUntil(nanos);
            return engine.submit(Models.request(newTokens, prompt), nanos);
        }

        void stop(int replica, long nanos) {
            engine.runUntil(nanos);
            engine.stop(replica, nanos);
        }

        /** Runs all events that are left, and checks that every request has ended. */
        void finish() {
            engine.runUntil(Long.MAX_VALUE);
            engine.checkIdle();
            runners.forEach(SimRunner::close);
        }

        FinishReason reason(ObservedRequest request) {
            return Objects.requireNonNull(ended.get(request));
        }
    }

    @Test
    void step_in_flight_delays_the_next_one() {
        Recorded run = new Recorded(1, 2, Models.options(), RoutingPolicy.pull(), 5);
        ObservedRequest request = run.submit(100, 3, 1, 2, 3, 4);
        run.finish();
        long firstNanos = 105 + STEP_NANOS + 4;
        assertThat(request.timeline().tokenNanos())
                .containsExactly(firstNanos, firstNanos + STEP_NANOS + 1, firstNanos + 2 * (STEP_NANOS + 1));
    }

    @Test
    void request_bound_to_an_idle_replica_wakes_it() {
        Recorded run = new Recorded(2, RoutingPolicy.roundRobin());
        ObservedRequest first = run.submit(0, 1, 1);
        ObservedRequest second = run.submit(10, 1, 1);
        run.finish();
        assertThat(first.timeline().engine()).isZero();
        assertThat(second.timeline().engine()).isEqualTo(1);
        assertThat(second.timeline().finishedNanos()).isEqualTo(10 + STEP_NANOS + 1);
    }

    /** The busy replica starts an iteration while the idle one wakes up. */
    @Test
    void busy_replica_leaves_a_request_to_the_idle_one_that_wakes_for_it() {
        Recorded run = new Recorded(2, 1, Models.options(), RoutingPolicy.pull(), STEP_NANOS / 2);
        ObservedRequest before = run.submit(0, 20, 1, 2, 3);
        ObservedRequest request = run.submit(3 * STEP_NANOS + 400, 1, 4, 5, 6);
        run.finish();
        assertThat(request.timeline().engine()).isNotEqualTo(before.timeline().engine());
    }

    @Test
    void request_without_a_token_survives_its_replica() {
        Recorded run = new Recorded(2, RoutingPolicy.roundRobin());
        ObservedRequest early = run.submit(0, 5, 1, 2);
        ObservedRequest other = run.submit(0, 5, 1, 2);
        ObservedRequest late = run.submit(STEP_NANOS + 50, 5, 3, 4);
        run.stop(0, 2 * STEP_NANOS + 500);
        run.finish();
        assertThat(List.of(run.reason(early), run.reason(other), run.reason(late)))
                .containsExactly(FinishReason.ERROR, FinishReason.LENGTH, FinishReason.LENGTH);
        assertThat(early.generatedTokens()).isEqualTo(2);
        assertThat(run.admissions).containsEntry(late, 2);
        assertThat(late.timeline().engine()).isEqualTo(1);
    }

    @Test
    void last_replica_ends_all_requests_and_later_ones_are_rejected() {
        Recorded run = new Recorded(1, RoutingPolicy.pull());
        ObservedRequest running = run.submit(0, 5, 1, 2);
        run.stop(0, 10);
        assertThat(run.reason(running)).isEqualTo(FinishReason.ERROR);
        assertThatThrownBy(() -> run.submit(20, 5, 1, 2)).isInstanceOf(EngineStopped.class);
        run.finish();
    }

    @Test
    void text_and_prompts_that_never_fit_are_rejected() {
        Recorded run = new Recorded(1, RoutingPolicy.pull());
        assertThatThrownBy(() -> run.engine.submit(GenerationRequest.of("text"), 0))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("give token ids");
        assertThatThrownBy(() -> run.submit(0, 5, new int[Models.CONTEXT])).isInstanceOf(BadInput.class);
        run.finish();
    }

    /** Returns a description of all requests of a random run, in which replicas may stop. */
    private static List<String> random(long seed) {
        Dice dice = new Dice(seed, "virtual");
        int replicas = dice.between(1, 5);
        RoutingPolicy routing = List.of(
                        RoutingPolicy.pull(),
                        RoutingPolicy.roundRobin(),
                        RoutingPolicy.leastTokens(),
                        RoutingPolicy.prefix(),
                        RoutingPolicy.vllm(),
                        RoutingPolicy.sglang(),
                        RoutingPolicy.dynamo())
                .get(dice.below(7));
        EngineOptions options = Models.options()
                .withKvBlocks(dice.between(12, 60))
                .withScheduler(SchedulerOptions.builder()
                        .maxBatchSize(dice.between(1, 6))
                        .maxActiveRequests(dice.between(1, 8))
                        .chunkedPrefill(dice.coin())
                        .prefillMaxTokens(dice.between(1, 20))
                        .prefixCache(dice.coin())
                        .build());
        Recorded run = new Recorded(replicas, dice.between(1, 2), options, routing, dice.oneOf(0, 1, 700));
        long nanos = 0;
        int stopped = 0;
        List<ObservedRequest> requests = new ArrayList<>();
        List<Integer> lengths = new ArrayList<>();
        for (int i = dice.between(1, 40); i > 0; i--) {
            nanos += dice.oneOf(0, 10, 500, 5000);
            if (stopped < replicas - 1 && dice.chance(0.05)) {
                run.stop(stopped++, nanos);
            }
            int[] prompt = new int[dice.between(1, 16)];
            Arrays.setAll(prompt, at -> at < 9 ? 5 : dice.below(20));
            lengths.add(dice.between(1, 12));
            requests.add(run.submit(nanos, lengths.getLast(), prompt));
        }
        run.finish();
        List<String> all = new ArrayList<>();
        for (int i = 0; i < requests.size(); i++) {
            ObservedRequest request = requests.get(i);
            FinishReason reason = run.reason(request);
            RequestTimeline timeline = request.timeline();
            assertThat(reason).isIn(FinishReason.LENGTH, FinishReason.ERROR);
            if (reason == FinishReason.LENGTH) {
                assertThat(timeline.tokens()).isEqualTo(lengths.get(i));
            } else {
                assertThat(timeline.engine()).as("a replica that stopped").isLessThan(stopped);
                assertThat(timeline.tokens()).isPositive();
            }
            assertThat(timeline.tokenNanos()).isSorted();
            assertThat(timeline.admittedNanos()).isGreaterThanOrEqualTo(timeline.submittedNanos());
            assertThat(run.admissions.get(request)).isLessThanOrEqualTo(1 + stopped);
            all.add(reason + " " + timeline + " " + request.cachedTokens());
        }
        return all;
    }

    @Test
    void every_request_of_random_runs_ends_once_and_runs_are_reproducible() {
        for (long seed = 0; seed < SEEDS; seed++) {
            assertThat(random(seed)).as("seed %d", seed).isEqualTo(random(seed));
        }
    }
}
