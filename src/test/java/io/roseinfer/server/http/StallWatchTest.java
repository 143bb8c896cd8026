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

/** How long a client may take nothing, on a channel whose clock and whose client's bytes are the test's. */
class StallWatchTest {
    private static final Duration LIMIT = Duration.ofSeconds(9);
    /** So that every check of the watch falls on one. */
    private static final int TICKS = 80;

    private static final int WRITTEN = 1 << 16;

    /** A channel whose socket takes bytes only when the client does. */
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
            // The client takes what it takes.
        }

        void take(int bytes) {
            unsafe().outboundBuffer().removeBytes(bytes);
        }

        /** Lets tenths of the limit pass. */
        void pass(int tenths) {
            for (int tick = 0; tick < tenths * TICKS / 10; tick++) {
                advanceTimeBy(LIMIT.toNanos() / TICKS, TimeUnit.NANOSECONDS);
                runScheduledPendingTasks();
            }
        }
    }

    @Test
    void client_that_takes_nothing_is_cut_when_the_time_is_over_and_not_before() {
        Client client = new Client();
        client.pass(10);
        assertThat(client.isOpen()).isTrue();
        client.pass(2);
        assertThat(client.isOpen()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 8})
    void client_that_takes_a_byte_at_a_time_is_not_cut(int tenths) {
        Client client = new Client();
        for (int taken = 1; taken < 200; taken++) {
            client.pass(tenths);
            client.take(1);
            assertThat(client.isOpen()).as("%d bytes taken", taken).isTrue();
        }
    }

    @Test
    @SuppressWarnings("FutureReturnValueIgnored") // it completes at once
    void time_begins_again_with_what_is_written_next() {
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
