package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.Check;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.grammar.CompiledGrammar;
import io.roseinfer.grammar.Grammar;
import io.roseinfer.grammar.GrammarLimits;
import io.roseinfer.grammar.TokenTrie;
import io.roseinfer.grammar.TokenVocabulary;
import io.roseinfer.metrics.RequestTimeline;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.observe.Observers;
import io.roseinfer.observe.StepEvent;
import io.roseinfer.observe.StepObserver;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.WaitingQueue;
import io.roseinfer.scheduler.policy.QueueView;
import io.roseinfer.scheduler.policy.StepPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the loop, run by hand: no thread, no waiting, and a clock that ticks once per reading. */
class EngineLoopTest {
    private final EngineOptions options = Models.options();
    private long nextId;

    private LoneLoop loop(EngineOptions engineOptions, SimOptions sim) {
        SimRunner runner = Models.runner(engineOptions, sim);
        return new LoneLoop(runner, engineOptions, Models.ticking(), Observers.NONE);
    }

    private LiveRequest newRequest(GenerationRequest request) {
        return new LiveRequest(nextId++, request, 0, Models.CONTEXT, Optional.empty());
    }

    private LiveRequest submit(LoneLoop loop, GenerationRequest request) {
        LiveRequest live = newRequest(request);
        submit(loop, live);
        return live;
    }

    private static void submit(LoneLoop loop, LiveRequest live) {
        int[] prompt = ((Prompt.Tokens) live.request().prompt()).own();
        live.tokenized(prompt.length, 0);
        loop.submit(live, prompt);
    }

    private static void run(LoneLoop loop) {
        int guard = 0;
        while (loop.hasWork()) {
            loop.doWork();
            assertThat(guard++).as("iterations").isLessThan(100_000);
        }
        loop.check();
    }

    private static Completion completion(LiveRequest live) {
        return new RequestStream(live, Optional.empty(), Clock.system(), () -> {}).completion();
    }

