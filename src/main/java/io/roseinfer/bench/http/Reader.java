package io.roseinfer.bench.http;

import io.roseinfer.base.Clock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;

/** A thread that reads many connections, and stamps what it has read before it looks at it. */
final class Reader implements AutoCloseable {
    /** As much as a socket buffers, so that a burst is one read. */
    private static final int BUFFER_BYTES = 256 << 10;

    private final Selector selector;
    private final Clock clock;
    private final Consumer<Connection> fit;
    private final Queue<Connection> joining = new ConcurrentLinkedQueue<>();
    private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
    private volatile long lastNanos;
    private volatile boolean open = true;
    private volatile String abort = "";
    private volatile Optional<Throwable> failure = Optional.empty();

    /**
     * Starts the thread.
     *
     * @param fit takes connections whose call is over and that can carry another
     */
    Reader(int number, Clock clock, Consumer<Connection> fit) {
        this.clock = clock;
        this.fit = fit;
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

    /** When it last read something. */
    long lastNanos() {
        return lastNanos;
    }

    /** Returns why the thread has ended before it was closed; empty while it reads. */
    Optional<Throwable> failure() {
        return failure;
    }

    /** Reads another connection from now on. */
    void add(Connection connection) {
        joining.add(connection);
        selector.wakeup();
    }

    /** Ends all its calls with this reason. */
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
                    fit.accept(next);
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
            connection.received(buffer.array(), count, nanos, fit);
        }
    }
}
