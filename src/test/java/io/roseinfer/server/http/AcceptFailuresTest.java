package io.roseinfer.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

class AcceptFailuresTest {
    private static final Logger LOGGER = Logger.getLogger("io.roseinfer.server");

    @Test
    void failures_to_accept_connections_are_logged_in_one_line_a_minute() {
        List<LogRecord> logged = new ArrayList<>();
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord entry) {
                logged.add(entry);
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        AtomicLong now = new AtomicLong();
        LOGGER.addHandler(handler);
        LOGGER.setUseParentHandlers(false);
        EmbeddedChannel channel = new EmbeddedChannel(new HttpServer.AcceptFailures(now::get));
        try {
            IOException full = new IOException("Too many open files");
            channel.pipeline().fireExceptionCaught(full);
            channel.pipeline().fireExceptionCaught(full);
            assertThat(logged).singleElement().satisfies(entry -> {
                assertThat(entry.getMessage()).contains("Too many open files", "ulimit -n", "max_connections");
                assertThat(entry.getThrown()).isNull();
            });
            now.addAndGet(TimeUnit.MINUTES.toNanos(1));
            channel.pipeline().fireExceptionCaught(full);
            assertThat(logged).hasSize(2);
            channel.checkException();
        } finally {
            channel.finishAndReleaseAll();
            LOGGER.removeHandler(handler);
            LOGGER.setUseParentHandlers(true);
        }
    }
}
