package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.KvPrecision;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.cuda.driver.CudaStream;
import io.roseinfer.backend.cuda.driver.DriverStatus;
import io.roseinfer.backend.cuda.driver.LaunchLog;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.model.family.Families;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntSupplier;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Waiting for a misbehaving device. The failure would be an endless wait, so every test has a time limit. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StepWaitTest {
    private static final int STEP = 5;

    private final MemorySegment words = Arena.ofAuto().allocate(8L * 2, 8);
    private final TokenSlots tokenSlots = new TokenSlots(words);
    private final AtomicLong nanos = new AtomicLong();

    /** 40 s for each token. */
    private static final StepBudget BUDGET = new StepBudget(0, 200_000_000_000L, 1);

    private static StepInputs inputs(int tokens) {
        StepInputs inputs = new StepInputs(Arena.ofAuto(), new RunnerLimits(1, 8, 16, 0), 1);
        inputs.clear();
        inputs.beginRow(0, new int[] {0});
        for (int token = 0; token < tokens; token++) {
            inputs.addToken(0);
        }
        inputs.endRow();
        return inputs;
    }

    private StepWait wait(IntSupplier stream) {
        Clock clock = nanos::get;
        return new StepWait(clock, BUDGET, stream, (code, what) -> {
            if (code != DriverStatus.SUCCESS) {
                throw CudaStream.failure("device cuda:0", what, code, new LaunchLog());
            }
        });
    }

    private void writeToken(int sample, int token) {
        words.setAtIndex(ValueLayout.JAVA_LONG, sample, (long) STEP << 32 | token);
    }

    @Test
    void idle_stream_with_a_missing_token_is_a_failure() {
        writeToken(1, 42);
        assertThatThrownBy(() -> wait(() -> DriverStatus.SUCCESS).forTokens(tokenSlots, 2, STEP, inputs(1)))
                .isInstanceOf(DeviceFailure.class)
                .hasMessageStartingWith("device cuda:0: waiting for step 5: the step ended without its tokens;");
    }

    @Test
    void token_that_arrives_with_the_end_of_the_stream_is_accepted() {
        writeToken(1, 42);
        wait(() -> {
                    writeToken(0, 7);
                    return DriverStatus.SUCCESS;
                })
                .forTokens(tokenSlots, 2, STEP, inputs(1));
        assertThat(tokenSlots.token(0)).isEqualTo(7);
    }

    private IntSupplier busyFor(long seconds) {
        return () -> {
            nanos.addAndGet(1_000_000_000L);
            return nanos.get() > seconds * 1_000_000_000L ? DriverStatus.SUCCESS : DriverStatus.NOT_READY;
        };
    }

    @ParameterizedTest
    @CsvSource({"1, 101", "3, 181"})
    void step_beyond_its_budget_times_out_and_keeps_the_context(int tokens, int seconds) {
        IntSupplier hangs = busyFor(Long.MAX_VALUE / 2_000_000_000L);
        for (ThrowingCallable waiting : List.<ThrowingCallable>of(
                () -> wait(hangs).forTokens(tokenSlots, 1, STEP, inputs(tokens)),
                () -> wait(hangs).forEvent(hangs, STEP, inputs(tokens)))) {
            assertThatThrownBy(waiting)
                    .isInstanceOf(DeviceFailure.class)
                    .hasMessageStartingWith("device cuda:0: waiting " + seconds + " s for step 5, of 1 rows and "
                            + tokens + " tokens: the device is still busy")
                    .hasMessageContaining("load the model again");
        }
    }

    @Test
    void step_with_a_long_budget_is_awaited() {
        IntSupplier stream = busyFor(150);
        wait(stream).forEvent(stream, STEP, inputs(3));
        assertThat(nanos.get()).isGreaterThan(StepBudget.MIN_NANOS);
    }

    @Test
    void stream_is_idle_soon_if_within_a_minute() {
        assertThat(wait(busyFor(30)).isIdleSoon()).isTrue();
        assertThat(wait(busyFor(1000)).isIdleSoon()).isFalse();
    }

    /** An H200 at half its maximum issue rate for attention, and 2 TFLOP/s fp32 for matrices. */
    @ParameterizedTest
    @CsvSource({"llama-3.1-8b, 131072", "llama-3.2-1b, 131072", "qwen3-0.6b, 40960"})
    void longest_prompt_has_time_for_the_slowest_kernels(String model, int tokens) {
        ModelShape shape =
                ModelShape.of(Families.shape(model).orElseThrow(), ElementType.F32, KvPrecision.AUTO, Shard.WHOLE);
        double keys = 0.5 * tokens * tokens * shape.heads() * shape.spec().layers();
        double operations = 2.0 * tokens * shape.layerWeights() * shape.spec().layers();
        double seconds = keys / 3.8e9 + operations / 2e12;
        assertThat(seconds).as("seconds on the device").isGreaterThan(60);
        assertThat(StepBudget.of(shape, 132).nanos(prompt(tokens)) / 1e9).isGreaterThan(2 * seconds);
    }

    private static StepInputs prompt(int tokens) {
        StepInputs inputs = new StepInputs(Arena.ofAuto(), new RunnerLimits(1, tokens, 1024, 0), tokens / 1024);
        inputs.clear();
        inputs.beginRow(0, new int[tokens / 1024]);
        for (int token = 0; token < tokens; token++) {
            inputs.addToken(0);
        }
        inputs.endRow();
        return inputs;
    }

    @Test
    void device_fault_during_an_event_wait_is_reported() {
        AtomicInteger asked = new AtomicInteger();
        IntSupplier event = () -> asked.incrementAndGet() < 3 ? DriverStatus.NOT_READY : 700;
        assertThatThrownBy(() -> wait(event).forEvent(event, STEP, inputs(1)))
                .isInstanceOf(DeviceFailure.class)
                .hasMessageContaining("illegal address");
        assertThat(asked).hasValue(3);
    }
}
