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
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The response to one call: either {@link #send}, or {@link #begin}, any number of {@link #write} and {@link #end}. What comes bit by
 * bit is better left to a {@link #pump}, which must be over before anything else is written. One thread writes at a time. A write
 * waits while the client is slow, for a bounded time; what waits to be sent is bounded by the channel's high-water mark and one write.
 */
@SuppressWarnings(
        "FutureReturnValueIgnored") // a write or close that fails ends the connection, which notifies its handler
public final class Response {
    /** The client has left, or was cut because it took nothing for too long. Nothing more can be told to it. */
    public static final class ClientGone extends RuntimeException {
        public ClientGone(String message) {
            super(message);
        }
    }

    /** Pieces of a long response, so that what waits to be sent is bounded. */
    private static final int PIECE_BYTES = 32 << 10;

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
    private @Nullable Runnable leave;
    private boolean gone;
    private boolean whole;
    private volatile boolean begun;
    private volatile @Nullable HttpResponse unwrittenHead;
    private volatile @Nullable Pump pump;

    /**
     * An answer that has not begun.
     *
     * @param encoder of the channel's pipeline
     * @param queue of the channel's event loop
     * @param keepAlive whether the connection stays open behind it
     * @param chunked whether a client reads chunks, as from HTTP/1.1 on; without them the connection's end is the answer's
     * @param bodiless whether the headers are all that is sent, as the answer to HEAD
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

    /** On the channel's thread: it is closed. */
    void connectionClosed() {
        Runnable action;
        lock.lock();
        try {
            gone = true;
            changed.signalAll();
            action = whole ? null : leave;
            leave = null;
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

    /** On the channel's thread: there is room again, or none any more. */
    void roomChanged() {
        if (pump != null) {
            pump.roomChanged();
        }
        wake();
    }

    /** Wakes who waits for room or for the end. */
    private void wake() {
        lock.lock();
        try {
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Runs an action once if the client leaves before the answer is whole, at once if it has left already. It runs on a thread that
     * serves many connections: it must be quick. A later action replaces an earlier one.
     */
    public void whenGone(Runnable action) {
        lock.lock();
        try {
            if (!gone) {
                leave = action;
                return;
            }
        } finally {
            lock.unlock();
        }
        action.run();
    }

    /** Whether {@link #send} or {@link #begin} has been called. */
    public boolean hasBegun() {
        return begun;
    }

    /** Closes the connection, so that the client sees that the answer is not whole. */
    public void abort() {
        channel.close();
    }

    /**
     * Sends a whole answer, and waits until the system has it.
     *
     * @throws ClientGone if the client has left or takes nothing
     */
    public void send(Reply reply) {
        HttpResponse head = head(reply.status(), reply.headers());
        head.headers().set(HttpHeaderNames.CONTENT_LENGTH, reply.body().length);
        channel.write(head, channel.voidPromise());
        byte[] body = bodiless ? NOTHING : reply.body();
        int at = 0;
        while (body.length - at > PIECE_BYTES) {
            ByteBuf piece = Unpooled.wrappedBuffer(body, at, PIECE_BYTES);
            channel.writeAndFlush(new DefaultHttpContent(piece), channel.voidPromise());
            awaitRoom();
            at += PIECE_BYTES;
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

    /** Begins an answer whose length is not known; its head goes out with the first write. */
    public void begin(int status, Map<String, String> headers) {
        HttpResponse head = head(status, headers);
        if (chunked) {
            head.headers().set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED);
        }
        unwrittenHead = head;
    }

    /** Writes the head with the first bytes: a pump may run before what another thread has written. */
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
     * Writes the next bytes of the answer and flushes them. The array belongs to the writer from then on.
     *
     * @throws ClientGone if the client has left or takes nothing
     */
    public void write(byte[] bytes) {
        writeHead();
        channel.writeAndFlush(new DefaultHttpContent(Unpooled.wrappedBuffer(bytes)), channel.voidPromise());
        awaitRoom();
    }

    /** Moves what a source makes, once it is ready; the source begins the answer itself unless it has begun. */
    public Pump pump(BodySource source) {
        Pump made = new Pump(encoder, source, this::writeHead, queue, chunked, gone());
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
     * Ends the answer, and waits until the system has it.
     *
     * @throws ClientGone if the client has left or takes nothing
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
            whole = true;
            leave = null;
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
        return new ClientGone("the client has left, or has read nothing for " + stall.limit());
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
