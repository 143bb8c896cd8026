package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.engine.GeneratedToken.TopToken;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.scheduler.SchedulerOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Log-probabilities of prompts, on a simulated device that reads back all earlier tokens. */
class PromptLogprobsTest {
    private static final int TOPS = 3;

    private static Engine engine(SchedulerOptions.Builder scheduler, int blocks, int inFlight, int samples) {
        return engine(scheduler, blocks, SimOptions.defaults().withMaxInFlight(inFlight), samples);
    }

    private static Engine engine(SchedulerOptions.Builder scheduler, int blocks, SimOptions sim, int samples) {
        EngineOptions options =
                EngineOptions.defaults().withBlockSize(4).withKvBlocks(blocks).withScheduler(scheduler.build());
        RunnerLimits limits = EngineLimits.runnerLimits(options, Models.spec());
        SimRunner runner = new SimRunner(
                Models.spec(), limits.withMaxSamples(Math.max(samples, limits.maxRows())), sim.withReadBack(true));
        return Engine.open(runner, Optional.empty(), options, Models.ticking());
    }

    private static int[] prompt(int length, int salt) {
        return IntStream.range(0, length).map(i -> (i * i * 7 + salt) % 900).toArray();
    }

    private static GenerationRequest reporting(int newTokens, int... prompt) {
        return Models.request(newTokens, prompt).withPromptLogprobs(TOPS);
    }

