package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.SpecBuilder;
import io.roseinfer.observe.Observers;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.Drafter;
import io.roseinfer.scheduler.policy.QueueView;
import io.roseinfer.scheduler.policy.StepPolicy;
import io.roseinfer.scheduler.policy.WaitingRequest;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the exact limits of options and models. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class EngineLimitsTest {
    private static Engine engine(SimRunner runner, EngineOptions options) {
        return Engine.open(runner, Optional.empty(), options, Models.ticking());
    }

    @Test
    void engine_on_a_loaded_runner_uses_the_smaller_pool_of_its_options() {
        EngineOptions options = Models.options();
        try (SimRunner runner = Models.runner(options.withKvBlocks(200), SimOptions.defaults());
                Engine engine = engine(runner, options.withKvBlocks(3))) {
            assertThat(engine.stats().kv().blocks()).isEqualTo(3);
            assertThat(engine.generate(Models.request(11, 1, 2)).ids()).hasSize(11);
            assertThatThrownBy(() -> engine.submit(Models.request(12, 1, 2)))
                    .isInstanceOf(BadInput.class)
                    .hasMessageContaining("may grow to 14 tokens, which need 4 KV blocks, and the pool has 3");
        }
    }

    /** The watched runner says nothing about drafts. */
    @Test
    void drafter_is_rejected_on_a_device_that_does_not_verify_drafts() {
        SimulationSettings settings = LongStream.iterate(0, seed -> seed + 2)
                .mapToObj(SimulationSettings::of)
                .filter(SimulationSettings::isSpeculative)
                .findFirst()
                .orElseThrow();
        try (WatchedRunner runner = new WatchedRunner(settings, Trace.silent()) {
            @Override
            public int maxDraftedTokens() {
                return 0;
            }
        }) {
            EngineOptions options = settings.engine();
            assertThatThrownBy(() -> Engine.open(runner, Optional.empty(), options, Models.ticking()))
                    .isInstanceOf(BadInput.class)
                    .hasMessageContaining(
                            "the drafter is " + options.scheduler().drafter())
                    .hasMessageContaining("use no drafter");
        }
    }

    @Test
    void drafter_is_rejected_on_a_runner_loaded_without_drafts() {
        EngineOptions options = Models.options();
        SchedulerOptions drafting =
                SchedulerOptions.builder().drafter(Drafter.ngram(2)).build();
        try (SimRunner runner = Models.runner(options, SimOptions.defaults())) {
            assertThatThrownBy(() -> engine(runner, options.withScheduler(drafting)))
                    .isInstanceOf(BadInput.class)
                    .hasMessageContaining("tokens with drafts; the model was loaded for 0");
        }
    }

    @Test
    void engine_of_one_row_scores_a_prompt_in_one_step() {
        EngineOptions options = Models.options()
                .withKvBlocks(200)
                .withScheduler(SchedulerOptions.builder()
                        .maxBatchSize(1)
                        .prefillMaxBatchSize(1)
                        .build());
        GenerationRequest scored =
                Models.request(1, IntStream.range(0, 60).toArray()).withPromptLogprobs(0);
        try (Engine engine = Models.engine(options, SimOptions.defaults())) {
            assertThat(engine.generate(scored).promptLogprobs()).hasSize(60);
            assertThat(engine.stats().steps()).isEqualTo(1);
        }
    }

    @Test
    void smaller_pool_preempts_like_a_runner_loaded_with_it() {
        EngineOptions options = Models.options();
        CountDownLatch allSubmitted = new CountDownLatch(1);
        SimOptions waitsForAll = SimOptions.defaults().withOnStep(step -> Models.await(allSubmitted));
        try (SimRunner runner = Models.runner(options.withKvBlocks(200), waitsForAll);
                Engine engine = engine(runner, options.withKvBlocks(5))) {
            List<TokenStream> streams = IntStream.range(0, 6)
                    .mapToObj(i -> engine.submit(Models.request(14, i, i + 1)))
                    .toList();
            allSubmitted.countDown();
            streams.forEach(stream -> assertThat(stream.completion().ids()).hasSize(14));
            assertThat(engine.stats().total(Fact.PREEMPTIONS)).isPositive();
        }
    }

    @Test
    void engine_without_a_pool_size_uses_all_blocks() {
        EngineOptions options = Models.options();
        try (SimRunner runner = Models.runner(options.withKvBlocks(7), SimOptions.defaults());
                Engine engine = engine(runner, options.withKvBlocks(0))) {
            assertThat(engine.stats().kv().blocks()).isEqualTo(7);
        }
    }

    @Test
    void engine_that_asks_for_more_blocks_than_loaded_is_rejected() {
        EngineOptions options = Models.options();
        try (SimRunner runner = Models.runner(options.withKvBlocks(7), SimOptions.defaults())) {
            assertThatThrownBy(() -> engine(runner, options.withKvBlocks(8)))
                    .isInstanceOf(BadInput.class)
                    .hasMessageContaining("kvBlocks is 8; the runner was loaded with 7");
        }
    }

    @Test
    void warm_up_fits_the_smaller_pool() {
        EngineOptions options = Models.options();
        try (SimRunner runner = Models.runner(options.withKvBlocks(200), SimOptions.defaults())) {
            EngineWarmUp.run(runner, options.withKvBlocks(1), Models.ticking(), 1_000_000, Observers.NONE);
            try (Engine engine = engine(runner, options)) {
                assertThat(engine.generate(Models.request(3, 1)).ids()).hasSize(3);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void request_may_fill_the_pool_with_all_but_its_last_token(boolean chunkedPrefill) {
        EngineOptions options = Models.options()
                .withKvBlocks(4)
                .withScheduler(SchedulerOptions.builder()
                        .chunkedPrefill(chunkedPrefill)
                        .build());
        try (Engine engine = Models.engine(options, SimOptions.defaults())) {
            Completion completion = engine.generate(Models.request(16, 1));
            assertThat(completion.ids()).hasSize(16);
            assertThat(completion.finishReason()).isEqualTo(FinishReason.LENGTH);
            assertThatThrownBy(() -> engine.submit(Models.request(17, 1))).isInstanceOf(BadInput.class);
        }
    }

    @Test
    void alternatives_are_limited_to_the_vocabulary() {
        ModelSpec spec =
                SpecBuilder.named("small").vocabulary(8).context(Models.CONTEXT).build();
        EngineOptions options = Models.options();
        SimRunner runner = new SimRunner(spec, EngineLimits.runnerLimits(options, spec), SimOptions.defaults());
        try (runner;
                Engine engine = engine(runner, options)) {
            SamplingParams params = SamplingParams.greedy().withLogprobs(12);
            Completion completion = engine.generate(Models.request(5, 1, 2).withSampling(params));
            assertThat(completion.tokens())
                    .allSatisfy(token -> assertThat(token.top())
                            .extracting(GeneratedToken.TopToken::id)
                            .containsExactlyInAnyOrder(0, 1, 2, 3, 4, 5, 6, 7));
        }
    }

    @Test
    void policy_may_look_at_all_waiting_requests() {
        AdmissionPolicy newestOfAll = new AdmissionPolicy() {
            @Override
            public int lookahead() {
                return Integer.MAX_VALUE;
            }

            @Override
            public long rank(WaitingRequest request, QueueView queue) {
                return -request.id();
            }
        };
        EngineOptions options = Models.options()
                .withScheduler(SchedulerOptions.builder()
                        .maxBatchSize(1)
                        .admission(newestOfAll)
                        .build());
        SimRunner runner = Models.runner(options, SimOptions.defaults());
        try (runner) {
            OnlineScheduler scheduler = new OnlineScheduler(runner, options.scheduler());
            for (int i = 0; i < 1000; i++) {
                scheduler.enqueue(new int[] {1, 2}, 1, SamplingParams.greedy(), 0, true);
            }
            assertThat(scheduler.step().requestId(0)).isEqualTo(999);
            assertThat(scheduler.step().requestId(0)).isEqualTo(998);
        }
    }

    @Test
    void accepting_a_request_copies_its_ids_only_once() {
        int tokens = 200_000;
        ModelSpec spec =
                SpecBuilder.named("long").vocabulary(10).context(tokens + 100).build();
        EngineOptions options = Models.options().withBlockSize(1024).withKvBlocks(256);
        GenerationRequest request = Models.request(1, new int[tokens]);
        try (SimRunner runner = new SimRunner(spec, EngineLimits.runnerLimits(options, spec), SimOptions.defaults());
                Engine engine = engine(runner, options)) {
            engine.generate(request);
            long caller = Thread.currentThread().threadId();
            long before = AllocationMeter.allocatedBytes(caller);
            try (TokenStream unread = engine.submit(request)) {
                assertThat(AllocationMeter.allocatedBytes(caller) - before)
                        .as("bytes, for %d ids", tokens)
                        .isLessThan(2 * 4L * tokens);
                assertThat(unread.requestId()).isEqualTo(1);
            }
        }
    }

    /**
     * Without chunked prefill a prompt may be as long as the context. With it, prompts share the budget, 8,192 by
     * default.
     */
    @ParameterizedTest
    @CsvSource({
        "true, 2048, 2056",
        "true, 2147483647, 8200",
        "true, 1, 9",
        "false, 2048, 131080",
        "false, 2147483647, 131080"
    })
    void step_has_room_for_the_decode_batch_and_its_prompts(boolean chunked, int prefillMaxTokens, int tokens) {
        ModelSpec spec =
                SpecBuilder.named("long").vocabulary(10).context(131_072).build();
        EngineOptions options = Models.options()
                .withScheduler(SchedulerOptions.builder()
                        .chunkedPrefill(chunked)
                        .prefillMaxTokens(prefillMaxTokens)
                        .build());
        assertThat(EngineLimits.runnerLimits(options, spec).maxTokens()).isEqualTo(tokens);
        assertThat(EngineLimits.runnerLimits(options, spec).decodeRows()).isEqualTo(8);
    }

    /** The policy prefills all prompt tokens first, which fills the step, and only then asks for decode rows. */
    @ParameterizedTest
    @ValueSource(ints = {1, 7, SchedulerOptions.UNLIMITED})
    void policy_that_prefills_before_it_decodes_never_exceeds_a_step(int prefillMaxTokens) {
        StepPolicy promptsFirst = step -> {
            step.prefill(Integer.MAX_VALUE);
            step.decode();
        };
        EngineOptions options = Models.options()
                .withKvBlocks(200)
                .withScheduler(SchedulerOptions.builder()
                        .maxBatchSize(4)
                        .chunkedPrefill(true)
                        .prefillMaxTokens(prefillMaxTokens)
                        .step(promptsFirst)
                        .build());
        try (Engine engine = Models.engine(options, SimOptions.defaults())) {
            List<TokenStream> streams = IntStream.range(0, 12)
                    .mapToObj(i -> engine.submit(Models.request(5, new int[Models.CONTEXT - 8])))
                    .toList();
            streams.forEach(stream -> assertThat(stream.completion().ids()).hasSize(5));
        }
    }

    @Test
    void block_lists_longer_than_an_array_are_rejected_before_loading() {
        ModelSpec spec =
                SpecBuilder.named("long").vocabulary(10).context(1_000_000).build();
        EngineOptions options = Models.options()
                .withBlockSize(1)
                .withScheduler(SchedulerOptions.builder().maxBatchSize(4000).build());
        assertThatThrownBy(() -> EngineLimits.runnerLimits(options, spec))
                .isInstanceOf(BadInput.class)
                .hasMessage("a step of 8000 rows of up to 1000000 KV blocks lists 8000000000 blocks; 2147483639 are"
                        + " possible; use a larger blockSize or a smaller maxBatchSize");
    }
}
