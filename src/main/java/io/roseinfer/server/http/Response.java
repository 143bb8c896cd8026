package io.roseinfer.server.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The response to one call: either {@link #send}, or {@link #begin}, any number of {@link #write} and {@link #end}.
 * Incremental output should use a {@link #pump}, which must be finished before anything else is written. One thread
 * writes at a time. A write to a slow client waits, for a bounded time; unsent bytes are bounded by the channel's
 * high-water mark and one write.
 */
@SuppressWarnings(
        "FutureReturnValueIgnored") // a failed write or close ends the connection, and its handler is notified of that
public final class Response {
    /**
     * Thrown if the client has disconnected, or was disconnected because it read nothing for too long. The response
     * cannot be continued.
     */
    public static final class ClientGone extends RuntimeException {
        public ClientGone(String message) {
            super(message);
        }
    }

    /** Maximum bytes written at once, so that unsent bytes are bounded. */
    private static final int CHUNK_BYTES = 32 << 10;

    private static final byte[] NOTHING = {};

    private final ChannelHandlerContext encoder;
    private final Channel channel;
    private final PumpQueue queue;
    private final boolean keepAlive;
    private final boolean chunked;
    private final StallWatch stall;
    private final boolean bodiless;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private @Nullable Runnable onGone;
    private boolean gone;
    private boolean complete;
    private volatile boolean begun;
    private volatile @Nullable HttpResponse unwrittenHead;
    private volatile @Nullable Pump pump;

    /**
     * Creates a response that has not begun.
     *
     * @param encoder of the channel's pipeline
     * @param queue of the channel's event loop
     * @param keepAlive whether the connection stays open after it
     * @param chunked whether the client supports chunks (HTTP/1.1); otherwise the connection's end is the response's
     *     end
     * @param bodiless whether only headers are sent, as for HEAD
     * @param stall of the channel
     */
    Response(
            ChannelHandlerContext encoder,
            PumpQueue queue,
            boolean keepAlive,
            boolean chunked,
            boolean bodiless,
            StallWatch stall) {
        this.encoder = encoder;
        this.channel = encoder.channel();
        this.queue = queue;
        this.keepAlive = keepAlive;
        this.chunked = chunked;
        this.bodiless = bodiless;
        this.stall = stall;
    }

    /** Notifies the response, on the channel's thread, that the channel is closed. */
    void connectionClosed() {
        Runnable action;
        lock.lock();
        try {
            gone = true;
            changed.signalAll();
            action = complete ? null : onGone;
            onGone = null;
        } finally {
            lock.unlock();
        }
        if (action != null) {
            action.run();
        }
        if (pump != null) {
            pump.connectionClosed();
        }
    }

    /** Notifies the response, on the channel's thread, that the channel's writability has changed. */
    void roomChanged() {
        if (pump != null) {
            pump.roomChanged();
        }
        wake();
    }

    /** Wakes the thread that waits for room or for the end. */
    private void wake() {
        lock.lock();
        try {
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Runs an action once if the client disconnects before the response is complete, or at once if it already has. It
     * runs on a thread that serves many connections, so it must be quick. A later action replaces an earlier one.
     */
    public void whenGone(Runnable action) {
        lock.lock();
        try {
            if (!gone) {
                onGone = action;
                return;
            }
        } finally {
            lock.unlock();
        }
        action.run();
    }

    /** Returns whether {@link #send} or {@link #begin} was called. */
    public boolean hasBegun() {
        return begun;
    }

    /** Closes the connection, so that the client detects that the response is incomplete. */
    public void abort() {
        channel.close();
    }

    /**
     * Sends a complete response, and waits until the system has it.
     *
     * @throws ClientGone if the client has disconnected or stalled
     */
    public void send(Reply reply) {
        HttpResponse head = head(reply.status(), reply.headers());
        head.headers().set(HttpHeaderNames.CONTENT_LENGTH, reply.body().length);
        channel.write(head, channel.voidPromise());
        byte[] body = bodiless ? NOTHING : reply.body();
        int at = 0;
        while (body.length - at > CHUNK_BYTES) {
            ByteBuf piece = Unpooled.wrappedBuffer(body, at, CHUNK_BYTES);
            channel.writeAndFlush(new DefaultHttpContent(piece), channel.voidPromise());
            awaitRoom();
            at += CHUNK_BYTES;
        }
        end(new DefaultLastHttpContent(Unpooled.wrappedBuffer(body, at, body.length - at)));
    }

    /** Sends a response on the channel's thread, without waiting for anything. */
    ChannelFuture sendAndForget(Reply reply) {
        HttpResponse head = head(reply.status(), reply.headers());
        head.headers().set(HttpHeaderNames.CONTENT_LENGTH, reply.body().length);
        channel.write(head, channel.voidPromise());
        ByteBuf body = bodiless ? Unpooled.EMPTY_BUFFER : Unpooled.wrappedBuffer(reply.body());
        ChannelFuture written = channel.writeAndFlush(new DefaultLastHttpContent(body));
        if (!written.isDone()) {
            stall.start();
        }
        return written;
    }

    /** Begins a response of unknown length; its head is sent with the first write. */
    public void begin(int status, Map<String, String> headers) {
        HttpResponse head = head(status, headers);
        if (chunked) {
            head.headers().set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED);
        }
        unwrittenHead = head;
    }

    /** Writes the head with the first bytes, because a pump may run before another thread's writes. */
    private void writeHead() {
        HttpResponse head = unwrittenHead;
        if (head != null) {
            unwrittenHead = null;
            channel.write(head, channel.voidPromise());
        }
    }

    private HttpResponse head(int status, Map<String, String> headers) {
        begun = true;
        HttpResponse head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(status));
        headers.forEach(head.headers()::set);
        if (!keepAlive) {
            head.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        }
        return head;
    }

    /**
     * Writes the next bytes of the response and flushes them. The array must not be modified afterwards.
     *
     * @throws ClientGone if the client has disconnected or stalled
     */
    public void write(byte[] bytes) {
        writeHead();
        channel.writeAndFlush(new DefaultHttpContent(Unpooled.wrappedBuffer(bytes)), channel.voidPromise());
        awaitRoom();
    }

    /** Returns a pump for a source, which begins the response itself unless it has begun. */
    public Pump pump(BodySource source) {
        Pump made = new Pump(encoder, source, this::writeHead, queue, chunked, this::gone);
        lock.lock();
        try {
            if (gone) {
                throw gone();
            }
            pump = made;
        } finally {
            lock.unlock();
        }
        return made;
    }

    /**
     * Ends the response, and waits until the system has it.
     *
     * @throws ClientGone if the client has disconnected or stalled
     */
    public void end() {
        writeHead();
        end(LastHttpContent.EMPTY_LAST_CONTENT);
    }

    private void end(LastHttpContent last) {
        ChannelFuture written = channel.writeAndFlush(last);
        written.addListener(ignored -> wake());
        if (!written.isDone()) {
            channel.eventLoop().execute(stall::start);
        }
        await(written::isDone);
        if (!written.isSuccess()) {
            throw gone();
        }
        lock.lock();
        try {
            complete = true;
            onGone = null;
        } finally {
            lock.unlock();
        }
    }

    private void awaitRoom() {
        if (!channel.isWritable()) {
            await(channel::isWritable);
        }
    }

    private ClientGone gone() {
        return new ClientGone(
                stall.isExpired()
                        ? "disconnected: the client has read nothing for " + seconds(stall.limit()) + " s"
                        : "the client has disconnected");
    }

    private static String seconds(Duration duration) {
        return BigDecimal.valueOf(duration.toMillis(), 3).stripTrailingZeros().toPlainString();
    }

    private interface Test {
        boolean holds();
    }

    private void await(Test test) {
        lock.lock();
        try {
            while (!test.holds()) {
                if (gone) {
                    throw gone();
                }
                changed.await();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            channel.close();
            throw new ClientGone("interrupted while writing to the client");
        } finally {
            lock.unlock();
        }
    }
}
