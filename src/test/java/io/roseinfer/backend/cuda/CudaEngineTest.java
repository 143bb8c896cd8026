package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.Precision;
import io.roseinfer.backend.cpu.CpuBackend;
import io.roseinfer.backend.cpu.CpuOptions;
import io.roseinfer.base.Clock;
import io.roseinfer.engine.Completion;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.TokenStream;
import io.roseinfer.golden.Golden;
import io.roseinfer.model.files.ModelFiles;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.SchedulerOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** The engine on a GPU, compared with Hugging Face and with itself under settings that must not matter. */
@RequiresCuda
class CudaEngineTest {

    private static final CudaOptions FP32 = CudaOptions.defaults().withPrecision(Precision.FP32);
    private static final CudaOptions FP16 = CudaOptions.defaults().withPrecision(Precision.FP16);

    private static void withEngine(
            Golden golden, CudaOptions cuda, SchedulerOptions scheduler, BiConsumer<Engine, CudaModelRunner> use) {
        EngineOptions options = EngineOptions.defaults().withScheduler(scheduler);
        try (ModelFiles files = golden.open();
                CudaBackend backend = CudaBackend.open(cuda, Clock.system());
                ModelRunner runner =
                        backend.load(files.spec(), files.weights(), EngineLimits.runnerLimits(options, files.spec()));
                Engine engine = Engine.open(runner, files.tokenizer(), options, Clock.system())) {
            use.accept(engine, (CudaModelRunner) runner);
        }
    }

    private static GenerationRequest request(Golden golden, int prompt) {
        return GenerationRequest.ofTokens(golden.ids(prompt))
                .withMaxNewTokens(golden.greedy(prompt).length)
                .withIgnoreEndOfText(true);
    }

    private static List<Completion> together(Engine engine, List<GenerationRequest> requests) {
        List<TokenStream> streams = requests.stream().map(engine::submit).toList();
        return streams.stream().map(TokenStream::completion).toList();
    }

    private static List<GenerationRequest> requests(Golden golden) {
        return IntStream.range(0, golden.prompts())
                .mapToObj(p -> request(golden, p))
                .toList();
    }

    private static List<String> ids(List<Completion> completions) {
        return completions.stream().map(c -> Arrays.toString(c.ids())).toList();
    }

    private static List<String> goldenIds(Golden golden) {
        return IntStream.range(0, golden.prompts())
                .mapToObj(p -> Arrays.toString(golden.greedy(p)))
                .toList();
    }

    @ParameterizedTest
    @FieldSource("io.roseinfer.golden.Golden#ALL")
    void fp32_greedy_with_logprobs_matches_hugging_face(String name) {
        Golden golden = Golden.read(name);
        withEngine(golden, FP32, SchedulerOptions.defaults(), (engine, runner) -> {
            List<Completion> completions = together(
                    engine,
                    requests(golden).stream()
                            .map(r -> r.withSampling(SamplingParams.greedy().withLogprobs(1)))
                            .toList());
            assertThat(ids(completions)).isEqualTo(goldenIds(golden));
            for (int p = 0; p < golden.prompts(); p++) {
                JsonNode logprobs = golden.prompt(p).get("greedy_logprobs");
                for (int i = 0; i < logprobs.size(); i++) {
                    assertThat((double) completions.get(p).tokens().get(i).logprob())
                            .as("log-probability of token %d of prompt %d", i, p)
                            .isCloseTo(logprobs.get(i).doubleValue(), within(1e-3));
                }
            }
        });
    }

