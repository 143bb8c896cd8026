package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.Precision;
import io.roseinfer.base.Clock;
import io.roseinfer.base.SplitMix64;
import io.roseinfer.engine.Completion;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.TokenStream;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.files.ModelFiles;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.SchedulerOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * With {@link CudaOptions#batchInvariant}, a request's log-probabilities are bit-identical for any other rows, chunking of its prompt, and
 * preemption with recomputation.
 */
@RequiresCuda
class BatchInvarianceTest {
    private static final long SEED = 20_17;
    private static final int REQUESTS = 80;
    private static final int NEW_TOKENS = 40;

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

    /** A request's tokens and log-probabilities. */
    private record Yield(List<Integer> ids, List<Integer> logprobBits) {
        static Yield of(Completion completion) {
            return new Yield(
                    completion.tokens().stream().map(token -> token.id()).toList(),
                    completion.tokens().stream()
                            .map(token -> Float.floatToRawIntBits(token.logprob()))
                            .toList());
        }
    }

    /** Prompts of awkward lengths; some share a prefix. */
    private static List<GenerationRequest> requests(SamplingParams sampling) {
        List<GenerationRequest> requests = new ArrayList<>();
        for (int request = 0; request < REQUESTS; request++) {
            int[] prompt = new int[1 + (request * 37 + request % 3) % 210];
            for (int i = 0; i < prompt.length; i++) {
                prompt[i] = (int) (SplitMix64.uniform(SEED + (i < 40 ? request % 9 : request), i) * 49_000);
            }
            requests.add(GenerationRequest.ofTokens(prompt)
                    .withMaxNewTokens(NEW_TOKENS)
                    .withIgnoreEndOfText(true)
                    .withSampling(sampling));
        }
        return requests;
    }

    private static List<Yield> run(Model model, EngineOptions options, Function<Engine, List<Yield>> use) {
        CudaOptions cuda = CudaOptions.defaults().withPrecision(model.precision).withBatchInvariant(true);
        try (ModelFiles files = ModelFiles.random(model.shape, 0);
                CudaBackend backend = CudaBackend.open(cuda, Clock.system());
                ModelRunner runner = load(backend, files, model.layers, options);
                Engine engine = Engine.open(runner, files.tokenizer(), options, Clock.system())) {
            return use.apply(engine);
        }
    }

    private static ModelRunner load(CudaBackend backend, ModelFiles files, int layers, EngineOptions options) {
        ModelSpec spec = files.spec().withLayers(layers);
        return backend.load(spec, files.weights().withLayers(layers), EngineLimits.runnerLimits(options, spec));
    }

    private static EngineOptions options(SchedulerOptions.Builder scheduler) {
        return EngineOptions.defaults().withScheduler(scheduler.build());
    }

    private static List<Yield> together(Engine engine, SamplingParams sampling) {
        List<TokenStream> streams =
                requests(sampling).stream().map(engine::submit).toList();
        return streams.stream().map(TokenStream::completion).map(Yield::of).toList();
    }

    private static List<Yield> alone(Engine engine, SamplingParams sampling) {
        return requests(sampling).stream().map(engine::generate).map(Yield::of).toList();
    }

    @ParameterizedTest
    @EnumSource(Model.class)
    void results_are_bit_identical_in_any_batch(Model model) {
        SamplingParams reported = SamplingParams.greedy().withLogprobs(0);
        EngineOptions plain = options(SchedulerOptions.builder().prefixCache(false));
        List<Yield> wanted = run(model, plain, engine -> alone(engine, reported));

        EngineOptions whole = options(SchedulerOptions.builder().maxBatchSize(REQUESTS));
        assertThat(run(model, whole, engine -> together(engine, reported)))
                .as("in steps of up to %d rows, prompts whole", REQUESTS)
                .isEqualTo(wanted);

        EngineOptions chunked = options(SchedulerOptions.builder()
                .maxBatchSize(33)
                .chunkedPrefill(true)
                .prefillMaxTokens(61)
                .prefixCache(false));
        assertThat(run(model, chunked, engine -> together(engine, reported)))
                .as("chunked prompts together with decode rows")
                .isEqualTo(wanted);

        EngineOptions scarce =
                options(SchedulerOptions.builder().maxBatchSize(24)).withKvBlocks(40);
        assertThat(run(model, scarce, engine -> {
                    List<Yield> yields = together(engine, reported);
                    assertThat(engine.stats().total(Fact.PREEMPTIONS)).isPositive();
                    return yields;
                }))
                .as("so few blocks that requests are preempted")
                .isEqualTo(wanted);
    }

    /** Without log-probabilities, decode steps are replayed graphs with padding rows. */
    @ParameterizedTest
    @EnumSource(Model.class)
    void graphs_do_not_change_tokens(Model model) {
        EngineOptions plain = options(SchedulerOptions.builder().prefixCache(false));
        List<List<Integer>> wanted =
                run(
                                model,
                                plain,
                                engine -> alone(engine, SamplingParams.greedy().withLogprobs(0)))
                        .stream()
                        .map(Yield::ids)
                        .toList();
        EngineOptions mixed =
                options(SchedulerOptions.builder().maxBatchSize(70).prefillMaxBatchSize(11));
        List<List<Integer>> seen = run(model, mixed, engine -> together(engine, SamplingParams.greedy())).stream()
                .map(Yield::ids)
                .toList();
        assertThat(seen).isEqualTo(wanted);
    }
}
