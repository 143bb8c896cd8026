package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SeedWatchTest {
    private static final long SEED = 17;
    private static final int HANGS_AT_EVENT = 5;

    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
    private final CountDownLatch named = new CountDownLatch(1);

    /** Returns a trace whose run computes at its fifth event until it has been reported. */
    private Trace hanging(SeedWatch watch) {
        AtomicInteger events = new AtomicInteger();
        Trace[] self = new Trace[1];
        self[0] = Trace.printing(line -> {
            if (events.incrementAndGet() == HANGS_AT_EVENT) {
                watch.begin(SEED, self[0]);
                while (named.getCount() > 0) {
                    Thread.onSpinWait();
                }
            }
        });
        return self[0];
    }

    @Test
    void hanging_seed_is_reported_with_its_last_events_and_location() {
        SeedWatch watch = SeedWatch.start(
                new PrintStream(printed, true, StandardCharsets.UTF_8), Duration.ofMillis(50), named::countDown);
        assertThat(Simulation.run(SEED, hanging(watch)).iterations()).isPositive();
        assertThat(printed.toString(StandardCharsets.UTF_8).lines().toList())
                .startsWith("HANGS 17: repeat it with tools/sim --seed 17; events last:")
                .anyMatch(line -> line.startsWith("ITERATION "))
                .anyMatch(line -> line.startsWith("    at " + SeedWatchTest.class.getName()))
                .anyMatch(line -> line.startsWith("    at " + Simulation.class.getName() + ".run("));
    }
}
