package io.roseinfer.backend.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.roseinfer.FreshJvm;
import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.MemoryUse;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.Precision;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepDriver;
import io.roseinfer.backend.StepDriver.Sequence;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.StepOutputs.Status;
import io.roseinfer.backend.cpu.kernel.Bf16Weights;
import io.roseinfer.backend.cpu.kernel.Fp32Weights;
import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import io.roseinfer.base.Check;
import io.roseinfer.base.RoseException.BackendUnavailable;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.InsufficientMemory;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.SpecBuilder;
import io.roseinfer.model.family.ModelDirectory;
import io.roseinfer.model.files.ModelFiles;
import io.roseinfer.sampling.SampleRequest;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.tensor.DType;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("parity")
class CpuBackendTest {
    private static final CpuFeatures NO_MODULE = new CpuFeatures(false, 0, true, 2);
    private static final CpuFeatures NARROW = new CpuFeatures(true, 64, true, 2);
    private static final RunnerLimits LIMITS = new RunnerLimits(4, 32, 16, 0);

    private final TestModel model = TestModel.random(TestModel.plain(), 1);

    @Test
    void without_the_vector_module_kernels_are_scalar_with_a_warning() {
        CpuBackend backend = new CpuBackend(CpuOptions.defaults(), NO_MODULE);
        assertThat(backend.description()).isEqualTo("cpu: scalar kernels, 2 threads");
        assertThat(backend.warnings()).singleElement().asString().contains("--add-modules=jdk.incubator.vector");
    }

    @Test
    void best_kernels_on_narrow_vectors_are_scalar_with_a_warning() {
        CpuBackend backend = new CpuBackend(CpuOptions.defaults(), NARROW);
        assertThat(backend.description()).contains("scalar");
        assertThat(backend.warnings()).singleElement().asString().contains("64 bits");
    }

    /** Prints the CPU backend's kernels and warnings. */
    static final class Application {
        public static void main(String[] args) {
            CpuBackend backend = new CpuBackend(CpuOptions.defaults().withThreads(1));
            System.out.println(backend.description());
            backend.warnings().forEach(System.out::println);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"-Xint", "-XX:TieredStopAtLevel=1"})
    void kernels_of_a_jvm_without_optimizing_compiler_are_scalar_with_a_warning(String flag) throws IOException {
        assertThat(FreshJvm.run(Application.class, List.of(flag)))
                .containsExactly(
                        "cpu: scalar kernels, 1 thread",
                        "cpu runs its scalar kernels, many times slower than its vector kernels: the JVM runs without an"
                                + " optimizing compiler; start java without -Xint and -XX:TieredStopAtLevel");
    }

    @Test
    void usable_vector_kernels_have_no_warning() {
        CpuBackend backend = new CpuBackend(CpuOptions.defaults(), new CpuFeatures(true, 256, true, 2));
        assertThat(backend.description()).isEqualTo("cpu: 256-bit vector kernels, 2 threads");
        assertThat(backend.warnings()).isEmpty();
    }

    @Test
    void more_threads_than_cores_have_a_warning() {
        CpuFeatures features = new CpuFeatures(true, 256, true, 2);
        CpuBackend backend = new CpuBackend(CpuOptions.defaults().withThreads(3), features);
        assertThat(backend.warnings())
                .containsExactly("threads is 3, more than the 2 cores of this machine; expect it to be slower");
        assertThat(new CpuBackend(CpuOptions.defaults().withThreads(2), features).warnings())
                .isEmpty();
    }

    @Test
    void requested_scalar_kernels_have_no_warning() {
        CpuOptions options = CpuOptions.defaults().withKernels(KernelChoice.SCALAR);
        assertThat(new CpuBackend(options, NO_MODULE).warnings()).isEmpty();
    }

    @Test
    void vector_width_without_the_module_is_unavailable() {
        CpuOptions options = CpuOptions.defaults().withKernels(KernelChoice.VECTOR_256);
        assertThatThrownBy(() -> new CpuBackend(options, NO_MODULE))
                .isInstanceOf(BackendUnavailable.class)
                .hasMessageContaining("--add-modules=jdk.incubator.vector");
    }

    @Test
    void unsupported_vector_width_runs_with_a_warning() {
        CpuOptions options = CpuOptions.defaults().withKernels(KernelChoice.VECTOR_512);
        CpuBackend backend = new CpuBackend(options, new CpuFeatures(true, 256, true, 2));
        assertThat(backend.warnings())
                .singleElement()
                .asString()
                .contains("512 bits")
                .contains("256-bit");
    }

    @Test
    void options_out_of_range_are_rejected() {
        assertThatThrownBy(() -> CpuOptions.defaults().withThreads(-1))
                .isInstanceOf(BadInput.class)
                .hasMessage("threads is -1; it must be 1 to 1024, or 0 for one per available processor");
        assertThatThrownBy(() -> CpuOptions.defaults().withPrecision(Precision.FP16))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("fp16");
    }

