package io.roseinfer.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.LogCapture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** The memory for request bodies. */
class BodyBudgetTest {
    @Test
    void bodies_without_room_are_warned_of_once_a_minute() {
        AtomicLong now = new AtomicLong();
        BodyBudget budget = new BodyBudget(1000, now::get);
        try (LogCapture log = new LogCapture("io.roseinfer.server")) {
            assertThat(budget.tryReserve(1000, 1000)).isTrue();
            assertThat(log.messages()).isEmpty();
            assertThat(budget.tryReserve(1, 1)).isFalse();
            assertThat(budget.tryReserve(1, 1)).isFalse();
            assertThat(log.messages())
                    .singleElement()
                    .satisfies(line -> assertThat(line).contains("1000 bytes", "raise -Xmx"));
            now.addAndGet(TimeUnit.MINUTES.toNanos(1));
            assertThat(budget.tryReserve(1, 1)).isFalse();
            assertThat(log.messages()).hasSize(2);
        }
    }
}
