package io.roseinfer.backend.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.roseinfer.backend.Precision;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepDriver;
import io.roseinfer.backend.StepDriver.Sampled;
import io.roseinfer.backend.StepDriver.Sequence;
import io.roseinfer.model.family.ModelDirectory;
import io.roseinfer.model.files.ModelFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Random models of every family, compared with 64-bit references and with themselves. */
@Tag("parity")
class RandomShapesTest {
    private static final int MORE = 4;
    /** Models per family; overridden by {@code -Droseinfer.iters}. */
    private static final int MODELS = Integer.getInteger("roseinfer.iters", 4);

    static Stream<Arguments> models() {
        return Stream.of("llama", "qwen2", "qwen3", "mistral", "smollm3", "gpt_neox")
                .flatMap(type -> IntStream.range(0, MODELS).mapToObj(seed -> Arguments.of(type, seed)));
    }

    private static ModelFiles open(String type, int seed, Path directory) throws IOException {
        String config = RandomConfig.of(type, new Random(type.hashCode() + seed));
        return ModelFiles.openDirectory(
                config, ModelDirectory.of(directory, config).amplify(6).write());
    }

    private static int[] prompt(ModelFiles files, int seed) {
        Random random = new Random(seed);
        return random.ints(
                        1 + random.nextInt(RandomConfig.MAX_TOKENS - MORE),
                        0,
                        files.spec().vocabularySize())
                .toArray();
    }

    private static StepDriver driver(ModelFiles files, Precision precision, KernelChoice kernels) {
        CpuOptions options = new CpuOptions(2, precision, kernels);
        RunnerLimits limits = new RunnerLimits(4, 2 * RandomConfig.MAX_TOKENS, 16, 64);
        return new StepDriver(new CpuBackend(options).load(files.spec(), files.weights(), limits));
    }

    private static List<Sampled> run(ModelFiles files, Precision precision, KernelChoice kernels, int chunk, int seed) {
        try (StepDriver driver = driver(files, precision, kernels)) {
            return driver.alone(prompt(files, seed), chunk, MORE);
        }
    }

    @ParameterizedTest(name = "{0}, seed {1}")
    @MethodSource("models")
    void log_probabilities_agree_with_64_bit_arithmetic(String type, int seed, @TempDir Path directory)
            throws IOException {
        try (ModelFiles files = open(type, seed, directory)) {
            DoubleModel reference = new DoubleModel(files.spec(), files.weights());
            int[] sequence = prompt(files, seed);
            for (Sampled sampled : run(files, Precision.FP32, KernelChoice.SCALAR, 64, seed)) {
                double[] logits = reference.logits(sequence);
                double tolerance = 2e-4
                        * Math.max(1, Arrays.stream(logits).map(Math::abs).max().orElseThrow() / 10);
                double[] expected = DoubleModel.logSoftmax(logits);
                for (int rank = 0; rank < StepDriver.TOPS; rank++) {
                    assertThat((double) sampled.logprobs().get(rank))
                            .as("%s after %d tokens, rank %d", files.spec().name(), sequence.length, rank)
                            .isCloseTo(expected[sampled.tops().get(rank)], within(tolerance));
                }
                sequence = Arrays.copyOf(sequence, sequence.length + 1);
                sequence[sequence.length - 1] = sampled.token();
            }
        }
    }

    @ParameterizedTest(name = "{0}, seed {1}")
    @MethodSource("models")
    void vector_kernels_are_bit_identical_to_scalar_kernels(String type, int seed, @TempDir Path directory)
            throws IOException {
        try (ModelFiles files = open(type, seed, directory)) {
            for (Precision precision : KernelFixtures.PRECISIONS) {
                List<Sampled> scalar = run(files, precision, KernelChoice.SCALAR, 64, seed);
                assertThat(run(files, precision, KernelChoice.VECTOR, 5, seed))
                        .as("%s as %s, in chunks", files.spec().name(), precision)
                        .isEqualTo(scalar);
                assertThat(besideAnother(files, precision, seed))
                        .as("%s as %s, with another prompt", files.spec().name(), precision)
                        .isEqualTo(scalar.getFirst());
            }
        }
    }

    /** Returns the prompt's logits in a step with another prompt. */
    private static Sampled besideAnother(ModelFiles files, Precision precision, int seed) {
        int[] prompt = prompt(files, seed);
        int[] other = prompt(files, seed + 1000);
        try (StepDriver driver = driver(files, precision, KernelChoice.VECTOR)) {
            driver.add(new Sequence(other), other.length, true);
            return driver.add(new Sequence(prompt), prompt.length, true).step().get(1);
        }
    }
}
