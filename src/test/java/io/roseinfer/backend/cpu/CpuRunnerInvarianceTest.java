package io.roseinfer.backend.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.roseinfer.backend.ConstrainedSamples;
import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.Precision;
import io.roseinfer.backend.ReportedSamples;
import io.roseinfer.backend.RowSamples;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepDriver;
import io.roseinfer.backend.StepDriver.Sampled;
import io.roseinfer.backend.StepDriver.Sequence;
import io.roseinfer.backend.StepOutputs.Status;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.SpecBuilder;
import io.roseinfer.sampling.SampleRequest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A request's results depend only on the model and its own tokens, and are bit-identical. */
@Tag("parity")
class CpuRunnerInvarianceTest {
    private static final int MORE = 6;
    private static final RunnerLimits LIMITS = new RunnerLimits(8, 64, 16, 0);
    private static final CpuOptions OPTIONS = new CpuOptions(2, Precision.FP32, KernelChoice.VECTOR);

    private final TestModel model = TestModel.random(spec(), 21);
    private final int[] prompt = CpuRunnerReferenceTest.tokens(model.spec, 37);

    /** Returns the model under test. */
    ModelSpec spec() {
        return TestModel.awkward();
    }

    private static StepDriver driver(TestModel model, CpuOptions options, RunnerLimits limits) {
        return new StepDriver(new CpuBackend(options).load(model.spec, model.weights(), limits));
    }

    private List<Sampled> run(CpuOptions options, RunnerLimits limits, int chunk) {
        try (StepDriver driver = driver(model, options, limits)) {
            return driver.alone(prompt, chunk, MORE);
        }
    }

