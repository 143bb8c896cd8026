package io.roseinfer.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

/** The memory for request bodies. */
class BodyBudgetTest {
    private static final Logger LOGGER = Logger.getLogger("io.roseinfer.server");

    @Test
    void bodies_without_room_are_warned_of_once_a_minute() {
        List<String> logged = new ArrayList<>();
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord entry) {
                logged.add(entry.getMessage());
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        AtomicLong now = new AtomicLong();
        BodyBudget budget = new BodyBudget(1000, now::get);
        LOGGER.addHandler(handler);
        LOGGER.setUseParentHandlers(false);
        try {
            assertThat(budget.tryReserve(1000, 1000)).isTrue();
            assertThat(logged).isEmpty();
            assertThat(budget.tryReserve(1, 1)).isFalse();
            assertThat(budget.tryReserve(1, 1)).isFalse();
            assertThat(logged)
                    .singleElement()
                    .satisfies(line -> assertThat(line).contains("1000 bytes", "raise -Xmx"));
            now.addAndGet(TimeUnit.MINUTES.toNanos(1));
            assertThat(budget.tryReserve(1, 1)).isFalse();
            assertThat(logged).hasSize(2);
        } finally {
            LOGGER.removeHandler(handler);
            LOGGER.setUseParentHandlers(true);
        }
    }
}
