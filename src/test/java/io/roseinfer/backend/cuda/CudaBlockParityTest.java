package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.roseinfer.backend.Backend;
import io.roseinfer.backend.KvPrecision;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.Precision;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepDriver;
import io.roseinfer.backend.cpu.CpuBackend;
import io.roseinfer.backend.cpu.CpuOptions;
import io.roseinfer.backend.cpu.CpuProbe;
import io.roseinfer.backend.cpu.KernelChoice;
import io.roseinfer.backend.cpu.TestModel;
import io.roseinfer.base.Clock;
import io.roseinfer.base.SplitMix64;
import io.roseinfer.golden.Difference;
import io.roseinfer.model.Activation;
import io.roseinfer.model.BlockSpec.Norm;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Positions;
import io.roseinfer.model.SpecBuilder;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Compares a GPU's logits of small models of other families with the scalar kernels in fp32 or, for int8 weights, int8: whole
 * prompts, chunks together with other rows, and token by token in graphs.
 */
@RequiresCuda
class CudaBlockParityTest {
    private static final long SEED = 15;
    private static final int TOKENS = 75;

    /**
     * Maximum difference of a logit if the largest is up to 4; about four times the expected rounding error. int8 weights are identical on
     * both, and their activations are rounded as in bf16.
     */
    private static final Map<Precision, Double> LIMITS =
            Map.of(Precision.FP32, 1e-4, Precision.FP16, 2.5e-2, Precision.BF16, 1.5e-1, Precision.INT8, 1.5e-1);

    /** Maximum difference of logits up to 4 due to the fp8 KV cache. */
    private static final double FP8_KV_LIMIT = 6e-1;

    private static SpecBuilder gated(int width, int heads, int kvHeads, int headSize) {
        return SpecBuilder.named("gated")
                .vocabulary(611)
                .context(96)
                .width(width)
                .layers(2)
                .heads(heads, kvHeads, headSize)
                .inner(101)
                .gated()
                .activation(Activation.SILU)
                .norm(Norm.rms(1e-5f))
                .positions(Positions.Rope.plain(500, headSize));
    }

    private static final Map<String, ModelSpec> MODELS = models();

    private static Map<String, ModelSpec> models() {
        Map<String, ModelSpec> models = new TreeMap<>();
        models.put("three queries for a key", gated(120, 6, 2, 20).build());
        models.put("heads of 64", gated(128, 8, 2, 64).build());
        models.put("MHA, heads of 64", gated(128, 3, 3, 64).build());
        models.put("heads of 128, one key", gated(192, 5, 1, 128).untied().build());
        models.put("norms over heads", gated(96, 4, 2, 64).qkNorms().build());
        Positions halfRotated = new Positions.Rope(100, 6, new Positions.Scaling.None());
        models.put(
                "heads of 12, half rotated",
                gated(84, 7, 7, 12).qkNorms().positions(halfRotated).build());
        models.put(
                "no positions",
                gated(64, 4, 2, 16).positions(new Positions.None()).build());
        models.put(
                "positions in every other layer",
                gated(64, 8, 2, 64)
                        .positions(layer -> layer == 0 ? Positions.Rope.plain(500, 64) : new Positions.None())
                        .build());
        models.put(
                "windows, one in a layer",
                gated(64, 8, 2, 64)
                        .window(layer -> layer == 0 ? 19 : Integer.MAX_VALUE)
                        .build());
        models.put(
                "window of heads of 20", gated(64, 4, 2, 20).window(layer -> 8).build());
        models.put(
                "layer norms, side by side",
                gated(64, 4, 4, 16).norm(Norm.layer(1e-5f)).parallel().build());
        models.put(
                "gate without rotary positions",
                gated(64, 4, 4, 64)
                        .positions(new Positions.Learned())
                        .activation(Activation.GELU_TANH)
                        .build());
        return models;
    }

    static Stream<Arguments> modelsInEachPrecision() {
        return MODELS.keySet().stream()
                .sorted()
                .flatMap(name -> LIMITS.keySet().stream()
                        .sorted()
                        .filter(precision -> precision != Precision.INT8 || hasInt8(model(name)))
                        .map(precision -> Arguments.of(name, precision)));
    }

