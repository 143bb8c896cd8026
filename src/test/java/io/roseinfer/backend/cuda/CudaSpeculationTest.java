package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.Precision;
import io.roseinfer.base.Clock;
import io.roseinfer.base.SplitMix64;
import io.roseinfer.engine.Completion;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.Foresight;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.TokenStream;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.files.ModelFiles;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.policy.Drafter;
import io.roseinfer.scheduler.policy.StepPolicy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Completions are equal with and without drafts: bit for bit with {@link CudaOptions#batchInvariant}, otherwise up to tokens of almost
 * equal probability. {@code -Droseinfer.iters} sets the number of requests.
 */
@RequiresCuda
class CudaSpeculationTest {
    private static final int REQUESTS = Integer.getInteger("roseinfer.iters", 24);
    private static final int NEW_TOKENS = 60;
    private static final int ROWS = 8;

    /** Models with MHA and GQA. */
    enum Model {
        GPT2_FP16("gpt2", 12, Precision.FP16),
        GPT2_BF16("gpt2", 12, Precision.BF16),
        SMOLLM2_BF16("smollm2-135m", 6, Precision.BF16);

        private final String shape;
        private final int layers;
        private final Precision precision;

        Model(String shape, int layers, Precision precision) {
            this.shape = shape;
            this.layers = layers;
            this.precision = precision;
        }
    }

    private static List<GenerationRequest> requests() {
        List<GenerationRequest> requests = new ArrayList<>();
        for (int request = 0; request < REQUESTS; request++) {
            int[] prompt = new int[1 + (request * 37 + request % 3) % 210];
            for (int i = 0; i < prompt.length; i++) {
                prompt[i] = (int) (SplitMix64.uniform(i < 40 ? request % 9 : request, i) * 49_000);
            }
            SamplingParams sampling =
                    switch (request % 4) {
                        case 0 -> SamplingParams.greedy();
                        case 1 -> SamplingParams.greedy().withLogprobs(1);
                        case 2 -> SamplingParams.random().withTopK(40).withLogprobs(0);
                        default ->
                            SamplingParams.random().withRepetitionPenalty(1.2f).withFrequencyPenalty(0.2f);
                    };
            requests.add(GenerationRequest.ofTokens(prompt)
                    .withMaxNewTokens(NEW_TOKENS)
                    .withIgnoreEndOfText(true)
                    .withSampling(sampling)
                    .withSeed(request)
                    .withTag(request));
        }
        return requests;
    }

    private static SchedulerOptions.Builder options() {
        return SchedulerOptions.builder().maxBatchSize(ROWS).maxActiveRequests(2 * ROWS);
    }

    /** Serves the requests; all steps seem to take a like time, so drafts do not depend on the load of the machine. */
    private static List<Completion> serve(
            ModelRunner runner, ModelFiles files, SchedulerOptions options, boolean drafts) {
        EngineOptions engine = EngineOptions.defaults().withScheduler(options);
        Clock ticks = new AtomicLong()::incrementAndGet;
        try (Engine served = Engine.open(runner, files.tokenizer(), engine, ticks)) {
            List<TokenStream> streams = requests().stream().map(served::submit).toList();
            List<Completion> completions =
                    streams.stream().map(TokenStream::completion).toList();
            assertThat(served.stats().total(Fact.ACCEPTED_TOKENS) > REQUESTS * NEW_TOKENS / 4)
                    .isEqualTo(drafts);
            return completions;
        }
    }

    /** Uses a runner whose steps may have drafts. */
    private static void run(Model model, CudaOptions options, BiConsumer<ModelRunner, ModelFiles> use) {
        EngineOptions limits = EngineOptions.defaults()
                .withScheduler(
                        options().drafter(Drafter.ngram(7)).chunkedPrefill(true).build());
        try (ModelFiles files = ModelFiles.random(model.shape, 0);
                CudaBackend backend = CudaBackend.open(options.withPrecision(model.precision), Clock.system())) {
            ModelSpec spec = files.spec().withLayers(model.layers);
            try (ModelRunner runner = backend.load(
                    spec, files.weights().withLayers(model.layers), EngineLimits.runnerLimits(limits, spec))) {
                use.accept(runner, files);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Model.class)
    void completions_are_bit_identical_with_and_without_drafts(Model model) {
        run(model, CudaOptions.defaults().withBatchInvariant(true), (runner, files) -> {
            List<Completion> expected =
                    serve(runner, files, options().chunkedPrefill(true).build(), false);
            Drafter drafter = new Foresight(expected, 0.8, files.spec().vocabularySize());
            SchedulerOptions drafted =
                    options().chunkedPrefill(true).drafter(drafter).build();
            assertEqual(serve(runner, files, drafted, true), expected);
            SchedulerOptions mixed = options()
                    .chunkedPrefill(true)
                    .prefillMaxTokens(60)
                    .step(StepPolicy.mixed())
                    .drafter(drafter)
                    .build();
            assertEqual(serve(runner, files, mixed, true), expected);
        });
    }

    private static void assertEqual(List<Completion> seen, List<Completion> expected) {
        for (int i = 0; i < REQUESTS; i++) {
            assertThat(seen.get(i).tokens())
                    .as("request %d", i)
                    .isEqualTo(expected.get(i).tokens());
        }
    }

    @ParameterizedTest
    @EnumSource(Model.class)
    void completions_differ_only_at_near_ties(Model model, TestReporter out) {
        run(model, CudaOptions.defaults(), (runner, files) -> {
            List<Completion> expected =
                    serve(runner, files, options().chunkedPrefill(true).build(), false);
            SchedulerOptions drafted = options()
                    .chunkedPrefill(true)
                    .drafter(new Foresight(expected, 0.8, files.spec().vocabularySize()))
                    .build();
            List<Completion> seen = serve(runner, files, drafted, true);
            int equal = 0;
            for (int i = 1; i < REQUESTS; i += 4) {
                assertNearTie(seen.get(i), expected.get(i));
                equal += Arrays.equals(seen.get(i).ids(), expected.get(i).ids()) ? 1 : 0;
            }
            out.publishEntry(model + ", equal greedy completions", equal + " of " + REQUESTS / 4);
        });
    }

    /** Log-probabilities of greedy tokens are close up to and including the first token that differs. */
    private static void assertNearTie(Completion seen, Completion expected) {
        for (int i = 0; i < NEW_TOKENS; i++) {
            assertThat(seen.tokens().get(i).logprob())
                    .as("token %d", i)
                    .isCloseTo(expected.tokens().get(i).logprob(), within(0.05f));
            if (seen.tokens().get(i).id() != expected.tokens().get(i).id()) {
                return;
            }
        }
    }
}
