package io.roseinfer.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.metrics.WritableStep;
import io.roseinfer.observe.StepEvent;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class StallWatchTest {
    private final BlockingQueue<String> notes = new LinkedBlockingQueue<>();

    @Test
    void simulation_without_a_step_is_noted_once() throws InterruptedException {
        CountDownLatch noted = new CountDownLatch(1);
        try (StallWatch watch = StallWatch.start(Duration.ofMillis(1), note -> {
            notes.add(note);
            noted.countDown();
        })) {
            assertThat(noted.await(1, TimeUnit.MINUTES)).isTrue();
            watch.on(StepEvent.APPLIED, new WritableStep());
        }
        assertThat(notes)
                .singleElement()
                .asString()
                .matches("no step has ended for 0 s; the simulation is in .*StallWatch.*; Ctrl-C ends it");
    }

    @Test
    void simulation_has_stalled_if_no_step_was_applied_since_the_last_look() {
        StallWatch watch = new StallWatch(Duration.ofHours(1), notes::add);
        assertThat(watch.hasStalled()).isTrue();
        watch.on(StepEvent.APPLIED, new WritableStep());
        assertThat(watch.hasStalled()).isFalse();
        watch.on(StepEvent.PLANNED, new WritableStep());
        assertThat(watch.hasStalled()).isTrue();
    }
}
