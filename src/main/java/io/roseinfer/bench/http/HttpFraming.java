package io.roseinfer.bench.http;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;

/**
 * Incremental parser of HTTP/1.1 responses (RFC 9112): the head, and a body with a length, in chunks, or until the end of the connection.
 * Body parts are passed on with their arrival time.
 */
final class HttpFraming {
    /** Maximum length of a header or chunk size line. */
    private static final int LINE_BYTES = 64 << 10;

    /** Receiver of a response's parts. */
    interface Sink {
        /** Receives the head. */
        void head(int status, String contentType, String contentEncoding);

        /** Receives a part of the body, which is valid only during the call. */
        void body(byte[] bytes, int from, int to, long nanos);

        /** Receives the end of the body. */
        void end(long nanos);
    }

    /** Thrown for a response that this client cannot parse. */
    static final class Malformed extends RuntimeException {
        Malformed(String message) {
            super(message);
        }
    }

    private enum State {
        STATUS,
        HEADER,
        BODY_LENGTH,
        BODY_TO_END,
        CHUNK_SIZE,
        CHUNK_DATA,
        CHUNK_END,
        TRAILER
    }

    private final Sink sink;
    private State state = State.STATUS;
    private byte[] line = new byte[256];
    private int lineLength;
    private int status;
    private long left;
    private boolean chunked;
    private boolean hasLength;
    private boolean closes;
    private String contentType = "";
    private String contentEncoding = "";

    HttpFraming(Sink sink) {
        this.sink = sink;
    }

    /** Returns whether a response has started and not ended. */
    boolean isWithin() {
        return state != State.STATUS || lineLength > 0;
    }

    /** Returns whether the server closes the connection after the response. */
    boolean closes() {
        return closes;
    }

    /** Parses the next bytes of the connection, which arrived at {@code nanos}. */
    void feed(byte[] bytes, int from, int to, long nanos) {
        int at = from;
        while (at < to) {
            at = switch (state) {
                case BODY_LENGTH, CHUNK_DATA -> data(bytes, at, to, nanos);
                case BODY_TO_END -> rest(bytes, at, to, nanos);
                default -> line(bytes, at, to, nanos);
            };
        }
    }

    /** Handles the end of the connection; returns whether it properly ends a response. */
    boolean endOfInput(long nanos) {
        if (state != State.BODY_TO_END) {
            return false;
        }
        end(nanos);
        return true;
    }

    private int rest(byte[] bytes, int from, int to, long nanos) {
        sink.body(bytes, from, to, nanos);
        return to;
    }

    private int data(byte[] bytes, int from, int to, long nanos) {
        int until = (int) Math.min(to, from + left);
        sink.body(bytes, from, until, nanos);
        left -= until - from;
        if (left == 0) {
            if (state == State.CHUNK_DATA) {
                state = State.CHUNK_END;
            } else {
                end(nanos);
            }
        }
        return until;
    }

    private int line(byte[] bytes, int from, int to, long nanos) {
        for (int i = from; i < to; i++) {
            if (bytes[i] == '\n') {
                int length = lineLength > 0 && line[lineLength - 1] == '\r' ? lineLength - 1 : lineLength;
                lineLength = 0;
                if (state == State.CHUNK_SIZE) {
                    chunk(length);
                } else {
                    textLine(new String(line, 0, length, StandardCharsets.ISO_8859_1), nanos);
                }
                return i + 1;
            }
            if (lineLength == line.length) {
                line = Arrays.copyOf(line, 2 * line.length);
            }
            if (lineLength == LINE_BYTES) {
                throw new Malformed("a header line is longer than " + LINE_BYTES + " bytes");
            }
            line[lineLength++] = bytes[i];
        }
        return to;
    }

    private void chunk(int length) {
        long size = 0;
        int digits = 0;
        while (digits < length && line[digits] != ';' && line[digits] != ' ') {
            int digit = Character.digit(line[digits], 16);
            if (digit < 0 || digits > 14) {
                throw new Malformed("a chunk's size is not a number");
            }
            size = size << 4 | digit;
            digits++;
        }
        if (digits == 0) {
            throw new Malformed("a chunk has no size");
        }
        left = size;
        state = size == 0 ? State.TRAILER : State.CHUNK_DATA;
    }

    private void textLine(String text, long nanos) {
        switch (state) {
            case STATUS -> statusLine(text);
            case HEADER -> {
                if (text.isEmpty()) {
                    headEnded(nanos);
                } else {
                    header(text);
                }
            }
            case CHUNK_END -> state = State.CHUNK_SIZE;
            case TRAILER -> {
                if (text.isEmpty()) {
                    end(nanos);
                }
            }
            default -> throw new Malformed("an unexpected line");
        }
    }

    private void statusLine(String text) {
        if (text.length() < 12 || !text.startsWith("HTTP/1.")) {
            throw new Malformed("it does not start with HTTP/1.1 and a status");
        }
        try {
            status = Integer.parseInt(text.substring(9, 12));
        } catch (NumberFormatException e) {
            throw new Malformed("its status is not a number");
        }
        chunked = false;
        hasLength = false;
        closes = text.startsWith("HTTP/1.0");
        contentType = "";
        contentEncoding = "";
        left = 0;
        state = State.HEADER;
    }

    private void header(String text) {
        int colon = text.indexOf(':');
        if (colon <= 0) {
            throw new Malformed("a header has no name");
        }
        String value = text.substring(colon + 1).strip();
        switch (text.substring(0, colon).toLowerCase(Locale.ROOT)) {
            case "content-length" -> {
                try {
                    left = Long.parseLong(value);
                } catch (NumberFormatException e) {
                    throw new Malformed("Content-Length is not a number");
                }
                hasLength = true;
            }
            case "transfer-encoding" -> chunked = value.toLowerCase(Locale.ROOT).endsWith("chunked");
            case "connection" -> closes |= value.equalsIgnoreCase("close");
            case "content-type" -> contentType = value.toLowerCase(Locale.ROOT);
            case "content-encoding" -> contentEncoding = value.equalsIgnoreCase("identity") ? "" : value;
            default -> {
                // Not relevant for framing.
            }
        }
    }

    private void headEnded(long nanos) {
        if (status < 200) {
            state = State.STATUS;
            return;
        }
        sink.head(status, contentType, contentEncoding);
        if (chunked) {
            state = State.CHUNK_SIZE;
        } else if (hasLength || status == 204 || status == 304) {
            state = State.BODY_LENGTH;
            if (left == 0) {
                end(nanos);
            }
        } else {
            closes = true;
            state = State.BODY_TO_END;
        }
    }

    private void end(long nanos) {
        state = State.STATUS;
        sink.end(nanos);
    }
}
