package io.roseinfer.golden;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.Precision;
import io.roseinfer.backend.cpu.CpuBackend;
import io.roseinfer.backend.cpu.CpuOptions;
import io.roseinfer.backend.cpu.KernelChoice;
import io.roseinfer.base.Clock;
import io.roseinfer.engine.Completion;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.TokenStream;
import io.roseinfer.model.files.ModelFiles;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.tensor.Tensor;
import io.roseinfer.tokenizer.Tokenizer;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import tools.jackson.databind.JsonNode;

/** The whole engine on the processor against Hugging Face's greedy generation. */
@Tag("parity")
class GoldenGreedyTest {
    private static final SchedulerOptions CHUNKED =
            SchedulerOptions.builder().chunkedPrefill(true).prefillMaxTokens(5).build();

    /** Loads a model, and uses an engine of each of the schedulers, one after the other. */
    private static void withEngines(
            Golden golden, List<SchedulerOptions> schedulers, BiConsumer<Engine, ModelFiles> use) {
        CpuOptions cpu = CpuOptions.defaults()
                .withThreads(2)
                .withPrecision(Precision.FP32)
                .withKernels(KernelChoice.VECTOR);
        EngineOptions options = EngineOptions.defaults();
        try (ModelFiles files = golden.open();
                CpuBackend backend = new CpuBackend(cpu);
                ModelRunner runner =
                        backend.load(files.spec(), files.weights(), EngineLimits.runnerLimits(options, files.spec()))) {
            for (SchedulerOptions scheduler : schedulers) {
                try (Engine engine =
                        Engine.open(runner, files.tokenizer(), options.withScheduler(scheduler), Clock.system())) {
                    use.accept(engine, files);
                }
            }
        }
    }

    private static GenerationRequest request(Golden golden, int prompt) {
        return GenerationRequest.ofTokens(golden.ids(prompt))
                .withMaxNewTokens(golden.greedy(prompt).length)
                .withSampling(SamplingParams.greedy().withLogprobs(1))
                .withIgnoreEndOfText(true);
    }

    private static void assertGolden(Golden golden, int prompt, Completion completion) {
        assertThat(completion.ids()).as("prompt %d", prompt).isEqualTo(golden.greedy(prompt));
        JsonNode logprobs = golden.prompt(prompt).get("greedy_logprobs");
        for (int i = 0; i < logprobs.size(); i++) {
            assertThat((double) completion.tokens().get(i).logprob())
                    .as("log-probability of token %d of prompt %d", i, prompt)
                    .isCloseTo(logprobs.get(i).doubleValue(), within(2e-4));
        }
    }

    /** Alone and all together, with whole prompts and chunks of a few tokens, the same ids, which are Hugging Face's. */
    @ParameterizedTest
    @FieldSource("io.roseinfer.golden.Golden#ALL")
    void greedy_tokens_and_their_log_probabilities_are_hugging_faces_with_and_without_chunks(String name) {
        Golden golden = Golden.read(name);
        List<SchedulerOptions> schedulers = List.of(SchedulerOptions.defaults(), CHUNKED);
        withEngines(golden, schedulers, (engine, files) -> {
            assertGolden(golden, 0, engine.generate(request(golden, 0)));
            List<TokenStream> streams = IntStream.range(0, golden.prompts())
                    .mapToObj(p -> engine.submit(request(golden, p)))
                    .toList();
            for (int p = 0; p < golden.prompts(); p++) {
                assertGolden(golden, p, streams.get(p).completion());
            }
        });
    }

    @Test
    void random_weights_are_the_ones_the_script_made() {
        JsonNode checksum = Golden.read("gpt2-random").expected().get("weights").get("checksum");
        try (Arena arena = Arena.ofConfined();
                ModelFiles files = ModelFiles.random("gpt2", 0)) {
            Tensor tensor = files.source().read(checksum.get("tensor").asString(), arena);
            double sum = 0;
            for (long i = 0; i < tensor.elements(); i++) {
                sum += tensor.get(i);
            }
            for (int i = 0; i < 4; i++) {
                assertThat((double) tensor.get(i))
                        .isEqualTo(checksum.get("first").get(i).doubleValue());
            }
            assertThat(sum).isCloseTo(checksum.get("sum_float64").doubleValue(), within(1e-6));
        }
    }

    @Test
    void builtin_tokenizer_and_text_equal_hugging_face() {
        Golden golden = Golden.read("builtin-tiny");
        withEngines(golden, List.of(SchedulerOptions.defaults()), (engine, files) -> {
            Tokenizer tokenizer = files.tokenizer().orElseThrow();
            for (JsonNode entry : golden.expected().get("tokenizer")) {
                String text = entry.get("text").asString();
                assertThat(tokenizer.encode(text)).as(text).isEqualTo(Golden.ints(entry.get("ids")));
            }
            for (int p = 0; p < golden.prompts(); p++) {
                String text = golden.prompt(p).get("text").asString();
                Completion completion = engine.generate(
                        GenerationRequest.of(text).withMaxNewTokens(200).withIgnoreEndOfText(true));
                assertThat(completion.promptIds()).isEqualTo(golden.ids(p));
                assertThat(completion.text().orElseThrow())
                        .isEqualTo(
                                golden.prompt(p).get("greedy_text").asString().replace("<|endoftext|>", ""));
            }
        });
    }
}
