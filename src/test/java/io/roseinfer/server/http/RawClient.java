package io.roseinfer.server.http;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** A client on a bare socket, which can send anything and disconnect at any moment. */
public final class RawClient implements AutoCloseable {
    /** A complete response. */
    public record Answer(int status, Map<String, String> headers, String body) {
        public Optional<String> header(String name) {
            return Optional.ofNullable(headers.get(name.toLowerCase(Locale.ROOT)));
        }
    }

    private final Socket socket;
    private final InputStream in;

    public RawClient(InetSocketAddress address) throws IOException {
        this(address, 0);
    }

    /** Connects with a receive buffer of this size, so that little is read ahead; 0 is the system's default. */
    public RawClient(InetSocketAddress address, int receiveBytes) throws IOException {
        socket = new Socket();
        if (receiveBytes > 0) {
            socket.setReceiveBufferSize(receiveBytes);
        }
        socket.connect(address);
        socket.setTcpNoDelay(true);
        in = new BufferedInputStream(socket.getInputStream());
    }

    public static String get(String path) {
        return "GET " + path + " HTTP/1.1\r\nHost: test\r\n\r\n";
    }

    /** A POST with additional headers, each with its line end. */
    public static String post(String path, String body, String... headers) {
        return "POST " + path + " HTTP/1.1\r\nHost: test\r\n" + String.join("", headers) + "Content-Length: "
                + body.getBytes(StandardCharsets.UTF_8).length + "\r\n\r\n" + body;
    }

    public RawClient send(String text) throws IOException {
        return send(text.getBytes(StandardCharsets.UTF_8));
    }

    public RawClient send(byte[] bytes) throws IOException {
        // Without a flush, which a socket does not need: another thread may have closed it by then.
        socket.getOutputStream().write(bytes);
        return this;
    }

    /** Sends a request and reads the response. */
    public Answer call(String request) throws IOException {
        return send(request).answer();
    }

    /** Reads one line without its end. */
    public String line() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int b = read(); b != '\n'; b = read()) {
            line.write(b);
        }
        return line.toString(StandardCharsets.UTF_8).replaceFirst("\r$", "");
    }

    private int read() throws IOException {
        int b = in.read();
        if (b < 0) {
            throw new EOFException("the server has closed the connection");
        }
        return b;
    }

    private byte[] bytes(int count) throws IOException {
        byte[] bytes = in.readNBytes(count);
        if (bytes.length < count) {
            throw new EOFException("the server has closed the connection");
        }
        return bytes;
    }

    /** Reads the status line and the headers, by name in lower case. */
    public Answer head() throws IOException {
        int status = Integer.parseInt(line().split(" ")[1]);
        Map<String, String> headers = new HashMap<>();
        for (String line = line(); !line.isEmpty(); line = line()) {
            String[] parts = line.split(": ", 2);
            headers.put(parts[0].toLowerCase(Locale.ROOT), parts[1]);
        }
        return new Answer(status, headers, "");
    }

    /** Reads the next complete response. */
    public Answer answer() throws IOException {
        Answer head = head();
        String body;
        if (head.headers().containsKey("content-length")) {
            int length = Integer.parseInt(Objects.requireNonNull(head.headers().get("content-length")));
            body = new String(bytes(length), StandardCharsets.UTF_8);
        } else if ("chunked".equals(head.headers().get("transfer-encoding"))) {
            body = chunks();
        } else {
            body = new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
        return new Answer(head.status(), head.headers(), body);
    }

    private String chunks() throws IOException {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        for (int size = Integer.parseInt(line(), 16); size > 0; size = Integer.parseInt(line(), 16)) {
            body.write(bytes(size));
            bytes(2);
        }
        line();
        return body.toString(StandardCharsets.UTF_8);
    }

    /** Reads until the server closes, with or without a reset. */
    public String rest() {
        ByteArrayOutputStream rest = new ByteArrayOutputStream();
        try {
            for (int b = in.read(); b >= 0; b = in.read()) {
                rest.write(b);
            }
        } catch (IOException reset) {
            // Closed by a reset.
        }
        return rest.toString(StandardCharsets.UTF_8);
    }

    /** Shuts down sending, and continues reading. */
    public void halfClose() throws IOException {
        socket.shutdownOutput();
    }

    /** Closes with a reset. */
    public void reset() throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }

    /** Closes with a FIN. */
    @Override
    public void close() throws IOException {
        socket.close();
    }
}
