package io.roseinfer.server;

import io.roseinfer.base.Clock;
import io.roseinfer.engine.Engine;
import io.roseinfer.server.api.ServedModel;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Calls to a server of our own, so that what lies between a socket and the engine is loaded and compiled before the first client
 * comes: without it that client waits for its first token a quarter of a second longer, and the first events of many clients at
 * once are made by code that is still being compiled.
 */
public final class ServerWarmUp {
    private static final int MAX_CALLS = 60;
    private static final int CLIENTS = 16;
    private static final int MIN_TOKENS = 4;
    private static final int MAX_TOKENS = 64;

    /** Something clients ask for; {@code fields} are those of the body before the ones that all have. */
    record Ask(String path, String headers, String fields) {
        /** The request for that many tokens, as bytes of a connection of its own. */
        byte[] request(int tokens) {
            String body = "{" + fields + ",\"max_tokens\":" + tokens + ",\"ignore_eos\":true}";
            return ("POST " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + headers
                            + "Content-Length: " + body.length() + "\r\n\r\n" + body)
                    .getBytes(StandardCharsets.US_ASCII);
        }
    }

    private ServerWarmUp() {}

    /**
     * Serves some completions, one by one and then many at a time, for at most as long as is said and a call or two.
     *
     * @param engine one that is closed afterwards, so that nothing of this is counted
     */
    public static void run(Engine engine, ServedModel model, long limitNanos, Clock clock, InstantSource time) {
        ServerOptions options = ServerOptions.of(model.name(), "").withModel(model);
        ServerMetrics metrics = new ServerMetrics(model.name());
        List<Ask> asks = asks(engine, model);
        long end = clock.nanos() + limitNanos;
        try (Server server = Server.start(engine, options, metrics, AccessLog.off(), clock, time)) {
            long callNanos = 0;
            for (int call = 0; call < MAX_CALLS && clock.nanos() < end - limitNanos / 2; call++) {
                long start = clock.nanos();
                complete(server.address(), asks.get(call % asks.size()).request(MIN_TOKENS));
                callNanos = clock.nanos() - start;
            }
            together(server.address(), asks, end - callNanos, clock);
        } catch (IOException e) {
            // The first client is served all the same, a little later.
        }
    }

    /** What clients ask a model of this kind for: ids with and without all that can be told of tokens, text and a chat if it has them. */
    static List<Ask> asks(Engine engine, ServedModel model) {
        String completions = "/v1/completions";
        String ids = "\"prompt\":[0,0,0,0]";
        String counted = ",\"stream\":true,\"stream_options\":{\"include_usage\":true}";
        List<Ask> asks = new ArrayList<>();
        asks.add(new Ask(completions, "", ids + ",\"stream\":true"));
        asks.add(new Ask(
                completions,
                "X-Roseinfer-Stamps: 1\r\n",
                ids + ",\"return_token_ids\":true,\"stream\":true,"
                        + "\"stream_options\":{\"include_usage\":true,\"continuous_usage_stats\":true}"));
        if (engine.tokenizer().isPresent()) {
            asks.add(new Ask(completions, "", "\"prompt\":\"Once upon a time\"" + counted));
            asks.add(new Ask(completions, "", "\"prompt\":\"Once upon a time\""));
        }
        if (model.chat().isPresent()) {
            String messages = "\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]";
            asks.add(new Ask("/v1/chat/completions", "", messages + counted));
            asks.add(new Ask("/v1/chat/completions", "", messages));
        }
        return asks;
    }

    /** Longer and longer calls by some clients at a time, as long as the next ones are likely to end in time. */
    private static void together(InetSocketAddress address, List<Ask> asks, long end, Clock clock) {
        int tokens = MIN_TOKENS;
        long start = clock.nanos();
        long tookNanos = 0;
        while (start + 2 * tookNanos < end) {
            try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
                for (int client = 0; client < CLIENTS; client++) {
                    byte[] request = asks.get(client % asks.size()).request(tokens);
                    Future<?> unused = clients.submit(() -> {
                        complete(address, request);
                        return request;
                    });
                }
            }
            tookNanos = clock.nanos() - start;
            start += tookNanos;
            tokens = Math.min(2 * tokens, MAX_TOKENS);
        }
    }

    private static void complete(InetSocketAddress address, byte... request) throws IOException {
        try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
            socket.getOutputStream().write(request);
            InputStream answer = socket.getInputStream();
            long unused = answer.transferTo(OutputStream.nullOutputStream());
        }
    }
}
