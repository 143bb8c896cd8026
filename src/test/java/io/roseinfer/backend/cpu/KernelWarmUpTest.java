package io.roseinfer.backend.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.FreshJvm;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.Precision;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepDriver;
import io.roseinfer.backend.StepDriver.Sampled;
import io.roseinfer.backend.StepDriver.Sequence;
import io.roseinfer.backend.cpu.kernel.Fp32Weights;
import io.roseinfer.backend.cpu.kernel.Kernels;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import io.roseinfer.backend.cpu.scalar.ScalarKernels;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

@Tag("parity")
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class KernelWarmUpTest {
    private static final long LONG = TimeUnit.SECONDS.toNanos(60);
    private static final int MAX_ROWS = 33;
    private static final long MEBIBYTE = 1 << 20;

    private final TestModel model = TestModel.random(TestModel.plain(), 21);

    /** Runs in a new process, which has compiled nothing yet. */
    @ParameterizedTest
    @FieldSource("io.roseinfer.backend.cpu.KernelFixtures#PRECISIONS")
    void after_warming_up_the_first_step_of_every_batch_size_allocates_less_than_a_mebibyte(Precision weights)
            throws IOException {
        List<String> bytes = FreshJvm.firstThat(
                lines -> lines.stream().allMatch(step -> Long.parseLong(step) < MEBIBYTE),
                FirstSteps.class,
                List.of(),
                weights.name());
        assertThat(bytes).hasSize(MAX_ROWS).allMatch(step -> Long.parseLong(step) < MEBIBYTE);
    }

    /** Without warm-up the same steps allocate much more, so that the bound above is meaningful. */
    @Test
    void vector_kernels_that_are_not_warm_allocate_many_mebibytes() throws IOException {
        List<String> bytes = FreshJvm.run(FirstSteps.class, List.of(), Precision.FP32.name(), "cold");
        assertThat(Long.parseLong(bytes.getFirst())).isGreaterThan(10 * MEBIBYTE);
    }

    @Test
    void results_are_the_same_before_during_and_after_warm_up() {
        int[] prompt = IntStream.range(1, 20).toArray();
        CpuOptions options = CpuOptions.defaults().withThreads(2);
        try (StepDriver cold = driver(options.withKernels(KernelChoice.SCALAR));
                StepDriver changing = driver(options)) {
            List<Sampled> expected = cold.alone(prompt, 7, 20);
            Sequence sequence = new Sequence(prompt);
            List<Sampled> seen =
                    new ArrayList<>(changing.add(sequence, prompt.length, true).step());
            for (int i = 0; i < 20; i++) {
                if (i == 10) {
                    changing.runner.warmUp(LONG, LONG);
                }
                sequence.append(seen.getLast().token());
                seen.addAll(changing.add(sequence, 1, true).step());
            }
            assertThat(seen).isEqualTo(expected);
        }
    }

    @Test
    void closing_a_runner_ends_an_unfinished_warm_up() {
        ModelRunner runner = load(CpuOptions.defaults());
        runner.warmUp(1, 1);
        runner.close();
        assertThat(threads()).isEmpty();
    }

    @Test
    void few_small_steps_do_not_start_warm_up() {
        try (KernelWarmUp warmUp = warmUp(kernels -> {})) {
            assertThat(warmUp.kindFor(1_000_000)).isZero();
            assertThat(threads()).isEmpty();
        }
    }

    @Test
    void many_small_steps_start_warm_up_without_waiting() {
        CountDownLatch compiled = new CountDownLatch(1);
        try (KernelWarmUp warmUp = warmUp(kernels -> await(compiled))) {
            for (int step = 0; step < 2_000; step++) {
                assertThat(warmUp.kindFor(1_000_000)).isZero();
            }
            assertThat(threads()).hasSize(1);
            compiled.countDown();
            assertThat(warmUp.await(LONG, LONG)).isTrue();
            assertThat(warmUp.kindFor(1_000_000)).isEqualTo(1);
        }
    }

    @Test
    void large_step_waits_for_vector_kernels() {
        try (KernelWarmUp warmUp = warmUp(kernels -> {})) {
            assertThat(warmUp.kindFor(1_000_000_000_000L)).isEqualTo(1);
        }
    }

    @Test
    void large_step_waits_for_a_limited_time() {
        CountDownLatch never = new CountDownLatch(1);
        List<Kernels.Factory> kinds = List.of(new ScalarKernels(), scalarAs("second", kernels -> await(never)));
        try (KernelWarmUp warmUp = new KernelWarmUp(kinds, cases(), 1_000_000)) {
            assertThat(warmUp.kindFor(1_000_000_000_000L)).isZero();
            never.countDown();
        }
    }

    @Test
    void kernels_that_fail_to_warm_up_leave_the_others_in_use() {
        try (KernelWarmUp warmUp = warmUp(kernels -> {
            throw new OutOfMemoryError("planted");
        })) {
            assertThat(warmUp.await(LONG, LONG)).isFalse();
            assertThat(warmUp.kindFor(1_000_000_000_000L)).isZero();
        }
    }

    @Test
    void wait_for_the_fastest_kernels_is_shorter() {
        CountDownLatch never = new CountDownLatch(1);
        try (KernelWarmUp warmUp = warmUp(List.of(
                new ScalarKernels(),
                scalarAs("needed", kernels -> {}),
                scalarAs("fastest", kernels -> await(never))))) {
            assertThat(warmUp.await(LONG, 1)).isFalse();
            assertThat(warmUp.kindFor(1)).isEqualTo(1);
            never.countDown();
            assertThat(warmUp.await(LONG, LONG)).isTrue();
            assertThat(warmUp.kindFor(1)).isEqualTo(2);
        }
    }

    /** One call allocates in its third and fourth run only: it looks compiled at first. */
    @Test
    void call_that_looked_compiled_is_found_by_the_final_check() {
        AtomicInteger runs = new AtomicInteger();
        AtomicReference<byte[]> sink = new AtomicReference<>();
        Runnable flickering = () -> {
            int run = runs.incrementAndGet();
            if (run == 3 || run == 4) {
                sink.set(new byte[64]);
            }
        };
        try (KernelWarmUp warmUp = warmUp(kernels -> {})) {
            warmUp.exercise(List.of(flickering));
        }
        assertThat(runs.get()).isGreaterThanOrEqualTo(8);
    }

    @Test
    void closed_runner_rejects_warm_up() {
        ModelRunner runner = load(CpuOptions.defaults());
        runner.close();
        assertThatThrownBy(() -> runner.warmUp(1, 1)).hasMessageContaining("closed");
    }

    /** Returns two kinds of scalar kernels; {@code onMade} runs when the second is created for warm-up. */
    private KernelWarmUp warmUp(Consumer<Kernels> onMade) {
        return warmUp(List.of(new ScalarKernels(), scalarAs("second", onMade)));
    }

    private KernelWarmUp warmUp(List<Kernels.Factory> kinds) {
        return new KernelWarmUp(kinds, cases());
    }

    private KernelWarmUpCases cases() {
        return new KernelWarmUpCases(model.spec, new Fp32Weights(), 16, Arena.ofAuto());
    }

    private static Kernels.Factory scalarAs(String name, Consumer<Kernels> onMade) {
        return new Kernels.Factory() {
            @Override
            public String name() {
                return name;
            }

            @Override
            public Kernels create(WeightFormat format, int contextLength) {
                Kernels made = new ScalarKernels().create(format, contextLength);
                onMade.accept(made);
                return made;
            }

            @Override
            public long bytes(WeightFormat format, int contextLength) {
                return new ScalarKernels().bytes(format, contextLength);
            }
        };
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static List<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("roseinfer-warm-up"))
                .toList();
    }

    private ModelRunner load(CpuOptions options) {
        return new CpuBackend(options).load(model.spec, model.weights(), new RunnerLimits(4, 64, 16, 0));
    }

    private StepDriver driver(CpuOptions options) {
        return new StepDriver(load(options));
    }

    /** Prints the bytes allocated by the compute threads in the first step of every batch size, largest first. */
    static final class FirstSteps {
        private FirstSteps() {}

        /** Runs with a precision, and {@code cold} to skip the warm-up. */
        public static void main(String[] args) {
            boolean cold = args.length > 1;
            CpuOptions options = CpuOptions.defaults()
                    .withThreads(1)
                    .withPrecision(Precision.valueOf(args[0]))
                    .withKernels(cold ? KernelChoice.VECTOR : KernelChoice.BEST);
            TestModel model = TestModel.random(TestModel.plain(), 21);
            RunnerLimits limits = new RunnerLimits(MAX_ROWS, 2 * MAX_ROWS, 16, 2 * MAX_ROWS);
            try (StepDriver driver =
                    new StepDriver(new CpuBackend(options).load(model.spec, model.weights(), limits))) {
                if (!cold) {
                    driver.runner.warmUp(LONG, LONG);
                }
                for (int rows = MAX_ROWS; rows > 0; rows--) {
                    System.out.println(firstStep(driver, rows));
                }
            }
        }

        private static long firstStep(StepDriver driver, int rows) {
            for (int row = 0; row < rows; row++) {
                driver.inputs.beginRow(0, new int[] {row});
                driver.inputs.addToken(1 + row);
                driver.inputs.endRow();
                driver.inputs.sample(
                        driver.inputs.tokens() - 1,
                        new io.roseinfer.sampling.SampleRequest(driver.params, 7, new Sequence(1 + row)));
            }
            long before = allocatedBytes();
            driver.runner.submit(driver.inputs, driver.outputs);
            driver.runner.await();
            long bytes = allocatedBytes() - before;
            driver.inputs.clear();
            return bytes;
        }

        /** Returns the bytes allocated by this thread, the only worker. */
        private static long allocatedBytes() {
            return ((com.sun.management.ThreadMXBean) java.lang.management.ManagementFactory.getThreadMXBean())
                    .getCurrentThreadAllocatedBytes();
        }
    }
}
