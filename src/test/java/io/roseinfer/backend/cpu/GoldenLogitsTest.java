package io.roseinfer.backend.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.Precision;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepDriver;
import io.roseinfer.golden.Golden;
import io.roseinfer.model.files.ModelFiles;
import io.roseinfer.tensor.Tensor;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares logits with Hugging Face's in float64; with fp32 weights they differ by at most 2e-4. */
@Tag("parity")
class GoldenLogitsTest {
    private static final double TOLERANCE = 2e-4;

    private static StepDriver driver(CpuBackend backend, ModelFiles files) {
        int context = files.spec().contextLength();
        return new StepDriver(backend.load(files.spec(), files.weights(), new RunnerLimits(4, context, 16, 0)));
    }

    private static CpuBackend backend() {
        return backend(Precision.FP32, KernelChoice.VECTOR);
    }

    private static CpuBackend backend(Precision precision, KernelChoice kernels) {
        return new CpuBackend(
                CpuOptions.defaults().withThreads(2).withPrecision(precision).withKernels(kernels));
    }

    private static float logit(StepDriver driver, int token) {
        return ((CpuModelRunner) driver.runner).logit(0, token);
    }

    @ParameterizedTest
    @FieldSource("io.roseinfer.golden.Golden#SMALL")
    void logits_at_every_position_of_every_prompt_agree(String name) {
        assertThat(worst(name, Precision.FP32, KernelChoice.VECTOR)).isLessThan(TOLERANCE);
    }

    @ParameterizedTest
    @FieldSource("io.roseinfer.golden.Golden#SMALL")
    void logits_of_the_scalar_kernels_agree(String name) {
        assertThat(worst(name, Precision.FP32, KernelChoice.SCALAR)).isLessThan(TOLERANCE);
    }

    /**
     * Tolerances are about twice the observed errors. Misreading the model moves a logit by at least 0.76 ({@code sensitivity} of the
     * goldens), more than int8 does.
     */
    @ParameterizedTest
    @CsvSource({
        "grouped-heads, BF16, 2e-4",
        "grouped-heads, INT8, 0.18",
        "grouped-heads, INT4, 2.6",
        "scaled-rotary, BF16, 0.05",
        "scaled-rotary, INT8, 0.18",
        "scaled-rotary, INT4, 2.2"
    })
    void logits_of_quantized_weights_stay_close(String name, Precision precision, double tolerance) {
        assertThat(worst(name, precision, KernelChoice.VECTOR)).isLessThan(tolerance);
        assertThat(worst(name, precision, KernelChoice.SCALAR)).isLessThan(tolerance);
    }

    /** Returns the largest difference of a logit over all positions and prompts. */
    private static double worst(String name, Precision precision, KernelChoice kernels) {
        Golden golden = Golden.read(name);
        double worst = 0;
        try (ModelFiles files = golden.open();
                CpuBackend backend = backend(precision, kernels)) {
            for (int p = 0; p < golden.prompts(); p++) {
                try (StepDriver driver = driver(backend, files)) {
                    worst = Math.max(worst, worst(driver, golden.ids(p), golden.tensor("prompt." + p + ".logits")));
                }
            }
        }
        return worst;
    }

    private static double worst(StepDriver driver, int[] prompt, Tensor expected) {
        StepDriver.Sequence sequence = new StepDriver.Sequence(prompt);
        int vocabulary = (int) expected.dimension(1);
        double worst = 0;
        for (int position = 0; position < prompt.length; position++) {
            driver.add(sequence, 1, true).step();
            for (int token = 0; token < vocabulary; token++) {
                double difference = logit(driver, token) - expected.get((long) position * vocabulary + token);
                worst = Math.max(worst, Math.abs(difference));
            }
        }
        return worst;
    }

    @Test
    void logits_of_the_gpt2_shape_agree_at_the_end_of_the_prompt_and_of_the_completion() {
        Golden golden = Golden.read("gpt2-random");
        int[] subset = Golden.ints(golden.expected().get("vocab_subset"));
        try (ModelFiles files = golden.open();
                CpuBackend backend = backend();
                StepDriver driver = driver(backend, files)) {
            for (int p = 0; p < golden.prompts(); p++) {
                StepDriver.Sequence sequence = new StepDriver.Sequence(golden.ids(p));
                driver.add(sequence, sequence.tokens.length, true).step();
                assertSubset(driver, subset, golden.tensor("prompt." + p + ".prompt_end.logits"));
                int[] greedy = golden.greedy(p);
                for (int i = 0; i < greedy.length - 1; i++) {
                    sequence.append(greedy[i]);
                }
                driver.add(sequence, greedy.length - 1, true).step();
                assertSubset(driver, subset, golden.tensor("prompt." + p + ".generated_end.logits"));
            }
        }
    }

    private static void assertSubset(StepDriver driver, int[] subset, Tensor expected) {
        double worst = 0;
        for (int i = 0; i < subset.length; i++) {
            worst = Math.max(worst, Math.abs(logit(driver, subset[i]) - expected.get(i)));
        }
        assertThat(worst).as("largest difference of a logit").isLessThan(TOLERANCE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"builtin-tiny", "builtin-chat"})
    void logits_of_the_builtin_models_agree_far_into_a_completion(String name) {
        Golden golden = Golden.read(name);
        try (ModelFiles files = golden.open();
                CpuBackend backend = backend();
                StepDriver driver = driver(backend, files)) {
            for (int p = 0; p < golden.prompts(); p++) {
                for (int step : golden.stepsWithLogits(p)) {
                    StepDriver.Sequence sequence = new StepDriver.Sequence(golden.ids(p));
                    for (int i = 0; i < step; i++) {
                        sequence.append(golden.greedy(p)[i]);
                    }
                    driver.add(sequence, sequence.tokens.length, true).step();
                    Tensor expected = golden.tensor("prompt." + p + ".step." + step + ".logits");
                    double worst = 0;
                    for (int token = 0; token < expected.elements(); token++) {
                        worst = Math.max(worst, Math.abs(logit(driver, token) - expected.get(token)));
                    }
                    assertThat(worst).as("prompt %d, step %d", p, step).isLessThan(TOLERANCE);
                }
            }
        }
    }
}
