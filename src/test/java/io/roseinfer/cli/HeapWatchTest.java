package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class HeapWatchTest {
    private static final long SECOND = 1_000_000_000L;

    private final HeapWatch watch = new HeapWatch(HeapWatch.WINDOW);

    /** Returns the seconds until the heap counts as exhausted; 60 if it never does. */
    private int secondsUntilExhausted(double collecting, double free) {
        return IntStream.range(0, 60)
                .filter(second -> watch.isExhausted(second * SECOND, (long) (second * SECOND * collecting), free))
                .findFirst()
                .orElse(60);
    }

    @Test
    void full_heap_under_constant_collection_is_exhausted_after_ten_seconds() {
        assertThat(secondsUntilExhausted(0.95, 0.01)).isEqualTo(10);
    }

    @Test
    void full_heap_is_tolerated_while_collection_leaves_time_for_work() {
        assertThat(secondsUntilExhausted(0.75, 0.01)).isEqualTo(60);
    }

    @Test
    void heavy_collection_is_tolerated_while_the_heap_has_room() {
        assertThat(secondsUntilExhausted(0.95, 0.10)).isEqualTo(60);
    }

    @Test
    void room_in_the_heap_restarts_the_ten_seconds() {
        assertThat(watch.isExhausted(0, 0, 0.01)).isFalse();
        assertThat(watch.isExhausted(9 * SECOND, 9 * SECOND, 0.2)).isFalse();
        assertThat(watch.isExhausted(10 * SECOND, 10 * SECOND, 0.01)).isFalse();
        assertThat(watch.isExhausted(19 * SECOND, 19 * SECOND, 0.01)).isFalse();
        assertThat(watch.isExhausted(20 * SECOND, 20 * SECOND, 0.01)).isTrue();
    }

    @Test
    void idle_time_does_not_hide_later_collection() {
        assertThat(watch.isExhausted(0, 0, 0.01)).isFalse();
        assertThat(watch.isExhausted(10 * SECOND, SECOND, 0.01)).isFalse();
        assertThat(watch.isExhausted(20 * SECOND, 11 * SECOND, 0.01)).isTrue();
    }
}
