package io.roseinfer.server;

import io.roseinfer.base.Clock;
import io.roseinfer.engine.Engine;
import io.roseinfer.grammar.Grammar;
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
 * Sends requests to a local server, so that the code between socket and engine is loaded and compiled before the first
 * client connects. Otherwise the first client would wait a quarter of a second longer for its first token, and many
 * concurrent clients even longer.
 */
public final class ServerWarmUp {
    private static final int MAX_CALLS = 60;
    private static final int CLIENTS = 16;
    private static final int MIN_TOKENS = 4;
    private static final int MAX_TOKENS = 64;

    /** A schema with values of every type, patterns, limits and combined schemas. */
    private static final String SCHEMA = """
            {"type":"object","required":["a"],"properties":{
            "a":{"enum":["x","yz",1,2.5,null,true,[1],{"k":1}]},
            "b":{"type":"string","pattern":"^[ab]*a[ab]{3}$","minLength":2},
            "c":{"type":"number","minimum":-1.5,"multipleOf":0.5},
            "d":{"type":"array","items":{"$ref":"#/$defs/d"}},
            "e":{"oneOf":[{"properties":{"p":{"const":1}},"required":["p"]},
            {"properties":{"p":{"const":2}},"required":["p"]}]},
            "f":{"not":{"required":["x"]}},
            "g":{"allOf":[{"anyOf":[{"required":["x"]},{"required":["y"]}]},{"pattern":"a"},{"pattern":"b"}]}},
            "patternProperties":{"^x":{"type":"string"},"y$":{"minLength":1}},"$defs":{"d":{"type":"object"}}}
            """;

    /** A typical request; {@code fields} are the fields of its body before the common ones. */
    record SampleCall(String path, String headers, String fields) {
        /** Returns the bytes of the request with this maximum number of tokens. */
        byte[] request(int tokens) {
            String body = "{" + fields + ",\"max_tokens\":" + tokens + ",\"ignore_eos\":true}";
            return ("POST " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + headers
                            + "Content-Length: " + body.length() + "\r\n\r\n" + body)
                    .getBytes(StandardCharsets.US_ASCII);
        }
    }

    private ServerWarmUp() {}

    /**
     * Reads a schema, starts a server, and serves some completions, one by one and then concurrently: at least one, for at
     * most the given time plus a call or two.
     *
     * @param engine an engine that is closed afterwards, so that these requests are not counted
     */
    public static void run(Engine engine, ServedModel model, long limitNanos, Clock clock, InstantSource time) {
        if (engine.tokenizer().isPresent()) {
            // Read but not compiled, which would build a tree of the whole vocabulary.
            Grammar unused = Grammar.jsonSchema(SCHEMA);
        }
        ServerOptions options = ServerOptions.of(model.name(), "").withModel(model);
        ServerMetrics metrics = new ServerMetrics(model.name());
        List<SampleCall> sampleCalls = sampleCalls(engine, model);
        try (Server server = Server.start(engine, options, metrics, AccessLog.off(), clock, time)) {
            // Starting a server in a cold process may take longer than the limit.
            long end = clock.nanos() + limitNanos;
            long callNanos = 0;
            for (int call = 0; call < MAX_CALLS && (call == 0 || clock.nanos() < end - limitNanos / 2); call++) {
                long start = clock.nanos();
                complete(
                        server.address(),
                        sampleCalls.get(call % sampleCalls.size()).request(MIN_TOKENS));
                callNanos = clock.nanos() - start;
            }
            together(server.address(), sampleCalls, end - callNanos, clock);
        } catch (IOException e) {
            // The first client is still served, a little later.
        }
    }

    /** Returns typical requests for a model: token ids with and without all options, and text and chat if supported. */
    static List<SampleCall> sampleCalls(Engine engine, ServedModel model) {
        String completions = "/v1/completions";
        String ids = "\"prompt\":[0,0,0,0]";
        String counted = ",\"stream\":true,\"stream_options\":{\"include_usage\":true}";
        List<SampleCall> sampleCalls = new ArrayList<>();
        sampleCalls.add(new SampleCall(completions, "", ids + ",\"stream\":true"));
        sampleCalls.add(new SampleCall(
                completions,
                "X-Roseinfer-Stamps: 1\r\n",
                ids + ",\"return_token_ids\":true,\"stream\":true,"
                        + "\"stream_options\":{\"include_usage\":true,\"continuous_usage_stats\":true}"));
        if (engine.tokenizer().isPresent()) {
            sampleCalls.add(new SampleCall(completions, "", "\"prompt\":\"Once upon a time\"" + counted));
            sampleCalls.add(new SampleCall(completions, "", "\"prompt\":\"Once upon a time\""));
        }
        if (model.chat().isPresent()) {
            String messages = "\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]";
            sampleCalls.add(new SampleCall("/v1/chat/completions", "", messages + counted));
            sampleCalls.add(new SampleCall("/v1/chat/completions", "", messages));
        }
        return sampleCalls;
    }

    /** Runs concurrent calls of increasing length, while the next round is likely to end in time. */
    private static void together(InetSocketAddress address, List<SampleCall> sampleCalls, long end, Clock clock) {
        int tokens = MIN_TOKENS;
        long start = clock.nanos();
        long tookNanos = 0;
        while (start + 2 * tookNanos < end) {
            try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
                for (int client = 0; client < CLIENTS; client++) {
                    byte[] request =
                            sampleCalls.get(client % sampleCalls.size()).request(tokens);
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
            InputStream response = socket.getInputStream();
            long unused = response.transferTo(OutputStream.nullOutputStream());
        }
    }
}
