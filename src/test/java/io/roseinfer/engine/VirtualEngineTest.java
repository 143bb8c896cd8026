package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.engine.VirtualEngine.Phase;
import io.roseinfer.engine.routing.ReplicaView;
import io.roseinfer.engine.routing.RoutedRequest;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.engine.routing.ViewAge;
import io.roseinfer.grammar.Grammar;
import io.roseinfer.metrics.RequestTimeline;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.observe.ObservedRequest;
import io.roseinfer.observe.Observers;
import io.roseinfer.observe.RequestEvent;
import io.roseinfer.observe.RequestObserver;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.policy.StepBuilder;
import io.roseinfer.scheduler.policy.StepPolicy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

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
        /** The events at which it throws. */
        private Predicate<RequestEvent> fails = event -> false;

        private long promptTokens;

        Recorded(int replicas, int depth, EngineOptions options, RoutingPolicy routing, long wakeNanos) {
            this(replicas, depth, options, routing, wakeNanos, ViewAge.NONE);
        }

        Recorded(int replicas, int depth, EngineOptions options, RoutingPolicy routing, long wakeNanos, ViewAge age) {
            this(replicas, SimOptions.defaults().withMaxInFlight(depth), options, routing, wakeNanos, age);
        }

        Recorded(
                int replicas,
                SimOptions sim,
                EngineOptions options,
                RoutingPolicy routing,
                long wakeNanos,
                ViewAge age) {
            this.wakeNanos = wakeNanos;
            this.runners = Stream.generate(
                            () -> new SimRunner(Models.spec(), EngineLimits.runnerLimits(options, Models.spec()), sim))
                    .limit(replicas)
                    .toList();
            this.engine = new VirtualEngine(runners, options, routing, age, this, Observers.ofRequests(this));
        }

        Recorded(int replicas, RoutingPolicy routing) {
            this(replicas, 1, Models.options(), routing, 0);
        }

        @Override
        public long stepEnd(StepRecord step, long startNanos) {
            promptTokens += step.get(Fact.PREFILL_TOKENS);
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
        public void on(RequestEvent event) {
            if (fails.test(event)) {
                throw new IllegalStateException("observer");
            }
            switch (event) {
                case RequestEvent.Admitted(ObservedRequest request) -> admit(request);
                case RequestEvent.Ended(ObservedRequest request, FinishReason reason) -> end(request, reason);
                default -> {}
            }
        }

        private void admit(ObservedRequest request) {
            admissions.merge(request, 1, Integer::sum);
            assertThat(engine.phase(request.timeline().replica()))
                    .as("the phase of a replica that admits")
                    .isEqualTo(Phase.SERVING);
        }

        private void end(ObservedRequest request, FinishReason reason) {
            assertThat(ended.put(request, reason)).as("an earlier end").isNull();
            assertThat(request.timeline().finishedNanos()).as("the end").isEqualTo(engine.nowNanos());
        }

        ObservedRequest submit(long nanos, int newTokens, int... prompt) {
            engine.runUntil(nanos);
            return engine.submit(Models.request(newTokens, prompt), nanos);
        }

        ObservedRequest submitPrefilled(long nanos, int newTokens, int... prompt) {
            engine.runUntil(nanos);
            return engine.submitPrefilled(Models.request(newTokens, prompt), nanos, newTokens, 7);
        }

        void stop(int replica, long nanos) {
            engine.runUntil(nanos);
            engine.stop(replica, nanos);
        }

        void drain(int replica, long nanos) {
            engine.runUntil(nanos);
            engine.drain(replica, nanos);
        }

        void start(int replica, long nanos) {
            engine.runUntil(nanos);
            engine.start(replica, nanos);
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

    /** With two steps in flight, the second is launched long before the device starts it. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void policy_sees_how_long_the_device_took_for_the_last_completed_step(int depth) {
        List<List<Long>> seen = new ArrayList<>();
        StepPolicy standard = StepPolicy.standard(false, false);
        StepPolicy policy = step -> {
            seen.add(List.of(step.queue().lastStepNanos(), (long) step.queue().lastStepTokens()));
            standard.plan(step);
        };
        EngineOptions options = Models.options()
                .withScheduler(SchedulerOptions.builder().step(policy).build());
        Recorded run = new Recorded(1, depth, options, RoutingPolicy.pull(), 0);
        ObservedRequest unused = run.submit(100, 3, 1, 2, 3, 4);
        run.finish();
        List<Long> none = List.of(0L, 0L);
        List<Long> prefill = List.of(STEP_NANOS + 4, 4L);
        List<Long> decode = List.of(STEP_NANOS + 1, 1L);
        assertThat(seen)
                .startsWith(none)
                .containsSubsequence(none, prefill, decode)
                .containsOnly(none, prefill, decode);
    }

    @Test
    void request_bound_to_an_idle_replica_wakes_it() {
        Recorded run = new Recorded(2, RoutingPolicy.roundRobin());
        ObservedRequest first = run.submit(0, 1, 1);
        ObservedRequest second = run.submit(10, 1, 1);
        run.finish();
        assertThat(first.timeline().replica()).isZero();
        assertThat(second.timeline().replica()).isEqualTo(1);
        assertThat(second.timeline().finishedNanos()).isEqualTo(10 + STEP_NANOS + 1);
    }

    /** The busy replica starts an iteration while the idle one wakes up. */
    @Test
    void busy_replica_leaves_a_request_to_the_idle_one_that_wakes_for_it() {
        Recorded run = new Recorded(2, 1, Models.options(), RoutingPolicy.pull(), STEP_NANOS / 2);
        ObservedRequest before = run.submit(0, 20, 1, 2, 3);
        ObservedRequest request = run.submit(3 * STEP_NANOS + 400, 1, 4, 5, 6);
        run.finish();
        assertThat(request.timeline().replica()).isNotEqualTo(before.timeline().replica());
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
        assertThat(late.timeline().replica()).isEqualTo(1);
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

    @Test
    void drained_replica_serves_what_it_has_admitted_and_leaves_the_rest_to_others() {
        Recorded run = new Recorded(
                2,
                1,
                Models.options()
                        .withScheduler(SchedulerOptions.builder()
                                .maxBatchSize(1)
                                .maxActiveRequests(1)
                                .build()),
                RoutingPolicy.roundRobin(),
                0);
        ObservedRequest admitted = run.submit(0, 9, 1, 2);
        ObservedRequest other = run.submit(0, 9, 3, 4);
        ObservedRequest waiting = run.submit(0, 2, 5, 6);
        run.drain(0, 1500);
        assertThat(run.engine.phase(0)).isEqualTo(Phase.DRAINING);
        assertThat(run.engine.views()).extracting(ReplicaView::index).containsExactly(1);
        assertThatThrownBy(() -> run.drain(1, 1600))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("only one");
        run.finish();
        assertThat(run.engine.phase(0)).isEqualTo(Phase.OFF);
        assertThat(List.of(run.reason(admitted), run.reason(other), run.reason(waiting)))
                .containsOnly(FinishReason.LENGTH);
        assertThat(List.of(admitted, other, waiting))
                .extracting(request -> request.timeline().replica())
                .containsExactly(0, 1, 1);
    }

    @Test
    void request_waiting_for_a_drained_replica_wakes_an_idle_one() {
        EngineOptions options = Models.options()
                .withScheduler(SchedulerOptions.builder().maxActiveRequests(1).build());
        Recorded run = new Recorded(2, 1, options, watching(new ArrayList<>()), 0);
        ObservedRequest admitted = run.submit(0, 30, 1);
        ObservedRequest waiting = run.submit(1, 1, 2);
        run.drain(0, 1500);
        run.finish();
        assertThat(admitted.timeline().replica()).isZero();
        assertThat(waiting.timeline().replica()).isEqualTo(1);
        assertThat(waiting.timeline().admittedNanos()).isEqualTo(1500);
    }

    @Test
    void started_replica_serves_with_an_empty_prefix_cache() {
        Recorded run = new Recorded(2, RoutingPolicy.pull());
        int[] prompt = new int[33];
        run.drain(1, 0);
        ObservedRequest first = run.submit(1, 1, prompt);
        ObservedRequest again = run.submit(50_000, 1, prompt);
        run.start(1, 100_000);
        assertThat(run.engine.views()).extracting(ReplicaView::index).containsExactly(0, 1);
        run.drain(0, 100_000);
        ObservedRequest other = run.submit(100_001, 1, prompt);
        run.start(0, 200_000);
        run.drain(1, 200_000);
        ObservedRequest last = run.submit(200_001, 1, prompt);
        assertThatThrownBy(() -> run.start(0, 200_002))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("the phase of replica 0 is SERVING; it must be OFF");
        run.finish();
        assertThat(List.of(first, again, other, last))
                .extracting(request -> request.timeline().replica())
                .containsExactly(0, 0, 1, 0);
        assertThat(List.of(first, again, other, last))
                .extracting(ObservedRequest::cachedTokens)
                .containsExactly(0, 32, 0, 0);
    }

    @Test
    void replica_that_starts_after_all_others_failed_serves_again() {
        Recorded run = new Recorded(2, RoutingPolicy.leastTokens());
        run.drain(1, 0);
        run.stop(0, 1);
        assertThat(run.engine.views()).isEmpty();
        assertThatThrownBy(() -> run.submit(2, 1, 1)).isInstanceOf(EngineStopped.class);
        run.start(1, 3);
        assertThat(run.engine.views()).extracting(ReplicaView::index).containsExactly(1);
        ObservedRequest request = run.submit(4, 1, 1);
        run.finish();
        assertThat(request.timeline().replica()).isEqualTo(1);
    }

    @Test
    void requests_wait_for_a_replica_that_starts_if_no_other_serves() {
        Recorded run = new Recorded(2, RoutingPolicy.leastTokens());
        run.drain(1, 0);
        ObservedRequest before = run.submit(1, 4, 1);
        run.engine.runUntil(2);
        run.engine.beginStart(1, 2);
        run.stop(0, 3);
        ObservedRequest after = run.submit(4, 1, 1);
        assertThat(run.ended).isEmpty();
        run.start(1, 9000);
        run.finish();
        assertThat(List.of(run.reason(before), run.reason(after))).containsOnly(FinishReason.LENGTH);
        assertThat(after.timeline().admittedNanos()).isEqualTo(9000);
    }

    @Test
    void requests_end_if_the_only_replica_that_starts_stops() {
        Recorded run = new Recorded(2, RoutingPolicy.pull());
        run.drain(1, 0);
        run.engine.beginStart(1, 1);
        assertThatThrownBy(() -> run.engine.beginStart(1, 1))
                .hasMessage("the phase of replica 1 is STARTING; it must be OFF");
        run.stop(0, 2);
        ObservedRequest waiting = run.submit(3, 1, 1);
        assertThatThrownBy(() -> run.engine.cancelStart(1, 3)).hasMessageContaining("the only one that starts");
        run.stop(1, 4);
        assertThat(run.reason(waiting)).isEqualTo(FinishReason.ERROR);
        assertThatThrownBy(() -> run.submit(5, 1, 1)).isInstanceOf(EngineStopped.class);
        run.finish();
    }

    /** Returns a run without keys and values: a runner has none of prompts that another engine has computed. */
    private static Recorded ofShapes(int replicas, SchedulerOptions.Builder scheduler, RoutingPolicy routing) {
        return new Recorded(
                replicas,
                SimOptions.defaults().ofShapes(),
                Models.options().withScheduler(scheduler.build()),
                routing,
                0,
                ViewAge.NONE);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void request_with_a_computed_prompt_shares_the_next_decode_step(boolean chunkedPrefill) {
        Recorded run = ofShapes(1, SchedulerOptions.builder().chunkedPrefill(chunkedPrefill), RoutingPolicy.pull());
        ObservedRequest before = run.submitPrefilled(0, 4, 1, 2, 3, 4);
        ObservedRequest prefilled = run.submitPrefilled(100, 3, new int[40]);
        run.finish();
        assertThat(before.timeline().tokenNanos())
                .containsExactly(STEP_NANOS + 1, 2 * STEP_NANOS + 3, 3 * STEP_NANOS + 5);
        assertThat(prefilled.timeline().tokenNanos()).containsExactly(2 * STEP_NANOS + 3, 3 * STEP_NANOS + 5);
        assertThat(run.promptTokens).as("prompt tokens computed").isZero();
        assertThat(prefilled.cachedTokens()).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void request_with_a_computed_prompt_starts_on_an_idle_replica(boolean chunkedPrefill) {
        Recorded run = ofShapes(1, SchedulerOptions.builder().chunkedPrefill(chunkedPrefill), RoutingPolicy.pull());
        ObservedRequest prefilled = run.submitPrefilled(100, 2, new int[40]);
        run.finish();
        assertThat(prefilled.timeline().tokenNanos()).containsExactly(100 + STEP_NANOS + 1);
    }

    /** Its blocks are released; the engine that computed them is another one. */
    @Test
    void preempted_request_with_a_computed_prompt_is_computed_again() {
        StepPolicy preemptsOnce = new StepPolicy() {
            private boolean hasPreempted;

            @Override
            public void plan(StepBuilder step) {
                if (step.decoding() == 2 && !hasPreempted) {
                    hasPreempted = step.preempt(step.decoding(1));
                }
                StepPolicy.mixed().plan(step);
            }
        };
        Recorded run = ofShapes(
                1,
                SchedulerOptions.builder()
                        .chunkedPrefill(true)
                        .prefixCache(false)
                        .step(preemptsOnce),
                RoutingPolicy.pull());
        ObservedRequest oldest = run.submitPrefilled(0, 9, new int[40]);
        ObservedRequest preempted = run.submitPrefilled(0, 4, new int[30]);
        run.finish();
        assertThat(List.of(oldest, preempted))
                .extracting(request -> request.timeline().tokens())
                .containsExactly(8, 3);
        assertThat(run.promptTokens).isEqualTo(30);
    }

    @Test
    void admitted_request_with_a_computed_prompt_ends_with_its_replica_and_a_waiting_one_does_not() {
        Recorded run = ofShapes(2, SchedulerOptions.builder().maxActiveRequests(1), RoutingPolicy.roundRobin());
        ObservedRequest admitted = run.submitPrefilled(0, 5, 1, 2);
        ObservedRequest other = run.submitPrefilled(0, 5, 1, 2);
        ObservedRequest waiting = run.submitPrefilled(1, 5, 1, 2);
        run.stop(0, 500);
        run.finish();
        assertThat(List.of(run.reason(admitted), run.reason(other), run.reason(waiting)))
                .containsExactly(FinishReason.ERROR, FinishReason.LENGTH, FinishReason.LENGTH);
        assertThat(run.promptTokens).isZero();
    }

    @Test
    void views_count_no_prompt_tokens_of_a_computed_prompt() {
        Recorded run = ofShapes(2, SchedulerOptions.builder(), RoutingPolicy.roundRobin());
        run.submitPrefilled(0, 5, new int[20]);
        ReplicaView view = run.engine.views().getFirst();
        assertThat(view.outstandingTokens()).isEqualTo(25);
        assertThat(view.uncomputedPromptTokens()).isZero();
        run.finish();
    }

    private static Stream<Arguments> needingTokenizer() {
        GenerationRequest plain = Models.request(4, 1);
        return Stream.of(
                Arguments.of(GenerationRequest.of("text"), "a text prompt cannot be read; give token ids"),
                Arguments.of(plain.withStop("end"), "stop strings cannot be found; leave them out"),
                Arguments.of(plain.withBadWords("bad"), "bad_words have no tokens; leave them out"),
                Arguments.of(plain.withGrammar(Grammar.jsonObject()), "a grammar has no tokens; leave it out"));
    }

    @ParameterizedTest
    @MethodSource("needingTokenizer")
    void request_that_needs_a_tokenizer_is_rejected(GenerationRequest request, String message) {
        Recorded run = new Recorded(1, RoutingPolicy.pull());
        assertThatThrownBy(() -> run.engine.submit(request, 0))
                .isInstanceOf(BadInput.class)
                .hasMessage("virtual time has no tokenizer, so " + message);
        run.finish();
    }

    @Test
    void constraints_restrict_tokens_as_in_an_engine_on_threads() {
        GenerationRequest request = Models.request(6, 1, 2).withAllowedTokens(3, 5, 8);
        Recorded run = new Recorded(1, RoutingPolicy.pull());
        ObservedRequest live = run.engine.submit(request, 0);
        run.finish();
        try (Engine engine = Models.engine(Models.options(), SimOptions.defaults())) {
            assertThat(run.engine.generatedIds(live))
                    .isEqualTo(engine.generate(request).ids());
        }
    }

    @Test
    void constraints_that_contradict_the_request_are_rejected() {
        Recorded run = new Recorded(1, RoutingPolicy.pull());
        GenerationRequest request = Models.request(4, 1).withMinTokens(5);
        assertThatThrownBy(() -> run.engine.submit(request, 0))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("minTokens is 5");
        run.finish();
    }

    @ParameterizedTest
    @ValueSource(classes = {RequestEvent.Accepted.class, RequestEvent.Tokenized.class})
    void observer_that_throws_on_submission_leaves_no_request_in_flight(Class<? extends RequestEvent> type) {
        Recorded run = new Recorded(1, 1, Models.options().withMaxInflightRequests(1), RoutingPolicy.pull(), 0);
        run.fails = type::isInstance;
        assertThatThrownBy(() -> run.submit(0, 4, 1)).isInstanceOf(IllegalStateException.class);
        run.fails = event -> false;
        ObservedRequest next = run.submit(0, 4, 1);
        run.finish();
        assertThat(run.reason(next)).isEqualTo(FinishReason.LENGTH);
    }

    @Test
    void completion_of_one_token_needs_no_second_engine() {
        Recorded run = ofShapes(1, SchedulerOptions.builder(), RoutingPolicy.pull());
        assertThatThrownBy(() -> run.submitPrefilled(0, 1, 1, 2))
                .isInstanceOf(BadInput.class)
                .hasMessage("the length of a completion is 1; it must be at least 2");
        run.finish();
    }

    /** A policy that records the first replica's values, and always chooses it. */
    private static RoutingPolicy watching(List<String> seen) {
        return new RoutingPolicy() {
            @Override
            public int choose(RoutedRequest request, List<? extends ReplicaView> liveReplicas) {
                ReplicaView view = liveReplicas.getFirst();
                seen.add(view.requests() + " " + view.running() + " " + view.waiting() + " " + view.outstandingTokens()
                        + " " + view.uncomputedPromptTokens() + " " + view.heldTokens() + " "
                        + view.cachedTokens(request));
                return 0;
            }

            @Override
            public boolean usesPrefixes() {
                return true;
            }
        };
    }

    /** Returns what a policy sees of a replica that gets four requests with the same prompt. */
    private static List<String> seen(ViewAge age) {
        List<String> seen = new ArrayList<>();
        Recorded run = new Recorded(2, 1, Models.options(), watching(seen), 0, age);
        int[] prompt = new int[40];
        List.of(0L, 1L, 5000L, 6500L).forEach(nanos -> run.submit(nanos, 1, prompt));
        run.finish();
        return seen;
    }

    @Test
    void aged_view_shows_the_past_and_what_was_sent_since() {
        String idle = "0 0 0 0 0 0 0";
        String first = "1 1 0 41 40 40 0";
        assertThat(seen(ViewAge.NONE)).containsExactly(idle, first, "0 0 0 0 0 0 36", "0 0 0 0 0 0 36");
        assertThat(seen(new ViewAge(5000, true)))
                .containsExactly(idle, "1 0 1 41 40 0 0", "2 1 1 82 80 40 0", "2 1 1 82 80 40 36");
        assertThat(seen(new ViewAge(5000, false))).containsExactly(idle, idle, first, "1 1 0 41 40 40 36");
    }

    /**
     * Returns a description of all requests of a random run, in which replicas may stop, drain and start.
     *
     * @param prefilled the share of requests whose prompt another engine has computed
     */
    private static List<String> random(long seed, double prefilled) {
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
        boolean plansAtRandom = dice.chance(0.3);
        if (plansAtRandom) {
            RandomPolicy policy = new RandomPolicy(seed);
            options = options.withScheduler(SchedulerOptions.builder()
                    .maxBatchSize(dice.between(1, 6))
                    .chunkedPrefill(true)
                    .prefillMaxTokens(dice.between(1, 20))
                    .admission(policy)
                    .preemption(policy)
                    .step(policy)
                    .build());
        }
        ViewAge age = new ViewAge(dice.oneOf(0, 0, 3, 2000, 20_000), dice.coin());
        Dice prompts = new Dice(seed, "computed prompts");
        SimOptions sim = SimOptions.defaults().withMaxInFlight(dice.between(1, 2));
        Recorded run = new Recorded(
                replicas, prefilled == 0 ? sim : sim.ofShapes(), options, routing, dice.oneOf(0, 1, 700), age);
        long nanos = 0;
        int stopped = 0;
        double scales = dice.oneOf(0, 0.1, 0.4);
        List<ObservedRequest> requests = new ArrayList<>();
        List<Integer> lengths = new ArrayList<>();
        List<ObservedRequest> prefilledRequests = new ArrayList<>();
        for (int i = dice.between(1, 40); i > 0; i--) {
            nanos += dice.oneOf(0, 10, 500, 5000);
            if (stopped < replicas - 1 && dice.chance(0.05) && hasOther(run, stopped)) {
                run.stop(stopped++, nanos);
            }
            if (dice.chance(scales)) {
                scale(run, dice.below(replicas), nanos);
            }
            int[] prompt = new int[dice.between(1, 16)];
            Arrays.setAll(prompt, at -> at < 9 ? 5 : dice.below(20));
            int length = dice.between(1, 12);
            if (length > 1 && prompts.chance(prefilled)) {
                lengths.add(length - 1);
                requests.add(run.submitPrefilled(nanos, length, prompt));
                prefilledRequests.add(requests.getLast());
            } else {
                lengths.add(length);
                requests.add(run.submit(nanos, length, prompt));
            }
        }
        startAll(run, replicas, nanos);
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
                assertThat(timeline.replica()).as("a replica that stopped").isLessThan(stopped);
                assertThat(timeline.tokens() + (prefilledRequests.contains(request) ? 1 : 0))
                        .isPositive();
            }
            assertThat(timeline.tokenNanos()).isSorted();
            assertThat(timeline.admittedNanos()).isGreaterThanOrEqualTo(timeline.submittedNanos());
            assertThat(run.admissions.get(request)).isLessThanOrEqualTo(1 + stopped);
            all.add(reason + " " + timeline + " " + request.cachedTokens());
        }
        return all;
    }

    /** Returns whether another replica than a lower one serves or starts. */
    private static boolean hasOther(Recorded run, int replica) {
        for (int i = replica + 1; i < run.runners.size(); i++) {
            if (run.engine.phase(i) == Phase.SERVING || run.engine.phase(i) == Phase.STARTING) {
                return true;
            }
        }
        return false;
    }

    private static void startAll(Recorded run, int replicas, long nanos) {
        run.engine.runUntil(nanos);
        for (int i = 0; i < replicas; i++) {
            if (run.engine.phase(i) == Phase.STARTING) {
                run.engine.start(i, nanos);
            }
        }
    }

    /** Drains a replica that serves, unless no other serves, or starts it if it is off or starts. */
    private static void scale(Recorded run, int replica, long nanos) {
        run.engine.runUntil(nanos);
        if (run.engine.phase(replica) == Phase.OFF && nanos % 20 == 0) {
            run.engine.beginStart(replica, nanos);
        } else if (run.engine.phase(replica) == Phase.STARTING && nanos % 50 == 0 && hasOther(run, replica)) {
            run.engine.cancelStart(replica, nanos);
        } else if (run.engine.phase(replica) == Phase.OFF || run.engine.phase(replica) == Phase.STARTING) {
            run.engine.start(replica, nanos);
        } else if (run.engine.phase(replica) == Phase.SERVING
                && run.engine.views().size() > 1) {
            run.engine.drain(replica, nanos);
        }
    }

    @Test
    void every_request_of_random_runs_ends_once_and_runs_are_reproducible() {
        for (long seed = 0; seed < SEEDS; seed++) {
            assertThat(random(seed, 0)).as("seed %d", seed).isEqualTo(random(seed, 0));
        }
    }

    @Test
    void every_request_of_random_runs_with_computed_prompts_ends_once() {
        for (long seed = 0; seed < SEEDS; seed++) {
            assertThat(random(seed, 0.5)).as("seed %d", seed).isEqualTo(random(seed, 0.5));
            List<String> unused = random(seed, 1);
        }
    }
}
