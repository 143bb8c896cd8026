package io.roseinfer.bench.http;

import io.roseinfer.base.StrictJson;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import tools.jackson.databind.JsonNode;

/**
 * A server without a model, on the loopback interface of this process. It sends the requested number of tokens as fast as possible, with
 * one event and one write per token, so a client measures only its own overhead.
 */
public final class NullServer implements AutoCloseable {
    private static final String HEAD =
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

    private static final byte[] FIRST = ascii(HEAD + chunk(event("null")));
    private static final byte[] NEXT = ascii(chunk(event("null")));
    private static final byte[] LAST = ascii(chunk(event("\"length\"")));
    private static final byte[] ONLY = ascii(HEAD + chunk(event("\"length\"")));

    private static final int BACKLOG = 1024;

    private final ServerSocket listening;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();

    private NullServer(ServerSocket listening) {
        this.listening = listening;
    }

    private static String event(String finishReason) {
        return "data: {\"id\":\"cmpl-null\",\"object\":\"text_completion\",\"created\":0,\"model\":\"null\",\"choices\":[{\"index\":0,"
                + "\"text\":\" a\",\"logprobs\":null,\"finish_reason\":" + finishReason + ",\"token_ids\":[257]}]}\n\n";
    }

    private static String usage(int prompt, int completion) {
        return "data: {\"id\":\"cmpl-null\",\"choices\":[],\"usage\":{\"prompt_tokens\":" + prompt
                + ",\"completion_tokens\":" + completion + ",\"total_tokens\":" + (prompt + completion)
                + "}}\n\ndata: [DONE]\n\n";
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static String chunk(String events) {
        return Integer.toHexString(events.length()) + "\r\n" + events + "\r\n";
    }

    /** Listens on a free port. */
    public static NullServer start() {
        try {
            NullServer server = new NullServer(new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress()));
            Thread unused = Thread.ofVirtual().name("roseinfer-null-server").start(server::accept);
            return server;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the server's URI. */
    public URI uri() {
        return URI.create("http://127.0.0.1:" + listening.getLocalPort());
    }

    private void accept() {
        try {
            while (true) {
                Socket socket = listening.accept();
                socket.setTcpNoDelay(true);
                open.add(socket);
                Thread unused =
                        Thread.ofVirtual().name("roseinfer-null-connection").start(() -> serve(socket));
            }
        } catch (IOException failed) {
            // Fail clearly instead of looking like a slow server.
            close();
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            InputStream in = new BufferedInputStream(socket.getInputStream(), 1 << 16);
            OutputStream out = socket.getOutputStream();
            while (true) {
                respond(StrictJson.parse(body(in)), out);
            }
        } catch (IOException gone) {
            // The client disconnected.
        } finally {
            open.remove(socket);
        }
    }

    private static byte[] body(InputStream in) throws IOException {
        int length = 0;
        String line = line(in);
        while (!line.isEmpty()) {
            String lower = line.toLowerCase(Locale.ROOT);
            if (lower.startsWith("content-length:")) {
                length = Integer.parseInt(
                        lower.substring("content-length:".length()).strip());
            }
            line = line(in);
        }
        byte[] body = in.readNBytes(length);
        if (body.length < length) {
            throw new EOFException();
        }
        return body;
    }

    private static String line(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int next = in.read(); next != '\n'; next = in.read()) {
            if (next < 0) {
                throw new EOFException();
            }
            if (next != '\r') {
                line.append((char) next);
            }
        }
        return line.toString();
    }

    private static void respond(JsonNode request, OutputStream out) throws IOException {
        int tokens = Math.max(1, request.path("max_tokens").asInt(1));
        int prompt = request.path("prompt").isArray() ? request.path("prompt").size() : 1;
        out.write(tokens == 1 ? ONLY : FIRST);
        for (int token = 1; token < tokens; token++) {
            out.write(token == tokens - 1 ? LAST : NEXT);
        }
        out.write(ascii(chunk(usage(prompt, tokens)) + "0\r\n\r\n"));
    }

    /** Closes all connections. */
    @Override
    public void close() {
        try {
            listening.close();
            for (Socket socket : open) {
                socket.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
