package io.roseinfer.server;

import io.roseinfer.base.Clock;
import io.roseinfer.engine.Engine;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Calls to a server of our own, so that what lies between a socket and the engine is loaded and compiled before the first client
 * comes: without it that client waits for its first token a quarter of a second longer, and the first events of many clients at
 * once are made by code that is still being compiled.
 */
public final class ServerWarmUp {
    private static final int MOST_CALLS = 60;
    private static final int CLIENTS = 16;
    private static final int FEWEST_TOKENS = 4;
    private static final int MOST_TOKENS = 64;

    private ServerWarmUp() {}

    /**
     * Serves some completions, one by one and then many at a time, for at most as long as is said and a call or two.
     *
     * @param engine one that is closed afterwards, so that nothing of this is counted
     */
    public static void run(Engine engine, long limitNanos, Clock clock, InstantSource time) {
        ServerOptions options = ServerOptions.of("warm-up", "");
        ServerMetrics metrics = new ServerMetrics("warm-up");
        long end = clock.nanos() + limitNanos;
        try (Server server = Server.start(engine, options, metrics, AccessLog.off(), clock, time)) {
            long callNanos = 0;
            for (int call = 0; call < MOST_CALLS && clock.nanos() < end - limitNanos / 2; call++) {
                long start = clock.nanos();
                complete(server.address(), FEWEST_TOKENS);
                callNanos = clock.nanos() - start;
            }
            together(server.address(), end - callNanos, clock);
        } catch (IOException e) {
            // The first client is served all the same, a little later.
        }
    }

    /** Longer and longer calls by some clients at a time, as long as the next ones are likely to end in time. */
    private static void together(InetSocketAddress address, long end, Clock clock) {
        int tokens = FEWEST_TOKENS;
        long start = clock.nanos();
        long tookNanos = 0;
        while (start + 2 * tookNanos < end) {
            try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
                for (int client = 0; client < CLIENTS; client++) {
                    int asked = tokens;
                    Future<?> unused = clients.submit(() -> {
                        complete(address, asked);
                        return asked;
                    });
                }
            }
            tookNanos = clock.nanos() - start;
            start += tookNanos;
            tokens = Math.min(2 * tokens, MOST_TOKENS);
        }
    }

    private static void complete(InetSocketAddress address, int tokens) throws IOException {
        String body = "{\"prompt\":[0],\"max_tokens\":" + tokens + ",\"ignore_eos\":true,\"stream\":true}";
        String request = "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: "
                + body.length() + "\r\n\r\n" + body;
        try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            InputStream answer = socket.getInputStream();
            long unused = answer.transferTo(OutputStream.nullOutputStream());
        }
    }
}
