package io.roseinfer.bench.http;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A connection for one call at a time. The sending thread starts a call, the reader's thread ends it. */
final class Connection {
    /** The current call, and the callback for its end. */
    private record Ongoing(ResponseReader reader, Call call, Consumer<Call> ended) {}

    private final SocketChannel channel;
    private final Reader reader;
    private volatile @Nullable SelectionKey key;
    private final AtomicReference<@Nullable Ongoing> ongoing = new AtomicReference<>();
    private volatile @Nullable ByteBuffer unwritten;
    private volatile boolean reserved;
    private volatile boolean used;

    /**
     * Creates a connection without a call.
     *
     * @param reader reads it, once it is added there
     */
    Connection(SocketChannel channel, Reader reader) {
        this.channel = channel;
        this.reader = reader;
    }

    Reader reader() {
        return reader;
    }

    SocketChannel channel() {
        return channel;
    }

    /** Reserves the connection for a call. */
    void reserve() {
        reserved = true;
    }

    /** Sets the key of the reader; returns whether the connection is not reserved. */
    boolean registered(SelectionKey value) {
        key = value;
        if (unwritten != null) {
            int unusedOps = value.interestOpsOr(SelectionKey.OP_WRITE);
        }
        return !reserved;
    }

    /** Returns whether a call has ended on this connection. */
    boolean isUsed() {
        return used;
    }

    boolean isOpen() {
        return channel.isOpen();
    }

    /** Writes a request; the reader's thread writes what the socket does not accept immediately. */
    void send(ByteBuffer request, Call call, Consumer<Call> ended) throws IOException {
        ongoing.set(new Ongoing(new ResponseReader(call), call, ended));
        int unused = channel.write(request);
        if (request.hasRemaining()) {
            unwritten = request;
            SelectionKey registration = key;
            if (registration != null) {
                int unusedOps = registration.interestOpsOr(SelectionKey.OP_WRITE);
                Selector unusedSelector = registration.selector().wakeup();
            }
        }
    }

    /** Continues writing on the reader's thread. */
    void writable() throws IOException {
        ByteBuffer rest = unwritten;
        SelectionKey registration = key;
        if (rest != null) {
            int unused = channel.write(rest);
        }
        if (registration != null && (rest == null || !rest.hasRemaining())) {
            unwritten = null;
            int unusedOps = registration.interestOpsAnd(SelectionKey.OP_READ);
        }
    }

    /** Handles bytes that were read at {@code nanos}. Bytes without a call close the connection. */
    void received(byte[] bytes, int count, long nanos) {
        Ongoing now = ongoing.get();
        if (now == null) {
            close();
            return;
        }
        now.reader().feed(bytes, 0, count, nanos);
        if (now.reader().hasEnded() && ongoing.compareAndSet(now, null)) {
            used = true;
            if (now.reader().isReusable()) {
                reader.addIdle(this);
            } else {
                close();
            }
            now.ended().accept(now.call());
        }
    }

    /** Handles the end of the connection. */
    void ended(long nanos) {
        close();
        Ongoing last = ongoing.getAndSet(null);
        if (last != null) {
            last.reader().endOfInput(nanos);
            last.ended().accept(last.call());
        }
    }

    /** Closes the connection and fails its call, if any. */
    void abort(String why, long nanos) {
        close();
        Ongoing last = ongoing.getAndSet(null);
        if (last != null) {
            last.reader().broken(why, nanos);
            last.ended().accept(last.call());
        }
    }

    void close() {
        try {
            channel.close();
        } catch (IOException alreadyGone) {
            // Already closed.
        }
    }
}
