package io.roseinfer.bench.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.Clock;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class PacerTest {
    @Test
    void await_until_returns_no_earlier_than_its_time() {
        Clock clock = Clock.system();
        long deadlineNanos = clock.nanos() + 3_000_000;
        Pacer.precise(clock).awaitUntil(deadlineNanos);
        assertThat(clock.nanos() - deadlineNanos).isNotNegative();
    }

    @Test
    void await_until_a_past_time_reads_the_clock_once() {
        AtomicLong reads = new AtomicLong();
        Pacer.precise(() -> 1_000 + reads.getAndIncrement()).awaitUntil(500);
        assertThat(reads).hasValue(1);
    }

    @Test
    void interrupted_thread_still_waits_and_stays_interrupted() {
        Clock clock = Clock.system();
        long deadlineNanos = clock.nanos() + 2_000_000;
        Thread.currentThread().interrupt();
        Pacer.precise(clock).awaitUntil(deadlineNanos);
        assertThat(clock.nanos() - deadlineNanos).isNotNegative();
        assertThat(Thread.interrupted()).isTrue();
    }
}