    @ParameterizedTest
    @FieldSource("io.roseinfer.golden.Golden#ALL")
    void fp32_greedy_matches_hugging_face_solo_and_batched(String name) {
        Golden golden = Golden.read(name);
        withEngine(golden, FP32, SchedulerOptions.defaults(), (engine, runner) -> {
            assertThat(engine.generate(request(golden, 0)).ids()).isEqualTo(golden.greedy(0));
            assertThat(ids(together(engine, requests(golden)))).isEqualTo(goldenIds(golden));
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"builtin-tiny", "odd-heads", "gpt2-random"})
    void fp16_graphs_do_not_change_tokens(String name) {
        Golden golden = Golden.read(name);
        List<List<String>> seen = new ArrayList<>();
        for (boolean graphs : new boolean[] {true, false}) {
            withEngine(
                    golden,
                    FP16.withGraphs(graphs),
                    SchedulerOptions.defaults(),
                    (engine, runner) -> seen.add(ids(together(engine, requests(golden)))));
        }
        assertThat(seen.get(1)).isEqualTo(seen.get(0));
    }

    @Test
    void fp16_builtin_model_matches_hugging_face() {
        Golden golden = Golden.read("builtin-tiny");
        withEngine(
                golden,
                FP16,
                SchedulerOptions.defaults(),
                (engine, runner) ->
                        assertThat(ids(together(engine, requests(golden)))).isEqualTo(goldenIds(golden)));
    }

    @Test
    void fp32_chunked_prefill_keeps_the_tokens() {
        Golden golden = Golden.read("gpt2-random");
        SchedulerOptions chunked = SchedulerOptions.builder()
                .chunkedPrefill(true)
                .prefillMaxTokens(5)
                .build();
        withEngine(
                golden,
                FP32,
                chunked,
                (engine, runner) ->
                        assertThat(ids(together(engine, requests(golden)))).isEqualTo(goldenIds(golden)));
    }

    private static List<Integer> logprobBits(Completion completion) {
        return completion.tokens().stream()
                .map(token -> Float.floatToRawIntBits(token.logprob()))
                .toList();
    }

    @Test
    void batch_invariant_fp16_is_bit_identical_solo_and_batched() {
        Golden golden = Golden.read("gpt2-random");
        withEngine(golden, FP16.withBatchInvariant(true), SchedulerOptions.defaults(), (engine, runner) -> {
            List<GenerationRequest> requests = requests(golden).stream()
                    .map(r -> r.withSampling(SamplingParams.greedy().withLogprobs(0)))
                    .toList();
            List<Completion> alone = requests.stream().map(engine::generate).toList();
            List<Completion> together = together(engine, requests);
            assertThat(ids(together)).isEqualTo(ids(alone));
            for (int p = 0; p < golden.prompts(); p++) {
                assertThat(logprobBits(together.get(p))).as("prompt %d", p).isEqualTo(logprobBits(alone.get(p)));
            }
        });
    }

    /** A prompt's graph has padding after the prompt unless its length is a bucket. */
    @ParameterizedTest
    @CsvSource({"FP16, false", "FP16, true", "FP32, false"})
    void prompt_graphs_are_bit_identical_to_single_launches(Precision precision, boolean invariant) {
        Golden golden = Golden.read("gpt2-random");
        CudaOptions cuda = CudaOptions.defaults().withPrecision(precision).withBatchInvariant(invariant);
        int[] text = IntStream.range(0, golden.prompts())
                .flatMap(p -> Arrays.stream(golden.ids(p)))
                .toArray();
        List<List<Integer>> bits = new ArrayList<>();
        for (int promptGraphTokens : new int[] {0, 1024}) {
            withEngine(
                    golden,
                    cuda.withPromptGraphTokens(promptGraphTokens),
                    SchedulerOptions.builder().prefixCache(false).build(),
                    (engine, runner) -> {
                        List<Integer> all = new ArrayList<>();
                        for (int length : new int[] {
                            2, 3, 7, 8, 9, 16, 23, 33, 49, 65, 81, 97, 130, 193, 259, 353, 449, 512, 600, 1000
                        }) {
                            int[] prompt = IntStream.range(0, length)
                                    .map(i -> text[i % text.length])
                                    .toArray();
                            all.addAll(logprobBits(engine.generate(GenerationRequest.ofTokens(prompt)
                                    .withMaxNewTokens(3)
                                    .withIgnoreEndOfText(true)
                                    .withSampling(SamplingParams.greedy().withLogprobs(0)))));
                        }
                        bits.add(all);
                    });
        }
        assertThat(bits.get(1)).isEqualTo(bits.get(0));
    }

    @Test
    void sampled_tokens_are_equal_solo_and_batched() {
        Golden golden = Golden.read("builtin-tiny");
        List<GenerationRequest> requests = new ArrayList<>();
        for (int seed = 0; seed < 12; seed++) {
            requests.add(request(golden, seed % golden.prompts())
                    .withMaxNewTokens(40)
                    .withSampling(SamplingParams.greedy()
                            .withTemperature(0.8f)
                            .withTopK(40)
                            .withTopP(0.95f))
                    .withSeed(seed));
        }
        withEngine(golden, FP32, SchedulerOptions.defaults(), (engine, runner) -> {
            List<String> alone = ids(requests.stream().map(engine::generate).toList());
            assertThat(ids(together(engine, requests))).isEqualTo(alone);
            assertThat(alone).doesNotHaveDuplicates();
        });
    }

    /** Requests in every sampling mode, some with tokens of the previous step in their history. */
    private static List<GenerationRequest> drawn(Golden golden, int logprobs) {
        List<GenerationRequest> requests = new ArrayList<>();
        List<SamplingParams> ways = List.of(
                SamplingParams.random(),
                SamplingParams.greedy().withTemperature(0.7f).withTopK(5).withLogprobs(logprobs),
                SamplingParams.greedy().withTemperature(1.2f).withTopP(0.8f).withLogprobs(logprobs),
                SamplingParams.greedy()
                        .withTemperature(0.9f)
                        .withMinP(0.05f)
                        .withRepetitionPenalty(1.4f)
                        .withLogprobs(logprobs),
                SamplingParams.greedy()
                        .withRepetitionPenalty(1.3f)
                        .withPresencePenalty(0.5f)
                        .withFrequencyPenalty(0.25f)
                        .withLogprobs(logprobs),
                SamplingParams.random()
                        .withTopK(50)
                        .withTopP(0.9f)
                        .withMinP(0.01f)
                        .withRepetitionPenalty(0.9f)
                        .withPresencePenalty(-0.4f)
                        .withFrequencyPenalty(0.6f)
                        .withLogprobs(logprobs));
        for (int i = 0; i < 3 * ways.size(); i++) {
            requests.add(request(golden, i % golden.prompts())
                    .withMaxNewTokens(40)
                    .withSampling(ways.get(i % ways.size()).withLogprobs(logprobs))
                    .withSeed(i));
        }
        return requests;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void logprobs_do_not_change_sampled_tokens(boolean graphs) {
        Golden golden = Golden.read("builtin-tiny");
        SchedulerOptions wide = SchedulerOptions.builder().maxBatchSize(32).build();
        withEngine(golden, FP32.withGraphs(graphs), wide, (engine, runner) -> {
            List<String> without = ids(together(engine, drawn(golden, -1)));
            assertThat(ids(together(engine, drawn(golden, 3)))).isEqualTo(without);
            assertThat(Set.copyOf(without)).hasSizeGreaterThan(without.size() / 2);
        });
    }

    @Test
    void sampled_tokens_match_the_cpu() {
        Golden golden = Golden.read("builtin-tiny");
        SchedulerOptions wide = SchedulerOptions.builder().maxBatchSize(32).build();
        EngineOptions options = EngineOptions.defaults().withScheduler(wide);
        List<String> onTheProcessor;
        try (ModelFiles files = golden.open();
                CpuBackend backend = new CpuBackend(CpuOptions.defaults().withPrecision(Precision.FP32));
                ModelRunner runner =
                        backend.load(files.spec(), files.weights(), EngineLimits.runnerLimits(options, files.spec()));
                Engine engine = Engine.open(runner, files.tokenizer(), options, Clock.system())) {
            onTheProcessor = ids(together(engine, drawn(golden, -1)));
        }
        withEngine(
                golden,
                FP32,
                wide,
                (engine, runner) ->
                        assertThat(ids(together(engine, drawn(golden, -1)))).isEqualTo(onTheProcessor));
    }

    /** Greedy and penalized rows in the same steps; each feeds the next step. */
    @Test
    void penalties_do_not_affect_greedy_rows() {
        Golden golden = Golden.read("builtin-tiny");
        GenerationRequest penalised = request(golden, 0)
                .withSampling(SamplingParams.greedy()
                        .withRepetitionPenalty(1.3f)
                        .withPresencePenalty(0.2f)
                        .withFrequencyPenalty(0.1f));
        withEngine(golden, FP32, SchedulerOptions.defaults(), (engine, runner) -> {
            String alone = Arrays.toString(engine.generate(penalised).ids());
            List<String> mixed = ids(together(engine, List.of(penalised, request(golden, 1), request(golden, 2))));
            assertThat(mixed)
                    .containsExactly(alone, Arrays.toString(golden.greedy(1)), Arrays.toString(golden.greedy(2)));
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void poisoned_pool_keeps_the_tokens(boolean graphs) {
        Golden golden = Golden.read("gpt2-random");
        List<List<String>> seen = new ArrayList<>();
        for (boolean poison : new boolean[] {false, true}) {
            withEngine(golden, FP16.withGraphs(graphs), SchedulerOptions.defaults(), (engine, runner) -> {
                for (int block = 0; poison && block < runner.kv().blocks(); block++) {
                    runner.poison(block);
                }
                seen.add(ids(together(engine, requests(golden))));
            });
        }
        assertThat(seen.get(1)).isEqualTo(seen.get(0));
    }
}
