package io.roseinfer.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The time until a stalled client is disconnected, on a channel whose clock and reads the test controls. */
class StallWatchTest {
    private static final Duration LIMIT = Duration.ofSeconds(9);
    /** Divisible by the number of checks. */
    private static final int TICKS = 80;

    private static final int WRITTEN = 1 << 16;

    /** A channel whose socket accepts bytes only when the client reads. */
    @SuppressWarnings("FutureReturnValueIgnored") // they complete at once
    private static final class Client extends EmbeddedChannel {
        private final StallWatch watch = new StallWatch(this, LIMIT);

        Client() {
            freezeTime();
            writeOneOutbound(Unpooled.wrappedBuffer(new byte[WRITTEN]));
            flushOutbound();
            watch.start();
        }

        @Override
        protected void doWrite(ChannelOutboundBuffer in) {
            // The number of bytes that the client reads.
        }

        void take(int bytes) {
            unsafe().outboundBuffer().removeBytes(bytes);
        }

        /** Advances the time by tenths of the limit. */
        void pass(int tenths) {
            for (int tick = 0; tick < tenths * TICKS / 10; tick++) {
                advanceTimeBy(LIMIT.toNanos() / TICKS, TimeUnit.NANOSECONDS);
                runScheduledPendingTasks();
            }
        }
    }

    @Test
    void stalled_client_is_disconnected_at_the_time_limit() {
        Client client = new Client();
        client.pass(10);
        assertThat(client.isOpen()).isTrue();
        client.pass(2);
        assertThat(client.isOpen()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 8})
    void client_that_reads_byte_by_byte_is_not_disconnected(int tenths) {
        Client client = new Client();
        for (int taken = 1; taken < 200; taken++) {
            client.pass(tenths);
            client.take(1);
            assertThat(client.isOpen()).as("%d bytes taken", taken).isTrue();
        }
    }

    @Test
    @SuppressWarnings("FutureReturnValueIgnored") // it completes at once
    void time_restarts_with_the_next_write() {
        Client client = new Client();
        client.pass(8);
        client.take(WRITTEN);
        client.pass(3);
        client.writeOneOutbound(Unpooled.wrappedBuffer(new byte[1]));
        client.flushOutbound();
        client.watch.start();
        client.pass(8);
        assertThat(client.isOpen()).isTrue();
        client.pass(4);
        assertThat(client.isOpen()).isFalse();
    }
}
