package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.Precision;
import io.roseinfer.backend.StepDriver;
import io.roseinfer.base.Clock;
import io.roseinfer.golden.Difference;
import io.roseinfer.golden.Golden;
import io.roseinfer.golden.GoldenLogits;
import io.roseinfer.golden.GoldenLogits.Way;
import io.roseinfer.model.files.ModelFiles;
import io.roseinfer.tensor.Tensor;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Compares logits on a GPU with Hugging Face's in float64, and in float32 and float16 on a GPU. Each test publishes the differences.
 */
@RequiresCuda
class CudaParityTest {
    /** Tolerance of fp32 logits. */
    private static final double FP32_LIMIT = 1e-3;

    /** Tolerance of small fp16 logits. */
    private static final double FP16_LIMIT = 2e-2;

    /** Relative tolerance of fp16 logits: twice half a unit in the last place of float16. */
    private static final double FP16_RELATIVE = 1.0 / 1024;

    static Stream<Arguments> all() {
        return Golden.ALL.stream().flatMap(CudaParityTest::ways);
    }

    static Stream<Arguments> onGpu() {
        return Golden.ON_GPU.stream().flatMap(CudaParityTest::ways);
    }

    private static Stream<Arguments> ways(String name) {
        return Stream.of(Way.values()).map(way -> Arguments.of(name, way));
    }

    private static Map<String, float[]> compute(Golden golden, Precision precision, Way way) {
        try (ModelFiles files = golden.open();
                CudaBackend backend =
                        CudaBackend.open(CudaOptions.defaults().withPrecision(precision), Clock.system());
                StepDriver driver = new StepDriver(
                        backend.load(files.spec(), files.weights(), GoldenLogits.limits(files.spec())))) {
            return new GoldenLogits(golden, driver, CudaProbe::logits).compute(way);
        }
    }

    /** Returns the difference over all tensors. */
    private static Difference apart(Map<String, float[]> seen, Function<String, Tensor> expected) {
        float[] ours = {};
        float[] theirs = {};
        for (Map.Entry<String, float[]> tensor : seen.entrySet()) {
            ours = append(ours, tensor.getValue());
            theirs = append(theirs, GoldenLogits.values(expected.apply(tensor.getKey())));
        }
        return Difference.of(ours, theirs);
    }

    private static float[] append(float[] first, float[] second) {
        float[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }

    private static void assertWithin(
            double limit, Map<String, float[]> seen, Function<String, Tensor> expected, String what, TestReporter out) {
        Difference apart = apart(seen, expected);
        out.publishEntry(what, apart.toString());
        assertThat(apart.max()).as("largest difference of a logit, %s", what).isLessThan(limit);
    }

    @ParameterizedTest
    @MethodSource("all")
    void fp32_logits_match_hugging_face_float64(String name, Way way, TestReporter out) {
        Golden golden = Golden.read(name);
        Map<String, float[]> seen = compute(golden, Precision.FP32, way);
        assertWithin(FP32_LIMIT, seen, golden::tensor, name + " " + way + " fp32 against float64", out);
    }

    @ParameterizedTest
    @MethodSource("onGpu")
    void fp32_logits_match_hugging_face_on_a_gpu(String name, Way way, TestReporter out) {
        Golden golden = Golden.read(name);
        Map<String, float[]> seen = compute(golden, Precision.FP32, way);
        assertWithin(
                FP32_LIMIT,
                seen,
                tensor -> golden.onGpu("fp32", tensor),
                name + " " + way + " fp32 against transformers fp32",
                out);
    }

    private static Difference theirsFromFloat64(Golden golden, Map<String, float[]> names) {
        Map<String, float[]> exact = new LinkedHashMap<>();
        names.keySet().forEach(tensor -> exact.put(tensor, GoldenLogits.values(golden.tensor(tensor))));
        return apart(exact, tensor -> golden.onGpu("fp16", tensor));
    }

    private static double fp16Limit(Map<String, float[]> logits) {
        double largest = 0;
        for (float[] tensor : logits.values()) {
            for (float logit : tensor) {
                largest = Math.max(largest, Math.abs(logit));
            }
        }
        return Math.max(FP16_LIMIT, FP16_RELATIVE * largest);
    }

    @ParameterizedTest
    @MethodSource("onGpu")
    void fp16_logits_match_hugging_face_float64(String name, Way way, TestReporter out) {
        Golden golden = Golden.read(name);
        Map<String, float[]> seen = compute(golden, Precision.FP16, way);
        assertWithin(fp16Limit(seen), seen, golden::tensor, name + " " + way + " fp16 against float64", out);
    }

    /** Hugging Face's logits are rounded to float16 too, so their own error is added to the tolerance. */
    @ParameterizedTest
    @MethodSource("onGpu")
    void fp16_logits_match_hugging_face_float16(String name, Way way, TestReporter out) {
        Golden golden = Golden.read(name);
        Map<String, float[]> seen = compute(golden, Precision.FP16, way);
        Difference theirs = theirsFromFloat64(golden, seen);
        out.publishEntry(name + " transformers fp16 against float64", theirs.toString());
        assertWithin(
                fp16Limit(seen) + theirs.max(),
                seen,
                tensor -> golden.onGpu("fp16", tensor),
                name + " " + way + " fp16 against transformers fp16",
                out);
    }

    @ParameterizedTest
    @MethodSource("onGpu")
    void fp16_error_is_at_most_hugging_faces(String name, Way way) {
        Golden golden = Golden.read(name);
        Map<String, float[]> seen = compute(golden, Precision.FP16, way);
        assertThat(apart(seen, golden::tensor).mean())
                .as("mean difference of a logit from float64")
                .isLessThan(theirsFromFloat64(golden, seen).mean());
    }
}
