package io.roseinfer.backend.cuda;

import io.roseinfer.backend.ConstrainedSamples;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.Precision;
import io.roseinfer.backend.ReportedSamples;
import io.roseinfer.backend.RowSamples;
import io.roseinfer.base.Clock;
import io.roseinfer.model.files.ModelFiles;
import java.util.function.Consumer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Samples after any tokens of a row; with {@link CudaOptions#batchInvariant} they equal the samples of shorter rows, bit for bit. */
@RequiresCuda
class CudaRowSamplesTest {
    private static void run(String shape, Precision precision, Consumer<ModelRunner> use) {
        CudaOptions options = CudaOptions.defaults().withPrecision(precision).withBatchInvariant(true);
        try (ModelFiles files = ModelFiles.random(shape, 0);
                CudaBackend backend = CudaBackend.open(options, Clock.system());
                ModelRunner runner = backend.load(files.spec(), files.weights(), RowSamples.LIMITS)) {
            use.accept(runner);
        }
    }

    @ParameterizedTest
    @CsvSource({"gpt2, FP16", "gpt2, FP32", "smollm2-135m, BF16"})
    void sample_in_the_middle_of_a_row_equals_that_of_a_shorter_row(String shape, Precision precision) {
        run(shape, precision, runner -> {
            RowSamples.assertEachEqualsItsPrefix(runner, 37);
            RowSamples.assertEachEqualsItsPrefix(runner, 8, 4, 25);
        });
    }

    @ParameterizedTest
    @CsvSource({"gpt2, FP16", "gpt2, FP32", "smollm2-135m, BF16"})
    void masks_and_biases_constrain_their_sample_alone(String shape, Precision precision) {
        run(shape, precision, runner -> {
            ConstrainedSamples.assertMostLikelyAllowedToken(runner);
            ConstrainedSamples.assertBiasesAreAdded(runner);
            ConstrainedSamples.assertNoAllowedToken(runner);
        });
    }

    @ParameterizedTest
    @CsvSource({"gpt2, FP16", "gpt2, FP32", "smollm2-135m, BF16"})
    void reported_token_has_the_log_probability_of_the_drawn_one(String shape, Precision precision) {
        run(shape, precision, ReportedSamples::assertEqualDrawn);
    }

    @ParameterizedTest
    @CsvSource({"gpt2, FP16", "smollm2-135m, BF16"})
    void tokens_may_follow_one_that_is_still_on_the_device(String shape, Precision precision) {
        run(shape, precision, RowSamples::assertTokensAfterOneOnTheDevice);
    }
}
