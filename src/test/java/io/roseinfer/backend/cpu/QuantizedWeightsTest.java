package io.roseinfer.backend.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.LogitError;
import io.roseinfer.backend.Precision;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepDriver;
import io.roseinfer.model.files.ModelFiles;
import io.roseinfer.sampling.SamplingParams;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Accuracy of quantized weights in the built-in model over held-out text, {@code text/held-out.txt}, which is
 * {@code tools/make-models/corpus.py --seed 999331 --count 24}. Every document is a separate context after an end-of-text token; logits are
 * taken at every position, one token per step.
 */
@Tag("parity")
class QuantizedWeightsTest {
    private static final Path TEXT = Path.of("src/test/resources/text/held-out.txt");

    private static float[] logits(StepDriver driver) {
        float[] logits = new float[driver.runner.spec().vocabularySize()];
        for (int token = 0; token < logits.length; token++) {
            logits[token] = ((CpuModelRunner) driver.runner).logit(0, token);
        }
        return logits;
    }

    /** Token ids of the documents, each with the end-of-text token before it and, where the context allows, after it. */
    private static List<int[]> documents(ModelFiles files) throws IOException {
        int end = files.spec().endOfText().getFirst();
        return Files.readString(TEXT)
                .replaceFirst("\n-----\n$", "")
                .transform(text -> List.of(text.split("\n-----\n")))
                .stream()
                .map(text -> files.tokenizer().orElseThrow().encode(text))
                .map(ids -> {
                    int[] document =
                            new int[Math.min(ids.length + 2, files.spec().contextLength())];
                    Arrays.fill(document, end);
                    System.arraycopy(ids, 0, document, 1, Math.min(ids.length, document.length - 1));
                    return document;
                })
                .toList();
    }

    private static LogitError measure(Precision precision) throws IOException {
        LogitError error = new LogitError();
        try (ModelFiles files = ModelFiles.openBuiltin("tiny");
                StepDriver exact = driver(files, Precision.FP32);
                StepDriver narrow = driver(files, precision)) {
            for (int[] document : documents(files)) {
                StepDriver.Sequence first = new StepDriver.Sequence(document);
                StepDriver.Sequence second = new StepDriver.Sequence(document);
                for (int i = 0; i + 1 < document.length; i++) {
                    exact.add(first, 1, true).step();
                    narrow.add(second, 1, true).step();
                    error.add(logits(exact), logits(narrow), document[i + 1]);
                }
            }
        }
        System.out.println(error.row(precision.name().toLowerCase(Locale.ROOT)));
        return error;
    }

    private static StepDriver driver(ModelFiles files, Precision precision) {
        CpuOptions options =
                CpuOptions.defaults().withThreads(1).withPrecision(precision).withKernels(KernelChoice.VECTOR);
        StepDriver driver = new StepDriver(
                new CpuBackend(options).load(files.spec(), files.weights(), new RunnerLimits(1, 1, 16, 512)));
        driver.params = SamplingParams.greedy();
        return driver;
    }

    /** The model's own weights are bfloat16, so bf16 is exact. */
    @Test
    void builtin_model_bfloat16_weights_are_its_own() throws IOException {
        LogitError error = measure(Precision.BF16);
        assertThat(error.largest()).isZero();
        assertThat(error.exactPerplexity()).isBetween(1.2, 1.3);
    }

    /** Token embedding and head in 8 bits, other matrices in 4 with inputs in 8. */
    @Test
    void builtin_model_int4_weights_keep_most_of_its_predictions() throws IOException {
        LogitError error = measure(Precision.INT4);
        assertThat(error.largest()).isBetween(0.1, 6.0);
        assertThat(error.rootMeanSquare()).isLessThan(0.6);
        assertThat(error.agreement()).isGreaterThan(0.97);
        assertThat(error.perplexity() / error.exactPerplexity()).isBetween(0.998, 1.003);
    }

    @Test
    void builtin_model_int8_weights_keep_its_predictions() throws IOException {
        LogitError error = measure(Precision.INT8);
        assertThat(error.largest()).isBetween(0.01, 1.0);
        assertThat(error.rootMeanSquare()).isLessThan(0.08);
        assertThat(error.agreement()).isGreaterThan(0.985);
        assertThat(error.perplexity() / error.exactPerplexity()).isBetween(0.999, 1.001);
    }
}