    static Stream<Arguments> modelsWithFp8KvCache() {
        return modelsInEachPrecision().filter(pair -> hasFp8KvCache(model((String) pair.get()[0])));
    }

    /** Returns whether the model is supported; others are rejected. */
    private static boolean hasFp8KvCache(ModelSpec spec) {
        return !ModelShape.of(spec, ElementType.F32, KvPrecision.AUTO, Shard.WHOLE)
                .plainAttention();
    }

    /** Returns whether the model is supported; others are rejected. */
    private static boolean hasInt8(ModelSpec spec) {
        return spec.head().norm().kind() == Norm.Kind.RMS && !spec.learnsPositions();
    }

    private static ModelSpec model(String name) {
        return Objects.requireNonNull(MODELS.get(name));
    }

    private static int[] tokens(int vocabulary) {
        int[] tokens = new int[TOKENS];
        for (int i = 0; i < TOKENS; i++) {
            tokens[i] = (int) (SplitMix64.uniform(SEED, i) * vocabulary);
        }
        return tokens;
    }

    private static CudaBackend cuda(Precision precision, boolean invariant) {
        return cuda(precision, KvPrecision.AUTO, invariant);
    }

    private static CudaBackend cuda(Precision precision, KvPrecision kvCacheDtype, boolean invariant) {
        CudaBackend backend = CudaBackend.open(
                CudaOptions.defaults()
                        .withPrecision(precision)
                        .withKvCacheDtype(kvCacheDtype)
                        .withBatchInvariant(invariant),
                Clock.system());
        assumeTrue(
                precision != Precision.INT8 || backend.description().contains("; sm_90a kernels"),
                "int8 weights have kernels for Hopper alone");
        assumeTrue(
                kvCacheDtype != KvPrecision.FP8 || !backend.description().contains("; sm_80 kernels"),
                "an fp8 KV cache needs compute capability 9.0");
        return backend;
    }

    /** Returns the last token's logits for three kinds of chunking. */
    private static List<float[]> logits(
            Backend backend, ModelSpec spec, BiFunction<ModelRunner, Integer, float[]> read) {
        int[] tokens = tokens(spec.vocabularySize());
        RunnerLimits limits = new RunnerLimits(4, spec.contextLength(), 16, 64);
        try (Backend used = backend;
                StepDriver driver = new StepDriver(
                        used.load(spec, TestModel.random(spec, SEED).weights(), limits))) {
            driver.add(new StepDriver.Sequence(tokens), TOKENS, true).step();
            float[] whole = read.apply(driver.runner, 0);
            StepDriver.Sequence chunked = new StepDriver.Sequence(tokens);
            StepDriver.Sequence stepped = new StepDriver.Sequence(tokens);
            driver.add(stepped, 5, true).add(chunked, 33, true).step();
            driver.add(new StepDriver.Sequence(Arrays.copyOf(tokens, 17)), 17, true)
                    .add(stepped, 1, true)
                    .add(chunked, TOKENS - 33, true)
                    .step();
            float[] inChunks = read.apply(driver.runner, 2);
            while (stepped.computed < TOKENS) {
                driver.add(stepped, 1, true).step();
            }
            return List.of(whole, inChunks, read.apply(driver.runner, 0));
        }
    }

    @ParameterizedTest
    @MethodSource("modelsInEachPrecision")
    void logits_match_the_scalar_kernels_for_any_chunking(String name, Precision precision, TestReporter out) {
        ModelSpec spec = model(name);
        CpuOptions scalar = CpuOptions.defaults()
                .withThreads(1)
                .withPrecision(precision == Precision.INT8 ? Precision.INT8 : Precision.FP32)
                .withKernels(KernelChoice.SCALAR);
        float[] expected =
                logits(new CpuBackend(scalar), spec, CpuProbe::logits).getFirst();
        float largest = 0;
        for (float logit : expected) {
            largest = Math.max(largest, Math.abs(logit));
        }
        for (float[] seen : logits(cuda(precision, false), spec, CudaProbe::logits)) {
            Difference apart = Difference.of(seen, expected);
            out.publishEntry(name + " " + precision, apart + " of " + largest);
            assertThat(apart.max())
                    .isLessThan(Objects.requireNonNull(LIMITS.get(precision)) * Math.max(1, largest / 4));
        }
    }

