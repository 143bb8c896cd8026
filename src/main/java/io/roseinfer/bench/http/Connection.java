package io.roseinfer.bench.http;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One connection, which carries one call at a time. The sender's thread begins a call, the reader's ends it. */
final class Connection {
    /** A call on this connection, and who is told of its end. */
    private record Ongoing(AnswerReader reader, Call call, Consumer<Call> ended) {}

    private final SocketChannel channel;
    private volatile @Nullable SelectionKey key;
    private final AtomicReference<@Nullable Ongoing> ongoing = new AtomicReference<>();
    private volatile @Nullable ByteBuffer unwritten;
    private volatile boolean reserved;
    private volatile boolean used;

    Connection(SocketChannel channel) {
        this.channel = channel;
    }

    SocketChannel channel() {
        return channel;
    }

    /** Says that a call is about to begin, so that nobody else may use the connection. */
    void reserve() {
        reserved = true;
    }

    /** Takes the key of its reader; true if it is free to carry a call. */
    boolean registered(SelectionKey value) {
        key = value;
        if (unwritten != null) {
            int unusedOps = value.interestOpsOr(SelectionKey.OP_WRITE);
        }
        return !reserved;
    }

    /** Returns whether it has carried a call to its end. */
    boolean isUsed() {
        return used;
    }

    boolean isOpen() {
        return channel.isOpen();
    }

    /** Writes a request; what the socket does not take at once is written by the reader's thread. */
    void send(ByteBuffer request, Call call, Consumer<Call> ended) throws IOException {
        ongoing.set(new Ongoing(new AnswerReader(call), call, ended));
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

    /** Writes on, by the reader's thread. */
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

    /** Takes bytes that were read at {@code nanos}. Bytes that nobody has asked for make the connection unfit. */
    void received(byte[] bytes, int count, long nanos, Consumer<Connection> fit) {
        Ongoing now = ongoing.get();
        if (now == null) {
            close();
            return;
        }
        now.reader().feed(bytes, 0, count, nanos);
        if (now.reader().hasEnded() && ongoing.compareAndSet(now, null)) {
            used = true;
            if (now.reader().isReusable()) {
                fit.accept(this);
            } else {
                close();
            }
            now.ended().accept(now.call());
        }
    }

    /** The other side has closed, or reading has failed. */
    void ended(long nanos) {
        close();
        Ongoing last = ongoing.getAndSet(null);
        if (last != null) {
            last.reader().endOfInput(nanos);
            last.ended().accept(last.call());
        }
    }

    /** Gives its call up, if it has one. */
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
            // There is nothing left to close.
        }
    }
}
