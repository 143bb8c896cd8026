package io.roseinfer.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.Clock;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class PacerTest {
    @Test
    void awaitUntil_future_returnsNoEarlier() {
        Clock clock = Clock.system();
        long deadlineNanos = clock.nanos() + 3_000_000;
        Pacer.precise(clock).awaitUntil(deadlineNanos);
        assertThat(clock.nanos() - deadlineNanos).isNotNegative();
    }

    @Test
    void awaitUntil_past_readsTheClockOnce() {
        AtomicLong reads = new AtomicLong();
        Pacer.precise(() -> 1_000 + reads.getAndIncrement()).awaitUntil(500);
        assertThat(reads).hasValue(1);
    }

    @Test
    void awaitUntil_interruptedThread_stillWaitsAndStaysInterrupted() {
        Clock clock = Clock.system();
        long deadlineNanos = clock.nanos() + 2_000_000;
        Thread.currentThread().interrupt();
        Pacer.precise(clock).awaitUntil(deadlineNanos);
        assertThat(clock.nanos() - deadlineNanos).isNotNegative();
        assertThat(Thread.interrupted()).isTrue();
    }
}