    private int[] alone(GenerationRequest request) {
        LoneLoop loop = loop(options, SimOptions.defaults());
        LiveRequest live = submit(loop, request);
        run(loop);
        return completion(live).ids();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void policy_sees_the_duration_and_the_size_of_the_last_completed_step(int depth) {
        List<List<Long>> completed = new ArrayList<>(List.of(List.of(0L, 0L, 0L, 0L, 0L)));
        List<List<Long>> expected = new ArrayList<>();
        List<List<Long>> seen = new ArrayList<>();
        StepPolicy standard = StepPolicy.standard(false, false);
        StepPolicy policy = step -> {
            expected.add(completed.getLast());
            QueueView queue = step.queue();
            seen.add(List.of(
                    queue.lastStepNanos(),
                    (long) queue.lastStepTokens(),
                    (long) queue.lastStepPromptTokens(),
                    (long) queue.lastStepDecodeRows(),
                    queue.lastStepAttended()));
            standard.plan(step);
        };
        AtomicLong endNanos = new AtomicLong();
        StepObserver observer = (event, step) -> {
            if (event == StepEvent.APPLIED) {
                long startNanos = Math.max(step.get(Fact.START_NANOS), endNanos.getAndSet(step.endNanos()));
                completed.add(List.of(
                        step.endNanos() - startNanos,
                        step.get(Fact.TOKENS),
                        step.get(Fact.PREFILL_TOKENS),
                        step.get(Fact.DECODE_ROWS),
                        step.get(Fact.ATTENDED)));
            }
        };
        EngineOptions own = options.withScheduler(
                options.scheduler().toBuilder().step(policy).build());
        SimRunner runner = Models.runner(own, SimOptions.defaults().withMaxInFlight(depth));
        LoneLoop loop = new LoneLoop(runner, own, Models.ticking(), Observers.ofSteps(observer));
        for (int tokens = 1; tokens <= 5; tokens++) {
            submit(loop, Models.request(7, IntStream.range(0, tokens).toArray()));
        }
        run(loop);
        assertThat(seen).hasSizeGreaterThan(7).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void policy_sees_when_the_last_token_of_a_request_was_sampled(int depth) {
        AtomicLong endNanos = new AtomicLong();
        List<Long> expected = new ArrayList<>();
        List<Long> seen = new ArrayList<>();
        StepPolicy standard = StepPolicy.standard(false, false);
        StepPolicy policy = step -> {
            if (step.decoding() > 0) {
                expected.add(endNanos.get());
                seen.add(step.decoding(0).lastTokenNanos());
            }
            standard.plan(step);
        };
        StepObserver observer = (event, step) -> {
            if (event == StepEvent.APPLIED) {
                endNanos.set(step.endNanos());
            }
        };
        EngineOptions own = options.withScheduler(
                options.scheduler().toBuilder().step(policy).build());
        SimRunner runner = Models.runner(own, SimOptions.defaults().withMaxInFlight(depth));
        LoneLoop loop = new LoneLoop(runner, own, Models.ticking(), Observers.ofSteps(observer));
        submit(loop, Models.request(5, 1));
        run(loop);
        assertThat(seen).hasSizeGreaterThan(3).isEqualTo(expected);
    }

    @Test
    void blocks_held_while_nothing_runs_fail_a_check() {
        LoneLoop loop = loop(options, SimOptions.defaults());
        LiveRequest ended = submit(loop, Models.request(5, 1, 2));
        run(loop);
        loop.checkIdle();
        assertThat(ended.sequence().orElseThrow().table().grow(1)).isTrue();
        assertThatThrownBy(loop::checkIdle)
                .isInstanceOf(Check.Failure.class)
                .hasMessage("bug in roseinfer: 1 of 200 KV blocks are held though nothing waits or runs");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void tokens_of_a_request_do_not_depend_on_the_batch(int maxInFlight) {
        LoneLoop loop = loop(
                options.withScheduler(SchedulerOptions.builder().maxBatchSize(3).build()),
                SimOptions.defaults().withMaxInFlight(maxInFlight));
        List<GenerationRequest> requests = IntStream.range(0, 20)
                .mapToObj(i ->
                        Models.request(1 + i, IntStream.rangeClosed(1, 1 + i).toArray()))
                .toList();
        List<LiveRequest> live = requests.stream().map(r -> submit(loop, r)).toList();
        run(loop);
        for (int i = 0; i < requests.size(); i++) {
            assertThat(completion(live.get(i)).ids()).as("request %d", i).isEqualTo(alone(requests.get(i)));
        }
        assertThat(loop.endedCount()).isGreaterThanOrEqualTo(requests.size());
    }

    @Test
    void timestamps_are_in_order() {
        LoneLoop loop = loop(options, SimOptions.defaults());
        LiveRequest live = submit(loop, Models.request(5, 1, 2, 3));
        run(loop);
        RequestTimeline timeline = completion(live).timeline();
        assertThat(timeline.tokenizedNanos()).isLessThan(timeline.admittedNanos());
        assertThat(timeline.tokenNanos()).hasSize(5).isSorted();
        assertThat(timeline.admittedNanos()).isLessThan(timeline.tokenNanos()[0]);
        assertThat(timeline.finishedNanos()).isGreaterThanOrEqualTo(timeline.tokenNanos()[4]);
    }

    @Test
    void tokens_of_a_step_are_delivered_while_the_next_step_runs() {
        List<Integer> delivered = new ArrayList<>();
        List<LiveRequest> watched = new ArrayList<>();
        LoneLoop loop = loop(options, SimOptions.defaults().withOnStep(step -> {
            int count = 0;
            while (watched.getFirst().tokens().isPublished(count)) {
                count++;
            }
            delivered.add(count);
        }));
        watched.add(submit(loop, Models.request(4, 1)));
        run(loop);
        assertThat(delivered).containsExactly(0, 1, 2, 3);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void tokens_are_delivered_before_a_prompt_is_launched_behind_a_step_in_flight(boolean laterPrompt) {
        List<Integer> delivered = new ArrayList<>();
        List<LiveRequest> watched = new ArrayList<>();
        StepObserver observer = (event, step) -> {
            if (event == StepEvent.SUBMITTED) {
                delivered.add(watched.getFirst().tokens().isPublished(0) ? 1 : 0);
            }
        };
        SimRunner runner = Models.runner(options, SimOptions.defaults().withMaxInFlight(2));
        LoneLoop loop = new LoneLoop(runner, options, Models.ticking(), Observers.ofSteps(observer));
        watched.add(submit(loop, Models.request(4, 1)));
        loop.doWork();
        assertThat(delivered)
                .as("at the launches of the prompt and of the next step")
                .containsExactly(0, 0);
        if (laterPrompt) {
            LiveRequest unused = submit(loop, Models.request(4, 1));
        }
        loop.doWork();
        assertThat(delivered).as("at the launch of the third step").containsExactly(0, 0, laterPrompt ? 1 : 0);
    }

    @Test
    void stream_interval_delivers_the_first_token_immediately_and_then_every_nth() {
        List<Integer> delivered = new ArrayList<>();
        List<LiveRequest> watched = new ArrayList<>();
        LoneLoop loop =
                loop(options.withStreamInterval(3), SimOptions.defaults().withOnStep(step -> {
                    int count = 0;
                    while (watched.getFirst().tokens().isPublished(count)) {
                        count++;
                    }
                    delivered.add(count);
                }));
        watched.add(submit(loop, Models.request(9, 1)));
        run(loop);
        assertThat(delivered).containsExactly(0, 1, 1, 1, 4, 4, 4, 7, 7);
        assertThat(completion(watched.getFirst()).ids()).hasSize(9);
    }

    enum Moment {
        BEFORE_ADMISSION(0),
        IN_PREFILL(1),
        MID_DECODE(5),
        AFTER_THE_END(50);

        final int iterations;

        Moment(int iterations) {
            this.iterations = iterations;
        }
    }

    @ParameterizedTest
    @EnumSource(Moment.class)
    void cancelling_at_any_time_and_twice_releases_all_blocks(Moment moment) {
        LoneLoop loop = loop(options, SimOptions.defaults().withMaxInFlight(2));
        LiveRequest cancelled = submit(loop, Models.request(10, 1, 2, 3, 4, 5));
        LiveRequest other = submit(loop, Models.request(10, 1, 2, 3, 4, 6));
        for (int i = 0; i < moment.iterations; i++) {
            loop.doWork();
        }
        loop.cancel(cancelled);
        loop.cancel(cancelled);
        run(loop);
        loop.cancel(cancelled);
        run(loop);
        assertThat(loop.stats().blocksInUse()).isZero();
        assertThat(loop.endedCount()).isEqualTo(2);
        assertThat(completion(cancelled).finishReason())
                .isEqualTo(moment == Moment.AFTER_THE_END ? FinishReason.LENGTH : FinishReason.CANCELLED);
        assertThat(completion(other).ids()).isEqualTo(alone(Models.request(10, 1, 2, 3, 4, 6)));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void ten_thousand_random_requests_release_all_blocks(long seed) {
        Random random = new Random(seed);
        LoneLoop loop = loop(
                options.withKvBlocks(40)
                        .withScheduler(SchedulerOptions.builder()
                                .maxBatchSize(4)
                                .prefillMaxBatchSize(6)
                                .chunkedPrefill(seed % 2 == 0)
                                .prefillMaxTokens(48)
                                .prefixCache(seed > 2)
                                .build()),
                SimOptions.defaults().withMaxInFlight(1 + random.nextInt(2)));
        List<LiveRequest> all = new ArrayList<>();
        while (all.size() < 2500) {
            for (int burst = random.nextInt(4); burst > 0; burst--) {
                int[] prompt = random.ints(1 + random.nextInt(20), 0, 3).toArray();
                all.add(submit(loop, Models.request(1 + random.nextInt(12), prompt)));
            }
            if (!all.isEmpty() && random.nextInt(3) == 0) {
                loop.cancel(all.get(Math.max(0, all.size() - 1 - random.nextInt(30)) % all.size()));
            }
            loop.doWork();
        }
        run(loop);
        assertThat(loop.stats().blocksInUse()).as("seed %d", seed).isZero();
        assertThat(loop.endedCount()).as("seed %d", seed).isEqualTo(all.size());
        for (LiveRequest live : all) {
            Completion done = completion(live);
            if (done.finishReason() == FinishReason.LENGTH && random.nextInt(20) == 0) {
                assertThat(done.ids())
                        .as("seed %d, request %d", seed, live.id())
                        .isEqualTo(alone(live.request()));
            }
        }
    }

    @Test
    void recoverable_device_failure_fails_only_the_requests_of_its_step() {
        SimOptions failing = SimOptions.defaults().withOnStep(step -> {
            if (step == 1) {
                throw new DeviceFailure("step lost", true);
            }
        });
        LoneLoop loop = loop(
                options.withScheduler(SchedulerOptions.builder().maxBatchSize(1).build()), failing);
        LiveRequest first = submit(loop, Models.request(3, 1));
        LiveRequest second = submit(loop, Models.request(3, 2));
        run(loop);
        assertThatThrownBy(() -> completion(first))
                .isInstanceOf(DeviceFailure.class)
                .hasMessage("step lost");
        assertThat(completion(second).ids()).isEqualTo(alone(Models.request(3, 2)));
        assertThat(loop.stats().blocksInUse()).isZero();
        assertThat(loop.endedCount()).isGreaterThanOrEqualTo(2);
    }

    @Test
    void step_after_a_lost_one_continues_for_unaffected_requests() {
        SimOptions failing = SimOptions.defaults().withMaxInFlight(2).withOnStep(step -> {
            if (step == 0) {
                throw new DeviceFailure("step lost", true);
            }
        });
        LoneLoop loop = loop(
                options.withScheduler(
                        SchedulerOptions.builder().prefillMaxBatchSize(1).build()),
                failing);
        LiveRequest first = submit(loop, Models.request(3, 1));
        LiveRequest second = submit(loop, Models.request(3, 2));
        run(loop);
        assertThatThrownBy(() -> completion(first)).hasMessage("step lost");
        assertThat(completion(second).ids()).isEqualTo(alone(Models.request(3, 2)));
    }

    @Test
    void cancel_ends_its_stream_in_the_next_iteration_even_if_every_step_is_lost() {
        SimOptions failing = SimOptions.defaults().withMaxInFlight(2).withOnStep(step -> {
            throw new DeviceFailure("step lost", true);
        });
        LoneLoop loop = loop(
                options.withScheduler(
                        SchedulerOptions.builder().prefillMaxBatchSize(1).build()),
                failing);
        submit(loop, Models.request(9, 1));
        LiveRequest cancelled = submit(loop, Models.request(9, 2));
        submit(loop, Models.request(9, 3));
        loop.doWork();
        loop.doWork();
        loop.cancel(cancelled);
        loop.doWork();
        assertThat(cancelled.outcome()).contains(RequestOutcome.CANCELLED);
    }

    @Test
    void request_cancelled_before_its_admission_ends_with_the_step_that_admits_it() {
        LoneLoop loop = loop(options, SimOptions.defaults());
        LiveRequest live = newRequest(Models.request(20, 1, 2, 3));
        live.cancel();
        submit(loop, live);
        run(loop);
        Completion completion = completion(live);
        assertThat(completion.finishReason()).isEqualTo(FinishReason.CANCELLED);
        assertThat(completion.ids()).hasSizeLessThanOrEqualTo(1);
    }

    @Test
    void stopping_the_tokenizers_leaves_an_admitted_request_to_its_loop() {
        LoneLoop loop = loop(options, SimOptions.defaults());
        LiveRequest live = submit(loop, Models.request(20, 1, 2, 3));
        loop.doWork();
        loop.inFlight().terminateTokenizing(live, RequestOutcome.CANCELLED);
        run(loop);
        assertThat(completion(live).ids()).hasSize(20);
    }

    @Test
    void submission_that_fails_after_its_admission_leaves_the_request_to_its_loop() {
        LoneLoop loop = loop(options, SimOptions.defaults());
        LiveRequest live = submit(loop, Models.request(20, 1, 2, 3));
        loop.doWork();
        assertThat(loop.inFlight().discard(live)).isFalse();
        run(loop);
        assertThat(completion(live).ids()).hasSize(20);
    }

    @Test
    void request_tokenized_during_an_iteration_is_not_admitted_earlier() {
        List<LiveRequest> late = new ArrayList<>();
        List<LoneLoop> loops = new ArrayList<>();
        AtomicLong now = new AtomicLong();
        LoneLoop loop = new LoneLoop(
                Models.runner(options, SimOptions.defaults()),
                options,
                () -> {
                    long begun = now.addAndGet(10);
                    if (late.isEmpty() && !loops.isEmpty()) {
                        late.add(submit(loops.getFirst(), Models.request(5, 1)));
                        late.getFirst().tokenized(1, begun + 5);
                    }
                    return begun;
                },
                Observers.NONE);
        loops.add(loop);
        submit(loop, Models.request(5, 2));
        run(loop);
        RequestTimeline timeline = completion(late.getFirst()).timeline();
        assertThat(timeline.admittedNanos()).isGreaterThanOrEqualTo(timeline.tokenizedNanos());
    }

    @Test
    void cancel_in_the_admitting_iteration_has_a_timestamp_after_the_admission() {
        List<Runnable> meanwhile = new ArrayList<>();
        AtomicLong now = new AtomicLong();
        SimRunner runner = Models.runner(options, SimOptions.defaults());
        LoneLoop loop = new LoneLoop(
                runner,
                options,
                () -> {
                    meanwhile.forEach(Runnable::run);
                    return now.addAndGet(10);
                },
                Observers.NONE);
        submit(loop, Models.request(5, 1));
        loop.doWork();
        LiveRequest overtaken = submit(loop, Models.request(5, 2));
        overtaken.tokenized(1, now.incrementAndGet());
        meanwhile.add(() -> {
            if (!overtaken.hasEnded() && !overtaken.sequence().orElseThrow().isWaiting()) {
                loop.cancel(overtaken);
            }
        });
        run(loop);
        RequestTimeline timeline = completion(overtaken).timeline();
        assertThat(completion(overtaken).finishReason()).isEqualTo(FinishReason.CANCELLED);
        assertThat(timeline.admittedNanos()).isGreaterThan(timeline.tokenizedNanos());
        assertThat(timeline.finishedNanos()).isGreaterThanOrEqualTo(timeline.admittedNanos());
    }

    @Test
    void last_token_is_delivered_once_with_the_outcome() {
        LoneLoop loop = loop(options, SimOptions.defaults());
        LiveRequest live = submit(loop, Models.request(3, 1));
        List<Integer> delivered = new ArrayList<>();
        live.tokens().onDelivery(() -> delivered.add(live.tokens().delivered()));
        run(loop);
        assertThat(delivered).containsExactly(1, 2, 3);
    }

    @Test
    void cancelled_request_has_ended_after_its_cancellation() {
        Clock clock = Models.ticking();
        LoneLoop loop = new LoneLoop(Models.runner(options, SimOptions.defaults()), options, clock, Observers.NONE);
        LiveRequest live = submit(loop, Models.request(20, 1));
        loop.doWork();
        loop.doWork();
        long cancelledNanos = clock.nanos();
        loop.cancel(live);
        run(loop);
        assertThat(completion(live).timeline().finishedNanos()).isGreaterThan(cancelledNanos);
    }

    @Test
    void loop_ignores_the_cancellation_of_a_request_that_it_has_not_admitted() {
        LoneLoop loop = loop(options, SimOptions.defaults());
        LiveRequest waiting = submit(loop, Models.request(3, 1));
        loop.loop().cancel(waiting);
        run(loop);
        assertThat(completion(waiting).finishReason()).isEqualTo(FinishReason.LENGTH);
    }

    @Test
    void loop_that_has_a_cancellation_has_work() {
        LoneLoop loop = loop(options, SimOptions.defaults());
        LiveRequest ended = submit(loop, Models.request(3, 1));
        run(loop);
        loop.loop().cancel(ended);
        assertThat(loop.loop().isBusy()).isTrue();
        loop.doWork();
        assertThat(loop.loop().isBusy()).isFalse();
    }

    /** Submits a request that any loop may admit. */
    private LiveRequest submitShared(LoneLoop loop, GenerationRequest request) {
        LiveRequest live = newRequest(request);
        int[] prompt = ((Prompt.Tokens) request.prompt()).own();
        live.tokenized(prompt.length, 0);
        loop.inFlight().reserve();
        assertThat(loop.inFlight().enqueue(live, live.newSequence(prompt, Models.spec()), WaitingQueue.ANY))
                .isTrue();
        return live;
    }

    @Test
    void steps_of_an_iteration_admit_at_most_its_share_together() {
        LoneLoop loop = loop(
                options.withScheduler(
                        SchedulerOptions.builder().chunkedPrefill(true).build()),
                SimOptions.defaults().withMaxInFlight(2));
        for (int i = 0; i < 3; i++) {
            LiveRequest unused = submitShared(loop, Models.request(3, i));
        }
        loop.loop().doWork(1);
        assertThat(loop.inFlight().waitingQueue().sharedCount()).isEqualTo(2);
    }

    @Test
    void load_has_a_prompt_until_its_first_token_and_a_request_until_its_end() {
        LoneLoop loop = loop(options, SimOptions.defaults());
        LiveRequest live = submitShared(loop, Models.request(5, 1, 2, 3));
        List<String> seen = new ArrayList<>();
        live.tokens()
                .onDelivery(() -> seen.add(loop.loop().load().requests() + ", "
                        + loop.loop().load().uncomputedPromptTokens()));
        run(loop);
        assertThat(seen).startsWith("1, 0").endsWith("0, 0");
        assertThat(loop.loop().load().outstandingTokens()).isZero();
    }

    @Test
    void deadline_is_watched_by_others_only_until_the_loop_admits_the_request() {
        LoneLoop loop = loop(options, SimOptions.defaults());
        submit(loop, Models.request(5, 1).withDeadline(1_000_000));
        assertThat(loop.inFlight().nextDeadlineNanos()).isLessThan(Long.MAX_VALUE);
        loop.doWork();
        assertThat(loop.inFlight().nextDeadlineNanos()).isEqualTo(Long.MAX_VALUE);
        LiveRequest waiting = submit(loop, Models.request(5, 1).withDeadline(1_000_000));
        loop.cancel(waiting);
        assertThat(waiting.hasEnded()).isTrue();
        assertThat(loop.inFlight().nextDeadlineNanos()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void discarded_request_releases_its_place() {
        LoneLoop loop = loop(options, SimOptions.defaults());
        LiveRequest live = submit(loop, Models.request(5, 1).withDeadline(1_000_000));
        assertThat(loop.inFlight().discard(live)).isTrue();
        assertThat(loop.inFlight().count()).isZero();
        assertThat(loop.inFlight().nextDeadlineNanos()).isEqualTo(Long.MAX_VALUE);
        assertThat(loop.hasWork()).isFalse();
    }

    @Test
    void quiesce_delivers_the_tokens_of_the_steps_in_flight() {
        LoneLoop loop = loop(options, SimOptions.defaults().withMaxInFlight(2));
        LiveRequest live = submit(loop, Models.request(2, 1));
        loop.doWork();
        loop.quiesce();
        assertThat(live.outcome()).contains(RequestOutcome.LENGTH);
        assertThat(completion(live).ids()).isEqualTo(alone(Models.request(2, 1)));
    }

    @Test
    void requests_submitted_while_all_are_ended_are_ended_too() throws Exception {
        LoneLoop loop = loop(options, SimOptions.defaults());
        List<LiveRequest> handedOver = new ArrayList<>();
        Thread caller = Thread.ofPlatform().start(() -> {
            for (int i = 0; i < 20_000; i++) {
                handedOver.add(submit(loop, Models.request(1, 1)));
            }
        });
        while (caller.isAlive()) {
            loop.endAll(RequestOutcome.CANCELLED);
        }
        caller.join();
        loop.endAll(RequestOutcome.CANCELLED);
        assertThat(handedOver).allMatch(live -> live.tokens().isEnded());
        assertThat(loop.endedCount()).isEqualTo(handedOver.size());
    }

    @Test
    void end_of_text_ends_a_completion_unless_it_is_ignored() {
        // Finds a prompt after which the simulated model generates end-of-text first.
        int prompt = IntStream.range(0, 100_000)
                .filter(i -> alone(Models.request(1, i % 1000, i / 1000))[0] == Models.END)
                .findFirst()
                .orElseThrow();
        GenerationRequest request = Models.request(4, prompt % 1000, prompt / 1000);
        LoneLoop loop = loop(options, SimOptions.defaults());
        LiveRequest ignoring = submit(loop, request);
        LiveRequest stopping = submit(loop, request.withIgnoreEndOfText(false));
        run(loop);
        assertThat(completion(ignoring).ids()).hasSize(4).startsWith(Models.END);
        assertThat(completion(stopping).ids()).containsExactly(Models.END);
        assertThat(completion(stopping).finishReason()).isEqualTo(FinishReason.STOP);
    }

    @Test
    void full_context_ends_a_completion() {
        LoneLoop loop = loop(options, SimOptions.defaults());
        LiveRequest live =
                submit(loop, Models.request(1000, IntStream.range(0, 60).toArray()));
        run(loop);
        assertThat(completion(live).ids()).hasSize(Models.CONTEXT - 60);
        assertThat(completion(live).finishReason()).isEqualTo(FinishReason.LENGTH);
    }

    @Test
    void requeued_request_is_not_in_the_load_of_its_loop() {
        LoneLoop loop = loop(options, SimOptions.defaults());
        submit(loop, Models.request(5, 1, 2));
        loop.loop().begin(1);
        ReplicaLoad load = loop.loop().load();
        assertThat(load.requests()).isOne();
        List<Integer> whenRequeued = new ArrayList<>();
        loop.loop().requeueRestartable(request -> whenRequeued.add(load.requests()));
        assertThat(whenRequeued).containsExactly(0);
    }

    /** Returns masks that allow the token {@code a}; those after the first are never computed. */
    private static GrammarMasks lateMasks(LiveRequest request) {
        byte[][] tokens = new byte[Models.VOCABULARY][];
        tokens['a'] = new byte[] {'a'};
        CompiledGrammar grammar = CompiledGrammar.compile(
                Grammar.regex("a*"), TokenTrie.of(TokenVocabulary.of(tokens, Map.of())), GrammarLimits.DEFAULT);
        MaskWorkers none = new MaskWorkers(0, Clock.system(), Observers.NONE.requests());
        return new GrammarMasks(
                new GrammarMasks.Terms(request, grammar, new int[] {Models.END}, Optional.empty(), 0, none));
    }

    /** Returns whether an iteration of the loop parks its thread: parking forgets the object that the thread is blocked on. */
    private static boolean parks(LoneLoop loop) {
        Object blocker = new Object();
        LockSupport.setCurrentBlocker(blocker);
        loop.doWork();
        boolean parked = !blocker.equals(LockSupport.getBlocker(Thread.currentThread()));
        LockSupport.setCurrentBlocker(null);
        return parked;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void late_mask_is_waited_for_once_and_then_only_while_there_is_nothing_else_to_do(int depth) {
        LoneLoop loop = loop(options, SimOptions.defaults().withMaxInFlight(depth));
        LiveRequest masked = newRequest(Models.request(5, 1));
        masked.setMasks(lateMasks(masked));
        submit(loop, masked);
        assertThat(parks(loop)).as("prompt").isFalse();
        assertThat(parks(loop)).as("step whose mask is late").isTrue();
        assertThat(parks(loop)).as("step without the request").isFalse();
        assertThat(parks(loop)).as("nothing to do").isTrue();
        submit(loop, Models.request(5, 1));
        assertThat(parks(loop)).as("nothing was to do").isTrue();
        assertThat(parks(loop)).as("another request runs").isFalse();
    }
}
