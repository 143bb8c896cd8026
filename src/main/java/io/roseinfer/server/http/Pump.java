package io.roseinfer.server.http;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.roseinfer.server.http.Response.ClientGone;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Moves a response's bytes from their source to the client, on the connection's thread. It asks its source only while the channel has room, so that what waits to be sent is bounded. Bytes go to the socket behind the encoder's back, as chunks that are made here.
 */
@SuppressWarnings(
        "FutureReturnValueIgnored") // a write or close that fails ends the connection, which notifies its handler
public final class Pump {
    private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
    private static final int CRLF = ('\r' << 8) | '\n';

    /** Of a chunk beside its bytes: eight digits at most and two line ends. */
    private static final int FRAME_BYTES = 12;

    private final Channel channel;
    private final ChannelHandlerContext socket;
    private final BodySource source;
    private final Runnable head;
    private final PumpQueue queue;
    private final boolean chunked;
    private final ClientGone gone;
    private final AtomicBoolean queued = new AtomicBoolean();
    private final CountDownLatch over = new CountDownLatch(1);
    private boolean ended;
    private volatile @Nullable Throwable failure;

    /** The one that was queued before this one, or is to run after it. */
    @Nullable
    Pump queuedBefore;

    /**
     * A pump that has not run.
     *
     * @param encoder what bytes are written past
     * @param head writes the response's head unless it is written
     * @param chunked whether they go out as chunks
     * @param gone what is thrown to the waiting thread if the connection is closed
     */
    Pump(
            ChannelHandlerContext encoder,
            BodySource source,
            Runnable head,
            PumpQueue queue,
            boolean chunked,
            ClientGone gone) {
        this.channel = encoder.channel();
        this.socket = encoder;
        this.source = source;
        this.head = head;
        this.queue = queue;
        this.chunked = chunked;
        this.gone = gone;
    }

    /** Says that the source has something to append. Any thread, any number of times; never waits. */
    public void ready() {
        if (!queued.get() && queued.compareAndSet(false, true)) {
            queue.add(this);
        }
    }

    /** On the channel's thread: it has been taken out of the queue. */
    void dequeued() {
        // First: what becomes ready from now on queues it again.
        queued.set(false);
        run();
    }

    /** On the channel's thread: there is room again, or none any more. */
    void roomChanged() {
        if (!ended && channel.isWritable()) {
            ready();
        }
    }

    /** On the channel's thread: it is closed. */
    void connectionClosed() {
        end(gone);
    }

    private void run() {
        if (ended || !channel.isWritable()) {
            return;
        }
        ByteSink bytes = queue.sink();
        bytes.clear();
        boolean whole = false;
        Throwable thrown = null;
        try {
            whole = source.fill(bytes);
        } catch (RuntimeException | Error e) {
            thrown = e;
        }
        if (bytes.size() > 0) {
            write(bytes);
            source.written();
        }
        if (whole || thrown != null) {
            end(thrown);
        } else if (bytes.size() >= ByteSink.PIECE_BYTES) {
            ready();
        }
    }

    private void write(ByteSink bytes) {
        head.run();
        ByteBuf buffer = channel.alloc().ioBuffer(bytes.size() + FRAME_BYTES);
        if (chunked) {
            int digits = (Integer.SIZE - Integer.numberOfLeadingZeros(bytes.size()) + 3) / 4;
            for (int digit = digits - 1; digit >= 0; digit--) {
                buffer.writeByte(HEX[(bytes.size() >> (4 * digit)) & 0xf]);
            }
            buffer.writeShort(CRLF);
        }
        bytes.copyTo(buffer);
        if (chunked) {
            buffer.writeShort(CRLF);
        }
        socket.writeAndFlush(buffer, channel.voidPromise());
    }

    private void end(@Nullable Throwable why) {
        if (!ended) {
            ended = true;
            failure = why;
            over.countDown();
        }
    }

    /**
     * Waits until the source has appended all, and the socket has been given it.
     *
     * @throws ClientGone if the client has left or takes nothing
     * @throws RuntimeException what the source has thrown
     */
    public void await() {
        try {
            over.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            channel.close();
            throw new ClientGone("interrupted while writing to the client");
        }
        switch (failure) {
            case null -> {}
            case RuntimeException unchecked -> throw unchecked;
            case Error error -> throw error;
            case Throwable other -> throw new IllegalStateException("a source throws nothing checked", other);
        }
    }
}
