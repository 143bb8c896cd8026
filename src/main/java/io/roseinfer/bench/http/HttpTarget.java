package io.roseinfer.bench.http;

import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.load.OfferedRequest;
import io.roseinfer.metrics.StepRecord;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A server over HTTP. Connections are opened in advance; each carries one request at a time. A request goes to the reader with the fewest
 * calls.
 */
public final class HttpTarget implements Target {
    /** Maximum connections opened in advance; further ones are opened on demand and counted. */
    private static final int MAX_PREOPENED = 1024;

    /** Requests scheduled within this time are assumed to be in flight concurrently. */
    private static final long WINDOW_NANOS = 2_000_000_000;

    private final Endpoint endpoint;
    private final InetSocketAddress address;
    private final Clock clock;
    private final String runId;
    private final List<Reader> readers = new ArrayList<>();
    private final AtomicInteger opened = new AtomicInteger();
    private final AtomicInteger openedLate = new AtomicInteger();
    private volatile CountDownLatch joining = new CountDownLatch(0);
    private byte[][] wire = {};
    /** The engine steps of the last run. */
    private List<StepRecord> steps = List.of();

    /**
     * Creates a target without connections.
     *
     * @param readers number of reader threads, at least one
     * @param runId prefix of every {@code X-Request-Id}
     */
    public HttpTarget(Endpoint endpoint, int readers, Clock clock, String runId) {
        this.endpoint = endpoint;
        this.address = endpoint.address();
        this.clock = clock;
        this.runId = runId;
        for (int number = 0; number < readers; number++) {
            this.readers.add(new Reader(number, clock, () -> joining.countDown()));
        }
    }

    @Override
    public void prepare(List<OfferedRequest> requests, int maxAtOnce) {
        wire = new byte[requests.size()][];
        for (int id = 0; id < wire.length; id++) {
            wire[id] = endpoint.bytes(requests.get(id), runId + "-" + id);
        }
        openedLate.set(0);
        int idle = readers.stream().mapToInt(Reader::idle).sum();
        int missing = Math.min(Math.min(maxDueWithin(requests, WINDOW_NANOS), maxAtOnce), MAX_PREOPENED) - idle;
        if (missing > 0) {
            joining = new CountDownLatch(missing);
            for (int i = 0; i < missing; i++) {
                Reader reader = readers.get(i % readers.size());
                reader.add(open(reader));
            }
            await(joining);
        }
    }

    @Override
    public void prepare(Call call) {
        wire[call.id] = endpoint.bytes(call.request, runId + "-" + call.id);
    }

    /** Returns the maximum number of requests scheduled within any interval of a length. */
    static int maxDueWithin(List<OfferedRequest> requests, long nanos) {
        int most = 0;
        int first = 0;
        for (int last = 0; last < requests.size(); last++) {
            while (requests.get(last).dueNanos() - requests.get(first).dueNanos() > nanos) {
                first++;
            }
            most = Math.max(most, last - first + 1);
        }
        return most;
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Connection open(Reader reader) {
        if (address.isUnresolved()) {
            throw new BadInput("--base-url: unknown host " + address.getHostString());
        }
        try {
            SocketChannel channel = SocketChannel.open(address);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            channel.configureBlocking(false);
            opened.getAndIncrement();
            return new Connection(channel, reader);
        } catch (IOException e) {
            if (String.valueOf(e.getMessage()).contains("Too many open files")) {
                throw new BadInput(
                        "connection " + (opened.get() + 1) + " cannot be opened: too many open files; raise the limit"
                                + " (ulimit -n), or limit the connections by --max-concurrency",
                        e);
            }
            throw new BadInput(
                    "cannot connect to " + address.getHostString() + ":" + address.getPort() + ": " + e.getMessage()
                            + "; start the server, or check --base-url",
                    e);
        }
    }

    @Override
    public void send(Call call, Consumer<Call> ended) {
        Connection connection = take();
        call.sentNanos = clock.nanos();
        if (connection == null) {
            call.fail("no connection could be opened");
            call.endNanos = call.sentNanos;
            ended.accept(call);
            return;
        }
        send(connection, call, connection.isUsed() ? resending(ended) : ended);
    }

    private void send(Connection connection, Call call, Consumer<Call> ended) {
        Reader reader = connection.reader();
        reader.callBegins();
        try {
            connection.send(ByteBuffer.wrap(wire[call.id]), call, over -> {
                reader.callEnds();
                ended.accept(over);
            });
        } catch (IOException e) {
            call.unanswered = true;
            connection.abort("the request could not be written: " + e.getMessage(), clock.nanos());
        }
    }

    /** Resends a request once if the server closed the idle connection just as it was used. */
    private Consumer<Call> resending(Consumer<Call> ended) {
        return call -> {
            if (!call.unanswered) {
                ended.accept(call);
                return;
            }
            call.error = "";
            call.resent = true;
            try {
                send(openReserved(), call, ended);
            } catch (BadInput refused) {
                call.fail("the server closed the connection, and " + refused.getMessage());
                ended.accept(call);
            }
        };
    }

    /** Converts the server's timestamps and requests its steps, if it sent timestamps. */
    @Override
    public void join(List<Call> calls) {
        List<Call> stamped =
                calls.stream().filter(call -> call.rawStamps.isPresent()).toList();
        steps = List.of();
        if (!stamped.isEmpty()) {
            String boot =
                    stamped.getFirst().rawStamps.orElseThrow().path("boot_id").asString("");
            ServerClock theirs = ServerClock.of(boot, endpoint, clock);
            stamped.forEach(call -> call.server = call.rawStamps.flatMap(theirs::stamps));
            steps = stamped.stream()
                    .map(call -> ServerClock.engine(call.rawStamps.orElseThrow()))
                    .distinct()
                    .flatMap(engine -> theirs.steps(endpoint, engine, boot).stream())
                    .toList();
        }
    }

    @Override
    public List<StepRecord> steps() {
        return steps;
    }

    /** Takes a connection of the reader with the fewest calls; opens one if none is idle. */
    private @Nullable Connection take() {
        Optional<Connection> idle = readers.stream()
                .sorted(Comparator.comparingInt(Reader::calls))
                .flatMap(reader -> reader.pollIdle().stream())
                .findFirst();
        if (idle.isPresent()) {
            return idle.get();
        }
        openedLate.incrementAndGet();
        try {
            return openReserved();
        } catch (BadInput refused) {
            return null;
        }
    }

    private Connection openReserved() {
        Reader reader =
                readers.stream().min(Comparator.comparingInt(Reader::calls)).orElseThrow();
        Connection connection = open(reader);
        connection.reserve();
        reader.add(connection);
        return connection;
    }

    @Override
    public long lastArrivalNanos() {
        return readers.stream().mapToLong(Reader::lastNanos).max().orElseThrow();
    }

    @Override
    public Optional<Throwable> failure() {
        return readers.stream().flatMap(reader -> reader.failure().stream()).findFirst();
    }

    @Override
    public void abort(String why) {
        readers.forEach(reader -> reader.abort(why));
    }

    @Override
    public int openedLate() {
        return openedLate.get();
    }

    /** Returns the number of calls of each reader. */
    List<Integer> callsByReader() {
        return readers.stream().map(Reader::calls).toList();
    }

    @Override
    public void close() {
        readers.forEach(Reader::close);
    }
}
