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

/**
 * Calls to a server of our own, so that what lies between a socket and the engine is loaded and compiled before the first client
 * comes: without it that client waits for its first token a quarter of a second longer.
 */
public final class ServerWarmUp {
    private static final int MOST_CALLS = 60;
    private static final String BODY = "{\"prompt\":[0],\"max_tokens\":4,\"ignore_eos\":true,\"stream\":true}";

    private ServerWarmUp() {}

    /**
     * Serves some completions, for at most as long as is said and one call.
     *
     * @param engine one that is closed afterwards, so that nothing of this is counted
     */
    public static void run(Engine engine, long limitNanos, Clock clock, InstantSource time) {
        ServerOptions options = ServerOptions.of("warm-up", "");
        ServerMetrics metrics = new ServerMetrics("warm-up");
        long end = clock.nanos() + limitNanos;
        try (Server server = Server.start(engine, options, metrics, AccessLog.off(), clock, time)) {
            for (int call = 0; call < MOST_CALLS && clock.nanos() < end; call++) {
                complete(server.address());
            }
        } catch (IOException e) {
            // The first client is served all the same, a little later.
        }
    }

    private static void complete(InetSocketAddress address) throws IOException {
        String request = "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: "
                + BODY.length() + "\r\n\r\n" + BODY;
        try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            InputStream answer = socket.getInputStream();
            long unused = answer.transferTo(OutputStream.nullOutputStream());
        }
    }
}