    /** Requires the reports to equal what the same tokens get when they are generated, one at a time. */
    private static void assertReports(Engine engine, Completion completion) {
        int[] prompt = completion.promptIds();
        List<PromptToken> reported = completion.promptLogprobs();
        assertThat(reported).hasSize(prompt.length);
        assertThat(reported.getFirst()).isEqualTo(new PromptToken(prompt[0], Float.NaN, 0, List.of()));
        for (int i = 1; i < prompt.length; i++) {
            GeneratedToken generated = engine.generate(Models.request(1, Arrays.copyOf(prompt, i))
                            .withAllowedTokens(prompt[i])
                            .withSampling(SamplingParams.greedy().withLogprobs(TOPS)))
                    .tokens()
                    .getFirst();
            PromptToken token = reported.get(i);
            assertThat(token.id()).isEqualTo(generated.id()).isEqualTo(prompt[i]);
            assertThat(token.logprob()).as("token %d", i).isEqualTo(generated.logprob());
            assertThat(token.top()).isEqualTo(generated.top());
            if (token.rank() <= TOPS) {
                assertThat(token.top().get(token.rank() - 1).id()).isEqualTo(token.id());
            } else {
                assertThat(token.top()).extracting(TopToken::id).doesNotContain(token.id());
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"false, 1", "true, 1", "false, 2", "true, 2"})
    void reports_equal_those_of_the_same_tokens_when_generated(boolean chunked, int inFlight) {
        SchedulerOptions.Builder scheduler = SchedulerOptions.builder()
                .maxBatchSize(3)
                .prefillMaxTokens(chunked ? 7 : 100)
                .chunkedPrefill(chunked);
        try (Engine engine = engine(scheduler, 200, inFlight, 0)) {
            List<TokenStream> streams = new ArrayList<>();
            List<int[]> plain = new ArrayList<>();
            for (int length : new int[] {1, 2, 5, 6, 7, 13, 40, 63}) {
                streams.add(engine.submit(reporting(5, prompt(length, length))));
                streams.add(engine.submit(reporting(0, prompt(length, 2 * length))));
                streams.add(engine.submit(Models.request(9, prompt(length, 3 * length))));
            }
            for (TokenStream stream : streams) {
                Completion completion = stream.completion();
                int[] prompt = completion.promptIds();
                assertThat(stream.promptLogprobs()).isEqualTo(completion.promptLogprobs());
                if (!completion.promptLogprobs().isEmpty()) {
                    assertReports(engine, completion);
                }
                plain.add(completion.ids());
                assertThat(engine.generate(Models.request(completion.tokens().size(), prompt))
                                .ids())
                        .isEqualTo(completion.ids());
                assertThat(completion.finishReason()).isEqualTo(FinishReason.LENGTH);
            }
            assertThat(plain).anyMatch(ids -> ids.length == 9).anyMatch(ids -> ids.length == 0);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void preempted_request_has_each_report_once_and_right(int inFlight) {
        SchedulerOptions.Builder scheduler =
                SchedulerOptions.builder().maxBatchSize(4).prefillMaxTokens(9).chunkedPrefill(true);
        CountDownLatch allSubmitted = new CountDownLatch(1);
        SimOptions waitsForAll =
                SimOptions.defaults().withMaxInFlight(inFlight).withOnStep(step -> Models.await(allSubmitted));
        try (Engine engine = engine(scheduler, 24, waitsForAll, 0)) {
            List<TokenStream> streams = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                streams.add(engine.submit(
                        i % 3 == 2 ? Models.request(40, prompt(9, i)) : reporting(30, prompt(17 + i, i))));
            }
            allSubmitted.countDown();
            List<Completion> completions =
                    streams.stream().map(TokenStream::completion).toList();
            assertThat(engine.stats().total(Fact.PREEMPTIONS)).isPositive();
            completions.stream()
                    .filter(completion -> completion.promptIds().length > 9)
                    .forEach(completion -> assertReports(engine, completion));
        }
    }

    @Test
    void request_publishes_prefixes_but_reads_none() {
        try (Engine engine = engine(SchedulerOptions.builder(), 200, 1, 64)) {
            int[] prompt = prompt(20, 1);
            Completion first = engine.generate(Models.request(2, prompt));
            Completion reported = engine.generate(reporting(2, prompt));
            assertThat(reported.cachedTokens()).isZero();
            assertThat(reported.ids()).isEqualTo(first.ids());
            assertReports(engine, reported);
            Completion other = engine.generate(reporting(0, prompt(30, 5)));
            assertThat(other.tokens()).isEmpty();
            assertThat(engine.generate(Models.request(1, prompt(30, 5))).cachedTokens())
                    .isEqualTo(28);
        }
    }

    @Test
    void request_without_new_tokens_may_fill_the_context_and_the_pool() {
        try (Engine engine = engine(SchedulerOptions.builder(), 16, 1, 0)) {
            Completion completion = engine.generate(reporting(0, prompt(Models.CONTEXT, 3)));
            assertThat(completion.finishReason()).isEqualTo(FinishReason.LENGTH);
            assertThat(completion.tokens()).isEmpty();
            assertReports(engine, completion);
            assertThatThrownBy(() -> engine.submit(reporting(0, prompt(Models.CONTEXT + 1, 3))))
                    .isInstanceOf(BadInput.class);
            assertThatThrownBy(() -> engine.submit(reporting(1, prompt(Models.CONTEXT, 3))))
                    .isInstanceOf(BadInput.class);
        }
    }

    @Test
    void completion_without_the_request_has_no_reports() {
        try (Engine engine = engine(SchedulerOptions.builder(), 50, 1, 0)) {
            assertThat(engine.generate(Models.request(2, 1, 2, 3)).promptLogprobs())
                    .isEmpty();
            assertThat(engine.generate(Models.request(0, 1, 2, 3)).ids()).isEmpty();
            Completion completion = engine.generate(Models.request(1, 1, 2, 3).withPromptLogprobs(0));
            assertThat(completion.promptLogprobs())
                    .extracting(token -> token.top().size())
                    .containsExactly(0, 0, 0);
        }
    }

    @Test
    void more_most_likely_tokens_than_the_maximum_are_rejected() {
        assertThatThrownBy(() -> Models.request(1, 1).withPromptLogprobs(SamplingParams.MAX_LOGPROBS + 1))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("promptLogprobs");
    }
}