    @ParameterizedTest
    @MethodSource("modelsInEachPrecision")
    void batch_invariant_logits_are_bit_identical_for_any_chunking(String name, Precision precision) {
        List<float[]> seen = logits(cuda(precision, true), model(name), CudaProbe::logits);
        assertThat(seen.get(1)).as("in chunks").isEqualTo(seen.get(0));
        assertThat(seen.get(2)).as("token by token").isEqualTo(seen.get(0));
    }

    /** Keys and values are rounded by up to a sixteenth; the kernels' harness checks the rest more tightly. */
    @ParameterizedTest
    @MethodSource("modelsWithFp8KvCache")
    void fp8_kv_cache_changes_logits_by_rounding_only(String name, Precision precision, TestReporter out) {
        ModelSpec spec = model(name);
        float[] expected =
                logits(cuda(precision, false), spec, CudaProbe::logits).getFirst();
        float largest = 0;
        for (float logit : expected) {
            largest = Math.max(largest, Math.abs(logit));
        }
        for (float[] seen : logits(cuda(precision, KvPrecision.FP8, false), spec, CudaProbe::logits)) {
            Difference apart = Difference.of(seen, expected);
            out.publishEntry(name + " " + precision, apart + " of " + largest);
            assertThat(apart.max()).isBetween(1e-6, FP8_KV_LIMIT * Math.max(1, largest / 4));
        }
    }

    /** Decode steps apply QK norm and RoPE in the attention kernel, steps with prompts in a kernel before it. */
    @ParameterizedTest
    @CsvSource({"FP16, AUTO", "BF16, AUTO", "BF16, FP8"})
    void qk_norm_of_decode_steps_matches_that_of_prompts(Precision precision, KvPrecision kvCacheDtype) {
        ModelSpec spec = model("norms over heads");
        int rows = 96;
        int prompt = 33;
        int[] tokens = Arrays.copyOf(tokens(spec.vocabularySize()), prompt + 2);
        RunnerLimits limits = new RunnerLimits(rows, rows * prompt, 16, 4 * rows);
        try (Backend backend = cuda(precision, kvCacheDtype, false);
                StepDriver driver = new StepDriver(
                        backend.load(spec, TestModel.random(spec, SEED).weights(), limits))) {
            float[] expected = lastLogits(driver, tokens, tokens.length, 1);
            float largest = 0;
            for (float logit : expected) {
                largest = Math.max(largest, Math.abs(logit));
            }
            for (int decodeRows : new int[] {1, rows}) {
                assertThat(Difference.of(lastLogits(driver, tokens, prompt, decodeRows), expected)
                                .max())
                        .as("%d rows", decodeRows)
                        .isLessThan(Objects.requireNonNull(LIMITS.get(precision)) * Math.max(1, largest / 4));
            }
        }
    }

    /** Returns the last row's logits after steps of equal rows: a prompt, then the other tokens one by one. */
    private static float[] lastLogits(StepDriver driver, int[] tokens, int prompt, int rows) {
        List<StepDriver.Sequence> sequences = Stream.generate(() -> new StepDriver.Sequence(tokens))
                .limit(rows)
                .toList();
        sequences.forEach(sequence -> driver.add(sequence, prompt, true));
        driver.step();
        for (int i = prompt; i < tokens.length; i++) {
            sequences.forEach(sequence -> driver.add(sequence, 1, true));
            driver.step();
        }
        return CudaProbe.logits(driver.runner, rows - 1);
    }

    @ParameterizedTest
    @MethodSource("modelsWithFp8KvCache")
    void batch_invariant_logits_with_fp8_kv_cache_are_bit_identical(String name, Precision precision) {
        List<float[]> seen = logits(cuda(precision, KvPrecision.FP8, true), model(name), CudaProbe::logits);
        assertThat(seen.get(1)).as("in chunks").isEqualTo(seen.get(0));
        assertThat(seen.get(2)).as("token by token").isEqualTo(seen.get(0));
    }
}
