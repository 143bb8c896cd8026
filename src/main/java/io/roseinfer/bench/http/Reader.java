package io.roseinfer.bench.http;

import io.roseinfer.base.Clock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.Deque;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** A thread that reads many connections and timestamps data before parsing it. */
final class Reader implements AutoCloseable {
    /** Size of a socket buffer, so that one read suffices for a burst. */
    private static final int BUFFER_BYTES = 256 << 10;

    private final Selector selector;
    private final Clock clock;
    private final Runnable joined;
    private final Deque<Connection> idle = new ConcurrentLinkedDeque<>();
    private final AtomicInteger calls = new AtomicInteger();
    private final Queue<Connection> joining = new ConcurrentLinkedQueue<>();
    private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
    private volatile long lastNanos;
    private volatile boolean open = true;
    private volatile String abort = "";
    private volatile Optional<Throwable> failure = Optional.empty();

    /**
     * Starts the thread.
     *
     * @param joined called after a connection was added that is not reserved
     */
    Reader(int number, Clock clock, Runnable joined) {
        this.clock = clock;
        this.joined = joined;
        this.lastNanos = clock.nanos();
        try {
            selector = Selector.open();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread unused = Thread.ofPlatform()
                .daemon()
                .name("roseinfer-bench-reader-" + number)
                .start(this::run);
    }

    /** Returns the time of the last read. */
    long lastNanos() {
        return lastNanos;
    }

    /** Returns the failure that ended the thread; empty while it runs. */
    Optional<Throwable> failure() {
        return failure;
    }

    /** Adds a connection. */
    void add(Connection connection) {
        joining.add(connection);
        selector.wakeup();
    }

    /** Adds an idle connection. */
    void addIdle(Connection connection) {
        idle.push(connection);
    }

    /** Takes an idle connection. The last one used is reused first: its buffers are warm. */
    Optional<Connection> pollIdle() {
        Connection next = idle.poll();
        while (next != null && !next.isOpen()) {
            next = idle.poll();
        }
        return Optional.ofNullable(next);
    }

    /** Returns the number of idle connections. */
    int idle() {
        idle.removeIf(connection -> !connection.isOpen());
        return idle.size();
    }

    /** Returns the number of calls on its connections. */
    int calls() {
        return calls.get();
    }

    void callBegins() {
        calls.incrementAndGet();
    }

    void callEnds() {
        calls.decrementAndGet();
    }

    /** Fails all calls with a reason. */
    void abort(String why) {
        abort = why;
        selector.wakeup();
    }

    @Override
    public void close() {
        open = false;
        selector.wakeup();
    }

    private void run() {
        try (selector) {
            while (open) {
                int unused = selector.select(this::ready);
                join();
                if (!abort.isEmpty()) {
                    each(connection -> connection.abort(abort, clock.nanos()));
                    abort = "";
                }
            }
            each(Connection::close);
        } catch (IOException | RuntimeException | Error e) {
            failure = Optional.of(e);
        }
    }

    private void each(Consumer<Connection> action) {
        selector.keys().forEach(key -> action.accept((Connection) key.attachment()));
    }

    private void join() throws IOException {
        for (Connection next = joining.poll(); next != null; next = joining.poll()) {
            if (next.isOpen()) {
                if (next.registered(next.channel().register(selector, SelectionKey.OP_READ, next))) {
                    addIdle(next);
                    joined.run();
                }
            }
        }
    }

    private void ready(SelectionKey key) {
        Connection connection = (Connection) key.attachment();
        try {
            if (key.isWritable()) {
                connection.writable();
            }
            if (key.isReadable()) {
                read(connection);
            }
        } catch (IOException | CancelledKeyException e) {
            connection.ended(clock.nanos());
        }
    }

    private void read(Connection connection) throws IOException {
        buffer.clear();
        int count = connection.channel().read(buffer);
        long nanos = clock.nanos();
        lastNanos = nanos;
        if (count < 0) {
            connection.ended(nanos);
        } else if (count > 0) {
            connection.received(buffer.array(), count, nanos);
        }
    }
}
