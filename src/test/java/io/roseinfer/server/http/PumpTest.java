package io.roseinfer.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.roseinfer.base.Clock;
import io.roseinfer.server.http.RawClient.Answer;
import io.roseinfer.server.http.Response.ClientGone;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PumpTest {
    private static final HttpLimits SHORT = HttpLimits.defaults().withWriteStall(Duration.ofMillis(100));

    private final BlockingQueue<BodySource> sources = new ArrayBlockingQueue<>(1);
    private final CompletableFuture<Pump> made = new CompletableFuture<>();
    private final CompletableFuture<RuntimeException> thrown = new CompletableFuture<>();
    private HttpServer server = start(HttpLimits.defaults());

    private HttpServer start(HttpLimits limits) {
        return start(limits, this::pump);
    }

    private void pump(HttpCall call, Response response) {
        response.begin(200, Map.of());
        Pump pump = response.pump(sources.remove());
        made.complete(pump);
        pump.ready();
        try {
            pump.await();
            response.end();
        } catch (RuntimeException e) {
            thrown.complete(e);
            response.abort();
        }
    }

    private static HttpServer start(HttpLimits limits, BiConsumer<HttpCall, Response> answer) {
        return HttpServer.start("127.0.0.1", 0, limits, Clock.system(), new HttpHandler() {
            @Override
            public void handle(HttpCall call, Response response) {
                answer.accept(call, response);
            }

            @Override
            public Optional<Supplier<CompletionStage<Reply>>> atHead(HttpCall head) {
                return Optional.empty();
            }

            @Override
            public Reply refusal(HttpCall head, int status, String message) {
                return new Reply(status, Map.of(), message.getBytes(StandardCharsets.UTF_8));
            }
        });
    }

    @AfterEach
    void close() {
        server.close();
    }

    /** A source of consecutive chunks, which is ready for the next one after each poll. */
    private final class Pieces implements BodySource {
        private final ArrayDeque<byte[]> left = new ArrayDeque<>();
        private final AtomicInteger written = new AtomicInteger();

        @Override
        public boolean fill(ByteSink bytes) {
            bytes.put(left.remove());
            made.join().ready();
            return left.isEmpty();
        }

        @Override
        public void written() {
            written.incrementAndGet();
        }
    }

    private Answer answer(String request) throws IOException {
        try (RawClient client = new RawClient(server.address())) {
            return client.call(request);
        }
    }

    private String fill(Pieces pieces) {
        Random random = new Random(3);
        StringBuilder all = new StringBuilder();
        for (int size : new int[] {1, 9, 10, 15, 16, 17, 255, 256, 4095, 4096, 65_535, 65_536, 200_000, 3}) {
            String piece = Integer.toString(random.nextInt(10)).repeat(size);
            all.append(piece);
            pieces.left.add(piece.getBytes(StandardCharsets.US_ASCII));
        }
        sources.add(pieces);
        return all.toString();
    }

    @Test
    void chunks_of_any_size_arrive_in_order() throws IOException {
        Pieces pieces = new Pieces();
        int count = 14;
        String all = fill(pieces);
        assertThat(answer(RawClient.get("/")).body()).isEqualTo(all);
        assertThat(pieces.written.get()).isEqualTo(count);
    }

    @Test
    void client_without_chunked_encoding_gets_plain_bytes() throws IOException {
        Pieces pieces = new Pieces();
        String all = fill(pieces);
        assertThat(answer("GET / HTTP/1.0\r\n\r\n").body()).isEqualTo(all);
    }

    @Test
    void exception_of_a_source_is_thrown_to_the_waiting_thread_after_its_bytes() throws Exception {
        sources.add(new BodySource() {
            @Override
            public boolean fill(ByteSink bytes) {
                bytes.put("before".getBytes(StandardCharsets.US_ASCII));
                throw new IllegalArgumentException("spoilt");
            }

            @Override
            public void written() {}
        });
        try (RawClient client = new RawClient(server.address())) {
            client.send(RawClient.get("/"));
            assertThat(client.rest()).endsWith("6\r\nbefore\r\n");
        }
        assertThat(thrown.get()).hasMessage("spoilt");
    }

    /** An endless source. */
    private static final class Endless implements BodySource {
        private final AtomicLong appended = new AtomicLong();

        @Override
        public boolean fill(ByteSink bytes) {
            bytes.put(new byte[ByteSink.CHUNK_BYTES]);
            appended.addAndGet(ByteSink.CHUNK_BYTES);
            return false;
        }

        @Override
        public void written() {}
    }

    @Test
    void stalled_client_is_disconnected_and_little_is_produced_for_it() throws Exception {
        server.close();
        server = start(SHORT);
        Endless source = new Endless();
        sources.add(source);
        try (RawClient client = new RawClient(server.address(), 4096)) {
            client.send(RawClient.get("/"));
            assertThat(thrown.get()).isInstanceOf(ClientGone.class).hasMessageContaining("read nothing for 0.1 s");
            // The unsent bytes here, those in the two sockets, and a chunk.
            assertThat(source.appended.get()).isLessThan(1 << 20);
        }
    }

    @Test
    void disconnect_ends_the_wait() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        sources.add(new BodySource() {
            @Override
            public boolean fill(ByteSink bytes) {
                asked.countDown();
                return false;
            }

            @Override
            public void written() {}
        });
        try (RawClient client = new RawClient(server.address())) {
            client.send(RawClient.get("/"));
            asked.await();
        }
        assertThat(thrown.get()).isInstanceOf(ClientGone.class);
    }

    /** A source whose first chunk blocks the connection's thread until it is released. */
    private static final class Slow implements BodySource {
        private final CountDownLatch entered = new CountDownLatch(1);
        private final CountDownLatch free = new CountDownLatch(1);

        @Override
        public boolean fill(ByteSink bytes) {
            entered.countDown();
            awaitQuietly(free);
            bytes.put("slow".getBytes(StandardCharsets.US_ASCII));
            return true;
        }

        @Override
        public void written() {}
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * A response begins and its pump becomes ready while the connection's thread is busy and another pump is queued.
     */
    @Test
    void head_is_written_before_the_pump_s_bytes() throws Exception {
        Slow slow = new Slow();
        CompletableFuture<Pump> slowPump = new CompletableFuture<>();
        CountDownLatch arrived = new CountDownLatch(1);
        CountDownLatch begin = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        server.close();
        server = start(HttpLimits.defaults(), (call, response) -> {
            if (call.path().equals("/late")) {
                arrived.countDown();
                awaitQuietly(begin);
            }
            response.begin(200, Map.of());
            Pump pump = response.pump(call.path().equals("/late") ? Once.of("late") : slow);
            pump.ready();
            slowPump.complete(pump);
            if (call.path().equals("/late")) {
                begun.countDown();
            }
            pump.await();
            response.end();
        });
        List<RawClient> clients = new ArrayList<>();
        // The first and the last share a thread whether the server has 1, 2, 3 or 4.
        for (int i = 0; i <= 12; i++) {
            clients.add(new RawClient(server.address()));
        }
        clients.getLast().send(RawClient.get("/late"));
        arrived.await();
        clients.getFirst().send(RawClient.get("/slow"));
        slow.entered.await();
        slowPump.join().ready();
        begin.countDown();
        begun.await();
        slow.free.countDown();
        assertThat(clients.getLast().answer().body()).isEqualTo("late");
        assertThat(clients.getFirst().answer().body()).isEqualTo("slow");
        for (RawClient client : clients) {
            client.close();
        }
    }

    /** A source of one text. */
    private record Once(byte[] text) implements BodySource {
        static Once of(String text) {
            return new Once(text.getBytes(StandardCharsets.US_ASCII));
        }

        @Override
        public boolean fill(ByteSink bytes) {
            bytes.put(text);
            return true;
        }

        @Override
        public void written() {}
    }

    @Test
    void pump_that_could_not_be_scheduled_runs_with_the_next_one() {
        ArrayDeque<Runnable> tasks = new ArrayDeque<>();
        AtomicInteger refusals = new AtomicInteger(1);
        PumpQueue queue = new PumpQueue(task -> {
            if (refusals.getAndDecrement() > 0) {
                throw new RejectedExecutionException("full");
            }
            tasks.add(task);
        });
        EmbeddedChannel channel = new EmbeddedChannel(new HttpResponseEncoder());
        List<String> asked = new ArrayList<>();
        List<Pump> pumps = new ArrayList<>();
        for (String name : List.of("first", "second", "third")) {
            BodySource source = new BodySource() {
                @Override
                public boolean fill(ByteSink bytes) {
                    return asked.add(name);
                }

                @Override
                public void written() {}
            };
            pumps.add(new Pump(
                    channel.pipeline().context(HttpResponseEncoder.class),
                    source,
                    () -> {},
                    queue,
                    true,
                    () -> new ClientGone("gone")));
        }
        try {
            pumps.get(0).ready();
        } catch (RejectedExecutionException full) {
            asked.add("refused");
        }
        pumps.get(1).ready();
        pumps.get(1).ready();
        pumps.get(2).ready();
        assertThat(tasks).hasSize(1);
        tasks.remove().run();
        assertThat(asked).containsExactly("refused", "first", "second", "third");
    }
}
