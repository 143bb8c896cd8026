package io.roseinfer.server.http;

import io.roseinfer.base.Clock;
import io.roseinfer.server.http.Response.ClientGone;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;

/**
 * Measures a client that requests an endless stream and reads nothing: the time until it is disconnected, and the bytes
 * buffered for it.
 */
final class StalledReader {
    private static final Clock CLOCK = Clock.system();
    private static final int CLIENTS = 5;

    private StalledReader() {}

    /** An endless source. */
    private static final class Endless implements BodySource {
        private long appended;
        private long lastNanos;

        @Override
        public boolean fill(ByteSink bytes) {
            bytes.put(new byte[ByteSink.CHUNK_BYTES]);
            appended += ByteSink.CHUNK_BYTES;
            lastNanos = CLOCK.nanos();
            return false;
        }

        @Override
        public void written() {}
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < CLIENTS; i++) {
            Endless source = new Endless();
            CountDownLatch cut = new CountDownLatch(1);
            HttpHandler handler = new HttpHandler() {
                @Override
                public Optional<Supplier<CompletionStage<Reply>>> atHead(HttpCall head) {
                    return Optional.empty();
                }

                @Override
                public Reply refusal(HttpCall head, int status, String message) {
                    return new Reply(status, Map.of(), new byte[0]);
                }

                @Override
                public void handle(HttpCall call, Response response) {
                    response.begin(200, Map.of());
                    Pump pump = response.pump(source);
                    pump.ready();
                    try {
                        pump.await();
                    } catch (ClientGone gone) {
                        cut.countDown();
                    }
                }
            };
            try (HttpServer server = HttpServer.start("127.0.0.1", 0, HttpLimits.defaults(), CLOCK, handler);
                    RawClient client = new RawClient(server.address(), 4096)) {
                client.send(RawClient.get("/"));
                cut.await();
                long cutNanos = CLOCK.nanos();
                // What the system had accepted from the server by then can be read.
                long taken = client.rest().length();
                System.out.printf(
                        Locale.ROOT,
                        "disconnected %.2f s after the last byte was produced; %d KiB produced, %d KiB of it in the system%n",
                        (cutNanos - source.lastNanos) / 1e9,
                        source.appended >> 10,
                        taken >> 10);
            }
        }
    }
}
