package io.roseinfer.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import io.roseinfer.LogCapture;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class AcceptFailuresTest {
    @Test
    void failures_to_accept_connections_are_logged_in_one_line_a_minute() {
        AtomicLong now = new AtomicLong();
        EmbeddedChannel channel = new EmbeddedChannel(new HttpServer.AcceptFailures(now::get));
        try (LogCapture log = new LogCapture("io.roseinfer.server")) {
            IOException full = new IOException("Too many open files");
            channel.pipeline().fireExceptionCaught(full);
            channel.pipeline().fireExceptionCaught(full);
            assertThat(log.records()).singleElement().satisfies(entry -> {
                assertThat(entry.getMessage()).contains("Too many open files", "ulimit -n", "max_connections");
                assertThat(entry.getThrown()).isNull();
            });
            now.addAndGet(TimeUnit.MINUTES.toNanos(1));
            channel.pipeline().fireExceptionCaught(full);
            assertThat(log.records()).hasSize(2);
            channel.checkException();
        } finally {
            channel.finishAndReleaseAll();
        }
    }
}
