package io.roseinfer.backend.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.RecipeTrial;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Follows {@code add-a-weight-type.md} on a copy of the backend's sources. */
@Tag("parity")
class NewWeightTypeTest {
    private static final Path CPU = Path.of("src/main/java/io/roseinfer/backend/cpu");

    /** Packs and multiplies in the new type, and loads a model in it. */
    private static final String TRIAL = """
            package io.roseinfer.backend.cpu;

            import io.roseinfer.backend.*;
            import io.roseinfer.backend.cpu.kernel.*;
            import io.roseinfer.backend.cpu.scalar.ScalarKernels;
            import io.roseinfer.model.files.ModelFiles;
            import java.lang.foreign.Arena;
            import java.util.Random;

            public final class Trial implements java.util.function.Supplier<String> {
                public String get() {
                    int inputs = 131;
                    Random random = new Random(5);
                    float[] weights = KernelFixtures.normal(random, inputs * 50);
                    float[] x = KernelFixtures.normal(random, inputs);
                    WeightFormat format = WeightFormat.of(Precision.FP16).orElseThrow();
                    double largest = 0;
                    try (Arena arena = Arena.ofConfined()) {
                        PackedMatrix packed = KernelFixtures.pack(arena, format, weights, inputs, 50);
                        float[] sums = KernelFixtures.product(new ScalarKernels().create(format, 1), x, 1, packed, 1);
                        for (int column = 0; column < 2; column++) {
                            double sum = 0;
                            for (int k = 0; k < inputs; k++) {
                                float weight = weights[k * 50 + 48 + column];
                                sum += (double) x[k] * Float.float16ToFloat(Float.floatToFloat16(weight));
                            }
                            largest = Math.max(largest, Math.abs(sum - sums[column]));
                        }
                    }
                    CpuOptions options = CpuOptions.defaults().withThreads(1).withPrecision(Precision.FP16).withKernels(KernelChoice.SCALAR);
                    try (ModelFiles files = ModelFiles.openBuiltin("tiny");
                            ModelRunner runner = new CpuBackend(options)
                                    .load(files.spec(), files.weights(), new RunnerLimits(1, 1, 16, 8))) {
                        return runner.precision().orElseThrow() + (largest < 1e-4 ? " agrees" : " is off by " + largest);
                    }
                }
            }
            """;

    @TempDir
    private Path folder;

    private RecipeTrial trial;

    @BeforeEach
    void followPage() throws IOException {
        trial = new RecipeTrial(folder);
        for (Path part : List.of(CPU, CPU.resolve("kernel"), CPU.resolve("scalar"))) {
            trial.addPackage(part);
        }
        trial.add("VectorKernels.java", Files.readString(CPU.resolve("panama/VectorKernels.java")));
        trial.add(
                "KernelFixtures.java",
                Files.readString(Path.of("src/test/java/io/roseinfer/backend/cpu/KernelFixtures.java")));
        trial.add("Trial.java", TRIAL);
        trial.add(
                "Fp16Weights.java",
                RecipeTrial.blocks("how-to/add-a-weight-type.md").getFirst());
        trial.edit("WeightFormat.java", "Int4Weights {", "Int4Weights, Fp16Weights {");
        trial.edit("WeightFormat.java", "new Int4Weights());", "new Int4Weights(), new Fp16Weights());");
    }

    @Test
    void listed_type_without_vector_kernels_does_not_compile() {
        assertThat(trial.compile()).containsExactly("/VectorKernels.java compiler.err.not.exhaustive");
    }

    @Test
    void new_type_packs_multiplies_and_loads_a_model() throws Exception {
        trial.edit("VectorKernels.java", "case Int4Weights", """
                case Fp16Weights halves -> throw new IllegalStateException("no tiles in this trial");
                            case Int4Weights""");
        trial.edit("VectorKernels.java", "import io.roseinfer.backend.cpu.kernel.Fp32Weights;", """
                import io.roseinfer.backend.cpu.kernel.Fp16Weights;
                import io.roseinfer.backend.cpu.kernel.Fp32Weights;""");
        assertThat(trial.compile()).isEmpty();
        Supplier<?> made = (Supplier<?>) trial.make("io.roseinfer.backend.cpu.Trial");
        assertThat(made.get()).isEqualTo("FP16 agrees");
    }
}
