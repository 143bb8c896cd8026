package io.roseinfer.server.http;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOutboundBuffer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Closes a channel whose client reads nothing for a time; reading any byte restarts that time. Used on the channel's
 * thread.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a timer of a closed channel has no effect
final class StallWatch {
    /** Checks per limit: the more, the sooner after the limit a stall is detected. */
    private static final int CHECKS = 8;

    private final Channel channel;
    private final Duration limit;
    private boolean running;
    private @Nullable Object message;
    private long progress;
    private int unchanged;
    private volatile boolean expired;

    StallWatch(Channel channel, Duration limit) {
        this.channel = channel;
        this.limit = limit;
    }

    Duration limit() {
        return limit;
    }

    /** Returns whether it has closed the channel. */
    boolean isExpired() {
        return expired;
    }

    /** Watches until the socket was given all that is written. */
    void start() {
        if (!running) {
            running = true;
            message = null;
            unchanged = 0;
            schedule();
        }
    }

    private void schedule() {
        channel.eventLoop().schedule(this::check, Math.max(1, limit.toNanos() / CHECKS), TimeUnit.NANOSECONDS);
    }

    @SuppressWarnings("ReferenceEquality") // progress is comparable only within the same message
    private void check() {
        ChannelOutboundBuffer out = channel.unsafe().outboundBuffer();
        if (out == null || out.isEmpty()) {
            running = false;
            message = null;
            return;
        }
        if (out.current() == message && out.currentProgress() == progress) {
            unchanged++;
        } else {
            message = out.current();
            progress = out.currentProgress();
            unchanged = 0;
        }
        if (unchanged == CHECKS) {
            expired = true;
            channel.close();
        } else {
            schedule();
        }
    }
}
