package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.cuda.driver.CudaStream;
import io.roseinfer.backend.cuda.driver.DriverStatus;
import io.roseinfer.backend.cuda.driver.LaunchLog;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.DeviceFailure;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Waiting for a device that does not do what it should. A wait without an end is the failure, so every test has a limit. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StepWaitTest {
    private static final int STEP = 5;

    private final MemorySegment words = Arena.ofAuto().allocate(8L * 2, 8);
    private final Mailbox mailbox = new Mailbox(words);
    private final AtomicLong nanos = new AtomicLong();

    private StepWait wait(IntSupplier stream) {
        Clock clock = nanos::get;
        return new StepWait(clock, stream, (code, what) -> {
            if (code != DriverStatus.SUCCESS) {
                throw CudaStream.failure("device cuda:0", what, code, new LaunchLog());
            }
        });
    }

    private void mail(int sample, int token) {
        words.setAtIndex(ValueLayout.JAVA_LONG, sample, (long) STEP << 32 | token);
    }

    @Test
    void for_mail_stream_idle_and_a_word_missing_is_a_failure() {
        mail(1, 42);
        assertThatThrownBy(() -> wait(() -> DriverStatus.SUCCESS).forMail(mailbox, 2, STEP))
                .isInstanceOf(DeviceFailure.class)
                .hasMessageStartingWith("device cuda:0: waiting for step 5: the step ended without its tokens;");
    }

    @Test
    void for_mail_word_that_comes_with_the_end_of_the_stream_is_taken() {
        mail(1, 42);
        wait(() -> {
                    mail(0, 7);
                    return DriverStatus.SUCCESS;
                })
                .forMail(mailbox, 2, STEP);
        assertThat(mailbox.token(0)).isEqualTo(7);
    }

    @Test
    void for_mail_device_busy_for_too_long_is_a_timeout() {
        IntSupplier busy = () -> {
            nanos.addAndGet(StepWait.LIMIT_NANOS / 2 + 1);
            return DriverStatus.NOT_READY;
        };
        assertThatThrownBy(() -> wait(busy).forMail(mailbox, 1, STEP))
                .isInstanceOf(DeviceFailure.class)
                .hasMessageContaining("waiting for step 5: launch timed out");
    }

    @Test
    void for_event_fault_of_the_device_is_told() {
        AtomicInteger asked = new AtomicInteger();
        IntSupplier event = () -> asked.incrementAndGet() < 3 ? DriverStatus.NOT_READY : 700;
        assertThatThrownBy(() -> wait(event).forEvent(event, STEP))
                .isInstanceOf(DeviceFailure.class)
                .hasMessageContaining("illegal address");
        assertThat(asked).hasValue(3);
    }
}
