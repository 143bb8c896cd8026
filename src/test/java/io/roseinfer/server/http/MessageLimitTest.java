package io.roseinfer.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** The limit of messages per minute. */
class MessageLimitTest {
    @Test
    void a_minute_after_its_first_message_the_limit_begins_again() {
        AtomicLong now = new AtomicLong(Long.MAX_VALUE);
        MessageLimit limit = new MessageLimit(2, now::get);
        now.addAndGet(TimeUnit.SECONDS.toNanos(59));
        assertThat(limit.tryLog()).isTrue();
        assertThat(limit.tryLog()).isTrue();
        now.addAndGet(TimeUnit.MINUTES.toNanos(1) - 1);
        assertThat(limit.tryLog()).isFalse();
        now.incrementAndGet();
        assertThat(limit.tryLog()).isTrue();
        assertThat(limit.tryLog()).isTrue();
        assertThat(limit.tryLog()).isFalse();
    }
}