    @ParameterizedTest
    @EnumSource(KernelChoice.class)
    void kernels_do_not_change_results(KernelChoice kernels) {
        for (Precision precision : KernelFixtures.PRECISIONS) {
            CpuOptions options = OPTIONS.withPrecision(precision);
            assertThat(run(options.withKernels(kernels), LIMITS, 64))
                    .as("%s", precision)
                    .isEqualTo(run(options.withKernels(KernelChoice.SCALAR), LIMITS, 64));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 7})
    void threads_do_not_change_results(int threads) {
        for (Precision precision : List.of(Precision.FP32, Precision.INT4)) {
            CpuOptions options = OPTIONS.withPrecision(precision);
            assertThat(run(options.withThreads(threads), LIMITS, 64))
                    .as("%s", precision)
                    .isEqualTo(run(options.withThreads(1), LIMITS, 64));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5, 16, 36})
    void chunking_does_not_change_results(int chunk) {
        assertThat(run(OPTIONS, LIMITS, chunk)).isEqualTo(run(OPTIONS, LIMITS, 64));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 15, 17, 32, 70})
    void block_size_does_not_change_results(int blockSize) {
        assertThat(run(OPTIONS, new RunnerLimits(8, 64, blockSize, 0), 64)).isEqualTo(run(OPTIONS, LIMITS, 64));
    }

    @ParameterizedTest
    @FieldSource("io.roseinfer.backend.cpu.KernelFixtures#PRECISIONS")
    void other_rows_do_not_change_results(Precision precision) {
        CpuOptions options = OPTIONS.withPrecision(precision);
        List<Sampled> alone = run(options, LIMITS, 64);
        for (long seed = 0; seed < 8; seed++) {
            try (StepDriver driver = driver(model, options, LIMITS)) {
                assertThat(amongOthers(driver, new Random(seed)))
                        .as("seed %d", seed)
                        .isEqualTo(alone);
            }
        }
    }

    /** Runs the prompt in a batch with changing other rows, chunk sizes and row positions. */
    private List<Sampled> amongOthers(StepDriver driver, Random random) {
        Sequence ours = new Sequence(prompt);
        List<Sequence> others = new ArrayList<>();
        List<Sampled> results = new ArrayList<>();
        while (results.size() <= MORE) {
            if (others.size() < 4) {
                others.add(new Sequence(CpuRunnerReferenceTest.tokens(model.spec, 1 + random.nextInt(60))));
            }
            int before = random.nextInt(others.size() + 1);
            for (Sequence other : others.subList(0, before)) {
                addSome(driver, other, random);
            }
            int ourSample = driver.inputs.samples();
            addSome(driver, ours, random);
            boolean sampled = driver.inputs.samples() > ourSample;
            for (Sequence other : others.subList(before, others.size())) {
                addSome(driver, other, random);
            }
            List<Sampled> step = driver.step();
            if (sampled) {
                results.add(step.get(ourSample));
                ours.append(step.get(ourSample).token());
            }
            others.removeIf(other -> other.computed == other.tokens.length);
        }
        return results;
    }

    private static void addSome(StepDriver driver, Sequence sequence, Random random) {
        int left = sequence.tokens.length - sequence.computed;
        int count = 1 + random.nextInt(Math.min(left, 12));
        driver.add(sequence, count, count == left);
    }

    @Test
    void poisoned_free_slots_do_not_change_results() {
        List<Sampled> clean = run(OPTIONS, LIMITS, 64);
        try (StepDriver driver = driver(model, OPTIONS, LIMITS)) {
            poison(driver);
            assertThat(driver.alone(prompt, 7, MORE)).isEqualTo(clean);
        }
    }

    private static void poison(StepDriver driver) {
        for (int block = 0; block < driver.runner.kv().blocks(); block++) {
            ((CpuModelRunner) driver.runner).poison(block);
        }
    }

    @Test
    void step_longer_than_a_tile_equals_its_chunks() {
        ModelSpec spec = SpecBuilder.named("test")
                .vocabulary(40)
                .context(600)
                .width(16)
                .layers(2)
                .heads(2)
                .inner(20)
                .build();
        TestModel longModel = TestModel.random(spec, 5);
        int[] tokens = CpuRunnerReferenceTest.tokens(spec, 2 * Scratch.TOKENS + 19);
        RunnerLimits limits = new RunnerLimits(3, 600, 16, 0);
        try (StepDriver driver = driver(longModel, OPTIONS, limits)) {
            List<Sampled> chunked = driver.alone(tokens, 100, 2);
            assertThat(driver.alone(tokens, 600, 2)).isEqualTo(chunked);
        }
    }

    @Test
    void more_samples_than_logit_rows_are_all_taken() {
        int rows = 2 * Scratch.LOGIT_ROWS + 3;
        RunnerLimits limits = new RunnerLimits(rows, rows, 4, 3 * rows);
        try (StepDriver driver = driver(model, OPTIONS, limits)) {
            for (int row = 0; row < rows; row++) {
                driver.add(new Sequence(row % model.spec.vocabularySize()), 1, true);
            }
            List<Sampled> together = driver.step();
            for (int row = 0; row < rows; row += 10) {
                Sequence alone = new Sequence(row % model.spec.vocabularySize());
                assertThat(driver.add(alone, 1, true).step()).containsExactly(together.get(row));
            }
        }
    }

    @ParameterizedTest
    @FieldSource("io.roseinfer.backend.cpu.KernelFixtures#PRECISIONS")
    void sample_in_the_middle_of_a_row_equals_that_of_a_shorter_row(Precision precision) {
        try (StepDriver driver = driver(model, OPTIONS.withPrecision(precision), RowSamples.LIMITS)) {
            RowSamples.assertEachEqualsItsPrefix(driver.runner, 37);
            RowSamples.assertEachEqualsItsPrefix(driver.runner, 8, 4, 25);
        }
    }

    @Test
    void masks_and_biases_constrain_their_sample_alone() {
        try (StepDriver driver = driver(model, OPTIONS, RowSamples.LIMITS)) {
            ConstrainedSamples.assertMostLikelyAllowedToken(driver.runner);
            ConstrainedSamples.assertBiasesAreAdded(driver.runner);
            ConstrainedSamples.assertNoAllowedToken(driver.runner);
        }
    }

    @ParameterizedTest
    @FieldSource("io.roseinfer.backend.cpu.KernelFixtures#PRECISIONS")
    void reported_token_has_the_log_probability_of_the_drawn_one(Precision precision) {
        try (StepDriver driver = driver(model, OPTIONS.withPrecision(precision), RowSamples.LIMITS)) {
            ReportedSamples.assertEqualDrawn(driver.runner);
        }
    }

    /** The logits come from the runner, the log-probabilities of all tokens from sums in double precision. */
    @Test
    void reports_equal_a_softmax_over_the_whole_vocabulary() {
        try (StepDriver driver = driver(model, OPTIONS, RowSamples.LIMITS)) {
            int[] tokens = {3, 1, 4, 1, 5, 9, 2, 6};
            int vocabulary = model.spec.vocabularySize();
            for (int reported = 0; reported < vocabulary; reported += 7) {
                Sequence sequence = new Sequence(tokens);
                driver.addSampling(sequence, tokens.length);
                driver.inputs.report(
                        tokens.length - 1, new SampleRequest(driver.params, driver.seed, sequence), reported);
                float logprob = driver.step().getFirst().logprob();
                CpuModelRunner runner = (CpuModelRunner) driver.runner;
                double sum = 0;
                int rank = 1;
                for (int token = 0; token < vocabulary; token++) {
                    sum += Math.exp(runner.logit(0, token) - runner.logit(0, reported));
                    rank += runner.logit(0, token) > runner.logit(0, reported) ? 1 : 0;
                }
                assertThat(logprob).isCloseTo((float) -Math.log(sum), within(1e-5f));
                assertThat(driver.outputs.rank(0)).isEqualTo(rank);
            }
        }
    }

    @Test
    void row_with_non_finite_logits_fails_only_itself() {
        TestModel broken = TestModel.random(model.spec, 21);
        int width = model.spec.width();
        int[] shorter = Arrays.copyOf(prompt, 20);
        int other = Arrays.stream(prompt)
                .filter(id -> Arrays.stream(shorter).noneMatch(early -> early == id))
                .findFirst()
                .orElseThrow();
        Arrays.fill(broken.tensor("embedding.matrix"), other * width, (other + 1) * width, Float.NaN);
        try (StepDriver good = driver(model, OPTIONS, LIMITS);
                StepDriver driver = driver(broken, OPTIONS, LIMITS)) {
            driver.add(new Sequence(shorter), 20, true);
            driver.add(new Sequence(prompt), prompt.length, true);
            List<Sampled> results = driver.step();
            assertThat(results.getFirst()).isEqualTo(good.alone(shorter, 64, 0).getFirst());
            assertThat(results.get(1).status()).isEqualTo(Status.NON_FINITE);
        }
    }

    @Test
    void step_without_samples_fills_the_cache() {
        List<Sampled> expected = run(OPTIONS, LIMITS, 64);
        try (StepDriver driver = driver(model, OPTIONS, LIMITS)) {
            Sequence sequence = new Sequence(prompt);
            assertThat(driver.add(sequence, prompt.length - 1, false).step()).isEmpty();
            assertThat(driver.add(sequence, 1, true).step()).containsExactly(expected.getFirst());
        }
    }

    @Test
    void context_may_be_filled_to_the_last_token() {
        int[] full = CpuRunnerReferenceTest.tokens(model.spec, model.spec.contextLength());
        RunnerLimits limits = new RunnerLimits(1, full.length, 16, 0);
        try (StepDriver driver = driver(model, OPTIONS, limits)) {
            KvGeometry kv = driver.runner.kv();
            assertThat(kv.blocks()).isEqualTo(kv.blocksFor(full.length));
            assertThat(driver.alone(full, full.length, 0).getFirst().status()).isEqualTo(Status.OK);
        }
    }
}