    @Test
    void auto_keeps_a_bf16_checkpoint_and_widens_others() {
        assertThat(RunnerLoader.format(Precision.AUTO, model.weights())).isEqualTo(new Fp32Weights());
        TestModel bf16 = TestModel.random(TestModel.plain(), 1, DType.BF16);
        assertThat(RunnerLoader.format(Precision.AUTO, bf16.weights())).isEqualTo(new Bf16Weights());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "wte.weight",
                "lm_head.weight",
                "h.0.attn.c_attn.weight",
                "h.1.attn.c_proj.weight",
                "h.0.mlp.c_fc.weight",
                "h.1.mlp.c_proj.weight"
            })
    void auto_narrows_no_matrix_of_a_checkpoint_of_several_types(String wide, @TempDir Path directory)
            throws IOException {
        ModelDirectory files = ModelDirectory.at(directory, "\"tie_word_embeddings\":false");
        files.storeAll(DType.BF16).store(wide, DType.F32);
        try (ModelFiles mixed = ModelFiles.openDirectory("m", files.write())) {
            assertThat(RunnerLoader.format(Precision.AUTO, mixed.weights())).isEqualTo(new Fp32Weights());
        }
    }

    @Test
    void auto_keeps_bf16_matrices_with_vectors_of_another_type(@TempDir Path directory) throws IOException {
        ModelDirectory files = ModelDirectory.at(directory).storeAll(DType.BF16);
        files.store("ln_f.weight", DType.F32).store("wpe.weight", DType.F32);
        try (ModelFiles mixed = ModelFiles.openDirectory("m", files.write())) {
            assertThat(RunnerLoader.format(Precision.AUTO, mixed.weights())).isEqualTo(new Bf16Weights());
        }
    }

    @Test
    void default_pool_size_is_bounded() {
        long room = 32L << 30;
        ModelSpec small = model.spec;
        KvGeometry all = RunnerLoader.geometry(small, LIMITS, 1, room);
        assertThat(all.blocks()).isEqualTo(4 * 6);
        ModelSpec large = SpecBuilder.named("large")
                .context(1024)
                .width(768)
                .layers(12)
                .heads(12)
                .build();
        KvGeometry capped = RunnerLoader.geometry(large, new RunnerLimits(64, 512, 16, 0), 1, room);
        assertThat(capped.bytes()).isBetween((1L << 30) - capped.bytesPerBlock(), 1L << 30);
        ModelSpec huge = SpecBuilder.named("huge")
                .context(8192)
                .width(4096)
                .layers(48)
                .heads(32)
                .build();
        KvGeometry one = RunnerLoader.geometry(huge, new RunnerLimits(64, 512, 16, 0), 1, room);
        assertThat(one.blocks()).isEqualTo(512);
        KvGeometry part = RunnerLoader.geometry(huge, new RunnerLimits(64, 512, 16, 0), 1, 8L << 30);
        assertThat(part.bytes()).isBetween((4L << 30) - part.bytesPerBlock(), 4L << 30);
        KvGeometry least = RunnerLoader.geometry(huge, new RunnerLimits(64, 512, 16, 0), 1, 0);
        assertThat(least.bytes()).isBetween((1L << 30) - least.bytesPerBlock(), 1L << 30);
    }

    @Test
    void too_large_pool_is_rejected_before_allocation() {
        CpuBackend backend = new CpuBackend(CpuOptions.defaults());
        RunnerLimits limits = new RunnerLimits(4, 32, 1024, 100_000_000);
        assertThatThrownBy(() -> backend.load(model.spec, model.weights(), limits))
                .isInstanceOf(InsufficientMemory.class)
                .hasMessageContaining("100000000 KV blocks")
                .hasMessageContaining("kvBlocks");
    }

    @Test
    void memory_names_every_allocation_largest_first() {
        try (ModelRunner runner = new CpuBackend(CpuOptions.defaults()).load(model.spec, model.weights(), LIMITS)) {
            assertThat(runner.memory())
                    .extracting(MemoryUse::name)
                    .contains("KV pool", "token embedding (f32)", "attention weights (f32)", "MLP weights (f32)");
            assertThat(runner.memory())
                    .isSortedAccordingTo(
                            Comparator.comparingLong(MemoryUse::bytes).reversed());
            assertThat(runner.memory())
                    .contains(new MemoryUse("KV pool", runner.kv().bytes()));
        }
    }

    @Test
    void memory_counts_the_inputs_of_steps_and_the_buffers_of_loading() {
        RunnerLimits wide = new RunnerLimits(1000, 1064, 1, 64);
        CpuOptions options = CpuOptions.defaults().withThreads(2);
        try (ModelRunner runner = new CpuBackend(options).load(model.spec, model.weights(), wide)) {
            int context = model.spec.contextLength();
            long inputs = 2 * StepInputs.bytes(wide, context) + 4L * wide.maxRows() * context;
            int inputsOfAMatrix = Math.max(model.spec.width(), model.spec.mlp().inner());
            assertThat(runner.memory())
                    .contains(new MemoryUse("step inputs", inputs))
                    .contains(new MemoryUse(
                            "packing buffers, while loading", 4L * 2 * inputsOfAMatrix * PackedMatrix.COLUMNS));
        }
    }

    @Test
    void closed_runner_rejects_work_and_may_be_closed_again() {
        ModelRunner runner = new CpuBackend(CpuOptions.defaults()).load(model.spec, model.weights(), LIMITS);
        StepDriver driver = new StepDriver(runner);
        driver.add(new Sequence(3), 1, true);
        runner.close();
        runner.close();
        assertThatThrownBy(() -> runner.submit(driver.inputs, driver.outputs))
                .isInstanceOf(Check.Failure.class)
                .hasMessageContaining("closed");
        assertThatThrownBy(runner::newInputs).isInstanceOf(Check.Failure.class);
    }

    @Test
    void closing_a_runner_finishes_its_running_step() {
        ModelRunner runner = new CpuBackend(CpuOptions.defaults()).load(model.spec, model.weights(), LIMITS);
        StepDriver driver = new StepDriver(runner);
        driver.add(new Sequence(3), 1, true);
        runner.submit(driver.inputs, driver.outputs);
        runner.close();
        assertThat(driver.outputs.status(0)).isEqualTo(Status.OK);
    }

    @Test
    void step_that_does_not_fit_the_pool_is_a_bug() {
        try (StepDriver driver =
                new StepDriver(new CpuBackend(CpuOptions.defaults()).load(model.spec, model.weights(), LIMITS))) {
            driver.inputs.beginRow(0, new int[] {driver.runner.kv().blocks()});
            driver.inputs.addToken(3);
            driver.inputs.endRow();
            assertThatThrownBy(driver::step).isInstanceOf(Check.Failure.class).hasMessageContaining("block");
        }
    }

    /** Vector code allocates until compiled, so steps run until a batch of them allocates almost nothing. */
    @ParameterizedTest
    @EnumSource(
            value = KernelChoice.class,
            names = {"SCALAR", "VECTOR"})
    void warm_step_does_not_allocate(KernelChoice kernels) throws IOException {
        List<String> bytes = FreshJvm.firstThat(
                lines -> Long.parseLong(lines.getLast()) <= LITTLE, WarmSteps.class, List.of(), kernels.name());
        assertThat(Long.parseLong(bytes.getLast())).as("bytes in 200 steps").isLessThanOrEqualTo(LITTLE);
    }

    /** Prints the allocation of 200 steps once it is small, or after a thousand attempts. */
    static final class WarmSteps {
        private WarmSteps() {}

        /** Runs with the kernels that the argument names. */
        public static void main(String[] args) {
            CpuOptions options = new CpuOptions(2, Precision.FP32, KernelChoice.valueOf(args[0]));
            SampleRequest request =
                    new SampleRequest(SamplingParams.random().withTopK(5).withLogprobs(3), 7, new Sequence(1));
            TestModel model = TestModel.random(TestModel.plain(), 1);
            try (StepDriver driver =
                    new StepDriver(new CpuBackend(options).load(model.spec, model.weights(), LIMITS))) {
                long[] threads = stepThreads();
                assertThat(threads).hasSize(2);
                long perStretch = Long.MAX_VALUE;
                for (int stretch = 0; stretch < 1000 && perStretch > LITTLE; stretch++) {
                    long before = allocated(threads);
                    for (int step = 0; step < 200; step++) {
                        fill(driver, request);
                        driver.runner.submit(driver.inputs, driver.outputs);
                        driver.runner.await();
                    }
                    perStretch = allocated(threads) - before;
                }
                System.out.println(perStretch);
            }
        }
    }

    /** Maximum allocation of 200 steps, for the JVM's own allocations. */
    private static final long LITTLE = 2000;

    private static final int[][] BLOCKS = {{0}, {1}, {2}};

    private static void fill(StepDriver driver, SampleRequest request) {
        driver.inputs.clear();
        for (int row = 0; row < 3; row++) {
            driver.inputs.beginRow(0, BLOCKS[row]);
            for (int position = 0; position < 1 + 4 * row; position++) {
                driver.inputs.addToken(5 + position);
            }
            driver.inputs.endRow();
            driver.inputs.sample(driver.inputs.tokens() - 1, request);
        }
    }

    /** Returns this thread, which is worker 0, and the other workers of all open runners. */
    private static long[] stepThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.threadId() == Thread.currentThread().threadId()
                        || thread.getName().startsWith("roseinfer-cpu-"))
                .mapToLong(Thread::threadId)
                .toArray();
    }

    private static long allocated(long[] threads) {
        ThreadMXBean bean = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long total = 0;
        for (long thread : threads) {
            total += bean.getThreadAllocatedBytes(thread);
        }
        return total;
    }
}
