package io.roseinfer.server.http;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.roseinfer.server.http.Response.ClientGone;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Moves a response's bytes from their source to the client, on the connection's thread. It polls the source only while
 * the channel has room, so that unsent bytes are bounded. It writes chunks itself, bypassing the encoder.
 */
@SuppressWarnings(
        "FutureReturnValueIgnored") // a failed write or close ends the connection, and its handler is notified of that
public final class Pump {
    private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
    private static final int CRLF = ('\r' << 8) | '\n';

    /** Overhead of a chunk: at most eight digits and two line ends. */
    private static final int FRAME_BYTES = 12;

    private final Channel channel;
    private final ChannelHandlerContext socket;
    private final BodySource source;
    private final Runnable head;
    private final PumpQueue queue;
    private final boolean chunked;
    private final Supplier<ClientGone> gone;
    private final AtomicBoolean queued = new AtomicBoolean();
    private final CountDownLatch over = new CountDownLatch(1);
    private boolean ended;
    private volatile @Nullable Throwable failure;

    /** The pump queued before this one, or the next to run. */
    @Nullable
    Pump queuedBefore;

    /**
     * Creates a pump that has not run.
     *
     * @param encoder the encoder that is bypassed
     * @param head writes the response's head unless it is written
     * @param chunked whether the bytes are sent as chunks
     * @param gone returns what is thrown to the waiting thread if the connection is closed
     */
    Pump(
            ChannelHandlerContext encoder,
            BodySource source,
            Runnable head,
            PumpQueue queue,
            boolean chunked,
            Supplier<ClientGone> gone) {
        this.channel = encoder.channel();
        this.socket = encoder;
        this.source = source;
        this.head = head;
        this.queue = queue;
        this.chunked = chunked;
        this.gone = gone;
    }

    /** Signals that the source has bytes to append. May be called by any thread, any number of times; never waits. */
    public void ready() {
        if (!queued.get() && queued.compareAndSet(false, true)) {
            queue.add(this);
        }
    }

    /** Runs after the pump was dequeued, on the channel's thread. */
    void dequeued() {
        // Before polling the source, so that later bytes queue the pump again.
        queued.set(false);
        run();
    }

    /** Notifies the pump, on the channel's thread, that the channel's writability has changed. */
    void roomChanged() {
        if (!ended && channel.isWritable()) {
            ready();
        }
    }

    /** Notifies the pump, on the channel's thread, that the channel is closed. */
    void connectionClosed() {
        end(gone.get());
    }

    private void run() {
        if (ended || !channel.isWritable()) {
            return;
        }
        ByteSink bytes = queue.sink();
        bytes.clear();
        boolean complete = false;
        Throwable thrown = null;
        try {
            complete = source.fill(bytes);
        } catch (RuntimeException | Error e) {
            thrown = e;
        }
        if (bytes.size() > 0) {
            write(bytes);
            source.written();
        }
        if (complete || thrown != null) {
            end(thrown);
        } else if (bytes.size() >= ByteSink.CHUNK_BYTES) {
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
     * Waits until the source has appended everything, and the socket was given it.
     *
     * @throws ClientGone if the client has disconnected or stalled
     * @throws RuntimeException if the source has thrown it
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
            case Throwable other -> throw new IllegalStateException("a source throws no checked exceptions", other);
        }
    }
}
