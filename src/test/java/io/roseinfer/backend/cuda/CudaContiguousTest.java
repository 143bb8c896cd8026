package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.Precision;
import io.roseinfer.base.Clock;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.TokenStream;
import io.roseinfer.golden.Golden;
import io.roseinfer.model.files.ModelFiles;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Compares contiguous with paged KV memory. If the context is a multiple of 16 tokens, the kernels are the same, so near ties are resolved
 * equally.
 */
@RequiresCuda
class CudaContiguousTest {

    /** Returns the tokens of a golden's prompts, run concurrently and long enough to cross blocks. */
    private static List<String> tokens(Golden golden, CudaOptions cuda, boolean paged) {
        try (ModelFiles files = golden.open();
                CudaBackend backend = CudaBackend.open(cuda, Clock.system())) {
            EngineOptions options = paged
                    ? EngineOptions.defaults()
                    : EngineOptions.defaults().withBlockSize(files.spec().contextLength());
            try (ModelRunner runner = backend.load(
                            files.spec(), files.weights(), EngineLimits.runnerLimits(options, files.spec()));
                    Engine engine = Engine.open(runner, files.tokenizer(), options, Clock.system())) {
                List<TokenStream> streams = new ArrayList<>();
                for (int prompt = 0; prompt < golden.prompts(); prompt++) {
                    streams.add(engine.submit(GenerationRequest.ofTokens(golden.ids(prompt))
                            .withMaxNewTokens(golden.greedy(prompt).length)
                            .withIgnoreEndOfText(true)));
                }
                return streams.stream()
                        .map(stream -> Arrays.toString(stream.completion().ids()))
                        .toList();
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "builtin-tiny, FP16, true",
        "builtin-tiny, FP16, false",
        "builtin-tiny, FP32, true",
        "gpt2-random, FP16, true",
        "gpt2-random, FP32, true",
        "odd-heads, FP16, true",
        "odd-heads, FP32, false",
    })
    void contiguous_and_paged_attention_give_the_same_tokens(String name, Precision precision, boolean graphs) {
        Golden golden = Golden.read(name);
        CudaOptions cuda = CudaOptions.defaults().withPrecision(precision).withGraphs(graphs);
        assertThat(tokens(golden, cuda, false)).isEqualTo(tokens(golden, cuda, true));
    }

    /** Batch-invariant kernels also have one order of additions for paged and contiguous memory. */
    @ParameterizedTest
    @CsvSource({"builtin-tiny, BF16", "builtin-tiny, FP16", "relu, BF16", "untied, FP16"})
    void batch_invariant_contiguous_and_paged_attention_give_the_same_tokens(String name, Precision precision) {
        Golden golden = Golden.read(name);
        CudaOptions cuda = CudaOptions.defaults().withPrecision(precision).withBatchInvariant(true);
        assertThat(tokens(golden, cuda, false)).isEqualTo(tokens(golden, cuda, true));
    }
}
