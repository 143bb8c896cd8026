package io.roseinfer.backend.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.roseinfer.backend.Precision;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepDriver;
import io.roseinfer.backend.StepDriver.Sampled;
import io.roseinfer.model.Activation;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.SpecBuilder;
import io.roseinfer.tensor.DType;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Compares the runner with the model's equations in 64-bit floats. */
@Tag("parity")
class CpuRunnerReferenceTest {
    private static final int MORE = 5;

    static Stream<ModelSpec> shapes() {
        return Stream.of(
                TestModel.plain(),
                TestModel.awkward(),
                TestModel.rotary(),
                TestModel.partlyRotary(),
                TestModel.windowed(),
                TestModel.parallel(),
                small(21, 40).width(7).inner(5).build(),
                small(97, 64)
                        .width(64)
                        .layers(2)
                        .heads(4)
                        .inner(130)
                        .activation(Activation.GELU_TANH)
                        .untied()
                        .build());
    }

    private static SpecBuilder small(int vocabulary, int context) {
        return SpecBuilder.named("test").vocabulary(vocabulary).context(context);
    }

    @ParameterizedTest
    @MethodSource("shapes")
    void scalar_logprobs_match_64_bit_arithmetic(ModelSpec spec) {
        assertAgrees(TestModel.random(spec, 11), Precision.FP32, KernelChoice.SCALAR, 2e-5);
    }

    @ParameterizedTest
    @MethodSource("shapes")
    void best_kernels_logprobs_match_64_bit_arithmetic(ModelSpec spec) {
        assertAgrees(TestModel.random(spec, 12), Precision.FP32, KernelChoice.VECTOR, 2e-5);
    }

    @Test
    void bf16_checkpoint_is_exact_as_bf16() {
        assertAgrees(TestModel.random(TestModel.plain(), 13, DType.BF16), Precision.AUTO, KernelChoice.VECTOR, 2e-5);
    }

    @Test
    void bf16_weights_stay_close_to_the_full_ones() {
        assertAgrees(TestModel.random(TestModel.plain(), 14), Precision.BF16, KernelChoice.VECTOR, 0.05);
    }

    @Test
    void int8_weights_stay_close_to_the_full_ones() {
        assertAgrees(TestModel.random(TestModel.plain(), 15), Precision.INT8, KernelChoice.VECTOR, 0.15);
    }

    @Test
    void int4_weights_stay_close_to_the_full_ones() {
        assertAgrees(TestModel.random(TestModel.plain(), 16), Precision.INT4, KernelChoice.VECTOR, 1.5);
    }

    private static void assertAgrees(TestModel model, Precision precision, KernelChoice kernels, double tolerance) {
        CpuOptions options = new CpuOptions(2, precision, kernels);
        int[] prompt = tokens(model.spec, 19);
        DoubleModel reference = new DoubleModel(model.spec, model.weights());
        try (CpuBackend backend = new CpuBackend(options);
                StepDriver driver =
                        new StepDriver(backend.load(model.spec, model.weights(), new RunnerLimits(4, 32, 16, 0)))) {
            int[] sequence = prompt;
            for (Sampled sampled : driver.alone(prompt, 32, MORE)) {
                double[] expected = DoubleModel.logSoftmax(reference.logits(sequence));
                for (int rank = 0; rank < StepDriver.TOPS; rank++) {
                    assertThat((double) sampled.logprobs().get(rank))
                            .as("after %d tokens, rank %d", sequence.length, rank)
                            .isCloseTo(expected[sampled.tops().get(rank)], within(tolerance));
                }
                sequence = Arrays.copyOf(sequence, sequence.length + 1);
                sequence[sequence.length - 1] = sampled.token();
            }
        }
    }

    static int[] tokens(ModelSpec spec, int count) {
        Random random = new Random(count);
        return random.ints(count, 0, spec.vocabularySize()).toArray();
    }
}
