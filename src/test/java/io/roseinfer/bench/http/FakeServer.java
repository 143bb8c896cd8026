package io.roseinfer.bench.http;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** A socket server that responds to every request by a script. */
public final class FakeServer implements AutoCloseable {
    /** Writes a response; false closes the connection after it. */
    public interface Script {
        boolean answer(int number, OutputStream out) throws IOException;
    }

    private final ServerSocket listening;
    private final Thread accepting;
    private final Script script;
    private final List<String> bodies = Collections.synchronizedList(new ArrayList<>());
    private final List<String> heads = Collections.synchronizedList(new ArrayList<>());

    public FakeServer(Script script) throws IOException {
        this.script = script;
        this.listening = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
        this.accepting = Thread.ofVirtual().start(this::accept);
    }

    /** Returns a script that sends {@code tokens} tokens, one event each, and the given usage. */
    public static Script tokens(int tokens, int promptTokens, int completionTokens) {
        return (number, out) -> {
            StringBuilder all = new StringBuilder(Recorded.HEAD);
            for (int token = 0; token < tokens; token++) {
                chunk(all, "data: {\"choices\":[{\"text\":\"a\",\"token_ids\":[" + token + "]}]}\n\n");
            }
            chunk(
                    all,
                    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":" + promptTokens + ",\"completion_tokens\":"
                            + completionTokens + ",\"total_tokens\":" + (promptTokens + completionTokens) + "}}\n\n");
            chunk(all, "data: [DONE]\n\n");
            out.write(all.append("0\r\n\r\n").toString().getBytes(StandardCharsets.US_ASCII));
            return true;
        };
    }

    private static void chunk(StringBuilder all, String events) {
        all.append(Integer.toHexString(events.length()))
                .append("\r\n")
                .append(events)
                .append("\r\n");
    }

    public URI uri() {
        return URI.create("http://127.0.0.1:" + listening.getLocalPort());
    }

    /** Returns the bodies of all requests so far. */
    public List<String> bodies() {
        return List.copyOf(bodies);
    }

    /** Returns the heads of all requests so far. */
    List<String> heads() {
        return List.copyOf(heads);
    }

    Endpoint endpoint() {
        return new Endpoint(
                uri(),
                Endpoint.Kind.COMPLETIONS,
                "m",
                Optional.of("secret"),
                new Endpoint.Ask(0, true, true, true, true));
    }

    private void accept() {
        try {
            while (true) {
                Socket socket = listening.accept();
                socket.setTcpNoDelay(true);
                Thread.ofVirtual().start(() -> serve(socket));
            }
        } catch (IOException closed) {
            // The test is over.
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            BufferedReader in =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
            while (true) {
                String head = head(in);
                if (head.isEmpty()) {
                    return;
                }
                heads.add(head);
                if (!script.answer(numbered(body(in, head)), socket.getOutputStream())) {
                    return;
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Stores a body and returns its number, unique across connections. */
    private int numbered(String body) {
        synchronized (bodies) {
            bodies.add(body);
            return bodies.size() - 1;
        }
    }

    private static String head(BufferedReader in) throws IOException {
        StringBuilder head = new StringBuilder();
        for (String line = in.readLine(); line != null && !line.isEmpty(); line = in.readLine()) {
            head.append(line).append('\n');
        }
        return head.toString();
    }

    private static String body(BufferedReader in, String head) throws IOException {
        int length = head.toLowerCase(Locale.ROOT)
                .lines()
                .filter(line -> line.startsWith("content-length: "))
                .mapToInt(line -> Integer.parseInt(line.substring("content-length: ".length())))
                .findFirst()
                .orElse(0);
        char[] body = new char[length];
        for (int at = 0; at < length; ) {
            at += in.read(body, at, length - at);
        }
        return new String(body);
    }

    /** Stops accepting connections; the accepting thread is the last owner of the socket, so this method joins it. */
    @Override
    public void close() throws IOException {
        listening.close();
        try {
            accepting.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
