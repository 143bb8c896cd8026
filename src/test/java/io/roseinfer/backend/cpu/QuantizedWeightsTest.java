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
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Accuracy of quantized weights in the built-in model over held-out text, {@code text/held-out.txt}, which is
 * {@code tools/make-models/corpus.py --seed 999331 --count 24}. Every document is a separate context after an end-of-text token; logits are
 * taken at every position. All precisions read the text in the same pass.
 */
@Tag("parity")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class QuantizedWeightsTest {
    private static final Path TEXT = Path.of("src/test/resources/text/held-out.txt");

    /** Maximum tokens in a step, whose logits are all kept. */
    private static final int CHUNK = Scratch.LOGIT_ROWS;

    private final Map<Precision, LogitError> errors = new EnumMap<>(Precision.class);

    private static float[] logits(StepDriver driver, int sample) {
        float[] logits = new float[driver.runner.spec().vocabularySize()];
        for (int token = 0; token < logits.length; token++) {
            logits[token] = ((CpuModelRunner) driver.runner).logit(sample, token);
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

    @BeforeAll
    void measure() throws IOException {
        try (ModelFiles files = ModelFiles.openBuiltin("tiny");
                StepDriver exact = driver(files, Precision.FP32);
                StepDriver bf16 = driver(files, Precision.BF16);
                StepDriver int8 = driver(files, Precision.INT8);
                StepDriver int4 = driver(files, Precision.INT4)) {
            Map<Precision, StepDriver> narrow =
                    Map.of(Precision.BF16, bf16, Precision.INT8, int8, Precision.INT4, int4);
            for (int[] document : documents(files)) {
                read(document, exact, narrow);
            }
        }
        errors.forEach((precision, error) ->
                System.out.println(error.row(precision.name().toLowerCase(Locale.ROOT))));
    }

    private void read(int[] document, StepDriver exact, Map<Precision, StepDriver> narrow) {
        StepDriver.Sequence all = new StepDriver.Sequence(document);
        Map<Precision, StepDriver.Sequence> sequences = new EnumMap<>(Precision.class);
        while (all.computed + 1 < document.length) {
            int first = all.computed;
            int count = Math.min(CHUNK, document.length - 1 - first);
            int[] positions = IntStream.range(first, first + count).toArray();
            exact.addSampling(all, count, positions).step();
            narrow.forEach((precision, driver) -> {
                StepDriver.Sequence sequence =
                        sequences.computeIfAbsent(precision, unused -> new StepDriver.Sequence(document));
                driver.addSampling(sequence, count, positions).step();
            });
            for (int i = 0; i < count; i++) {
                float[] expected = logits(exact, i);
                int sample = i;
                narrow.forEach((precision, driver) -> errors.computeIfAbsent(precision, unused -> new LogitError())
                        .add(expected, logits(driver, sample), document[first + sample + 1]));
            }
        }
    }

    private LogitError error(Precision precision) {
        return Objects.requireNonNull(errors.get(precision));
    }

    private static StepDriver driver(ModelFiles files, Precision precision) {
        CpuOptions options =
                CpuOptions.defaults().withThreads(1).withPrecision(precision).withKernels(KernelChoice.VECTOR);
        StepDriver driver = new StepDriver(new CpuBackend(options)
                .load(files.spec(), files.weights(), new RunnerLimits(1, CHUNK, 16, 512).withMaxSamples(CHUNK)));
        driver.params = SamplingParams.greedy();
        return driver;
    }

    /** The model's own weights are bfloat16, so bf16 is exact. */
    @Test
    void builtin_model_bfloat16_weights_are_its_own() {
        LogitError error = error(Precision.BF16);
        assertThat(error.largest()).isZero();
        assertThat(error.exactPerplexity()).isBetween(1.2, 1.3);
    }

    /** Token embedding and head in 8 bits, other matrices in 4 with inputs in 8. */
    @Test
    void builtin_model_int4_weights_keep_most_of_its_predictions() {
        LogitError error = error(Precision.INT4);
        assertThat(error.largest()).isBetween(0.1, 6.0);
        assertThat(error.rootMeanSquare()).isLessThan(0.6);
        assertThat(error.agreement()).isGreaterThan(0.97);
        assertThat(error.perplexity() / error.exactPerplexity()).isBetween(0.998, 1.003);
    }

    @Test
    void builtin_model_int8_weights_keep_its_predictions() {
        LogitError error = error(Precision.INT8);
        assertThat(error.largest()).isBetween(0.01, 1.0);
        assertThat(error.rootMeanSquare()).isLessThan(0.08);
        assertThat(error.agreement()).isGreaterThan(0.985);
        assertThat(error.perplexity() / error.exactPerplexity()).isBetween(0.999, 1.001);
    }
}
