package io.roseinfer.backend.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.Precision;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepDriver;
import io.roseinfer.backend.cpu.kernel.Kernels;
import io.roseinfer.backend.cpu.kernel.RowMath;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import io.roseinfer.backend.cpu.scalar.ScalarKernels;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.DeviceFailure;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A step with a hanging worker. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StalledStepTest {
    private static final long LIMIT_NANOS = 60_000_000_000L;

    private final CountDownLatch stalled = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);

    /** Scalar kernels with a norm that blocks the team's threads. */
    private final class StallingKernels implements Kernels.Factory {
        private final Kernels.Factory scalar = new ScalarKernels();

        @Override
        public String name() {
            return "stalling";
        }

        @Override
        public Kernels create(WeightFormat format, int contextLength) {
            Kernels kernels = scalar.create(format, contextLength);
            RowMath rows = (RowMath) Proxy.newProxyInstance(
                    RowMath.class.getClassLoader(), new Class<?>[] {RowMath.class}, (proxy, method, arguments) -> {
                        if (Thread.currentThread().getName().startsWith("roseinfer-cpu-")) {
                            stalled.countDown();
                            released.await();
                        }
                        return method.invoke(kernels.rows(), arguments);
                    });
            return new Kernels(kernels.blocks(), kernels.head(), kernels.attention(), rows);
        }

        @Override
        public long bytes(WeightFormat format, int contextLength) {
            return scalar.bytes(format, contextLength);
        }
    }

    @Test
    void stalled_worker_fails_the_step_and_keeps_its_memory() {
        TestModel model = TestModel.random(TestModel.plain(), 1);
        CpuModelRunner runner = RunnerLoader.load(
                        model.spec,
                        model.weights(),
                        new RunnerLimits(2, 16, 16, 4),
                        Precision.FP32,
                        List.of(new StallingKernels()),
                        List.of(2),
                        Long.MAX_VALUE)
                .getFirst();
        AtomicLong now = new AtomicLong();
        // Time passes only while the worker is held up.
        runner.setStallLimit(
                new StallLimit(() -> stalled.getCount() == 0 ? now.addAndGet(LIMIT_NANOS) : now.get(), LIMIT_NANOS));
        StepDriver driver = new StepDriver(runner);
        driver.add(new StepDriver.Sequence(1, 2), 2, true).add(new StepDriver.Sequence(3, 4), 2, true);
        assertThatThrownBy(driver::step)
                .isInstanceOfSatisfying(
                        DeviceFailure.class,
                        failure -> assertThat(failure.recoverable()).isFalse())
                .hasMessageContaining("has come no further for 60 s: roseinfer-cpu-1 is in io.roseinfer.")
                .hasMessageContaining("the model's memory stays allocated");
        runner.close();
        assertThat(isFreed(runner)).isFalse();
        released.countDown();
        while (!isFreed(runner)) {
            Thread.onSpinWait();
            runner.close();
        }
    }

    private static boolean isFreed(CpuModelRunner runner) {
        try {
            runner.poison(0);
            return false;
        } catch (IllegalStateException freed) {
            return true;
        }
    }

    @Test
    void stall_limit_must_be_positive() {
        assertThatThrownBy(() -> CpuOptions.defaults().withStallLimit(Duration.ZERO))
                .isInstanceOf(BadInput.class)
                .hasMessage("the stall limit is PT0S; it must be positive");
    }
}
