package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.KvPrecision;
import io.roseinfer.backend.LogitError;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.Precision;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepDriver;
import io.roseinfer.base.Clock;
import io.roseinfer.model.files.ModelFiles;
import io.roseinfer.sampling.SamplingParams;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Accuracy of the fp8 KV cache for a trained model, over texts that it generated without it. */
@RequiresCuda
class Fp8KvCacheTest {
    private static final List<String> BEGINNINGS = List.of(
            "<|im_start|>user\nTell me a story.<|im_end|>\n<|im_start|>assistant\n",
            "<|im_start|>user\nWho are you?<|im_end|>\n<|im_start|>assistant\n",
            "<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n",
            "Once upon a time");
    private static final int TEXTS_OF_EACH = 4;
    private static final int LENGTH = 400;

    private static StepDriver driver(ModelFiles files, CudaBackend backend, long seed) {
        ModelRunner runner = backend.load(files.spec(), files.weights(), new RunnerLimits(1, LENGTH, 16, 4096));
        StepDriver driver = new StepDriver(runner);
        driver.params = SamplingParams.random().withLogprobs(1);
        driver.seed = seed;
        return driver;
    }

    private static List<int[]> texts(ModelFiles files, CudaBackend backend) {
        List<int[]> texts = new ArrayList<>();
        for (int seed = 1; seed <= TEXTS_OF_EACH; seed++) {
            for (String beginning : BEGINNINGS) {
                int[] ids = files.tokenizer().orElseThrow().encode(beginning);
                try (StepDriver driver = driver(files, backend, seed)) {
                    StepDriver.Sequence text = new StepDriver.Sequence(ids);
                    driver.add(text, ids.length, true);
                    while (text.computed < LENGTH) {
                        text.append(driver.step().getFirst().token());
                        driver.add(text, 1, true);
                    }
                    driver.step();
                    texts.add(text.tokens);
                }
            }
        }
        return texts;
    }

    @ParameterizedTest
    @EnumSource(
            value = Precision.class,
            names = {"FP32", "FP16", "BF16"})
    void fp8_kv_cache_keeps_predictions_of_a_trained_model(Precision precision, TestReporter out) {
        LogitError error = new LogitError();
        CudaOptions options = CudaOptions.defaults().withPrecision(precision).withGraphs(false);
        try (ModelFiles files = ModelFiles.openBuiltin("chat");
                CudaBackend wide = CudaBackend.open(options, Clock.system());
                CudaBackend narrow = CudaBackend.open(options.withKvCacheDtype(KvPrecision.FP8), Clock.system())) {
            for (int[] text : texts(files, wide)) {
                try (StepDriver exact = driver(files, wide, 1);
                        StepDriver rounded = driver(files, narrow, 1)) {
                    StepDriver.Sequence first = new StepDriver.Sequence(text);
                    StepDriver.Sequence second = new StepDriver.Sequence(text);
                    for (int i = 0; i + 1 < text.length; i++) {
                        exact.add(first, 1, true).step();
                        rounded.add(second, 1, true).step();
                        error.add(CudaProbe.logits(exact.runner, 0), CudaProbe.logits(rounded.runner, 0), text[i + 1]);
                    }
                }
            }
        }
        out.publishEntry("fp8 keys", error.row(precision.name()));
        System.out.println(error.row(precision.name()));
        assertThat(error.agreement()).isGreaterThan(0.97);
        assertThat(error.perplexity() / error.exactPerplexity()).isBetween(0.99, 1.02);
    }
}
