package io.roseinfer.bench.http;

import io.roseinfer.bench.load.OfferedRequest;
import io.roseinfer.engine.Prompt;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A server response in pieces, each with its arrival time. */
final class Recorded {
    static final long SENT = 1_000_000_000;
    static final long MILLI = 1_000_000;

    static final String HEAD =
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n";

    private record Piece(long nanos, byte[] bytes) {}

    private final List<Piece> pieces = new ArrayList<>();
    private boolean cut;

    /** Adds bytes that arrive {@code millis} after the request was sent. */
    Recorded raw(double millis, String bytes) {
        pieces.add(new Piece(SENT + Math.round(millis * MILLI), bytes.getBytes(StandardCharsets.UTF_8)));
        return this;
    }

    /** Adds events in a separate chunk. */
    Recorded events(double millis, String events) {
        int length = events.getBytes(StandardCharsets.UTF_8).length;
        return raw(millis, Integer.toHexString(length) + "\r\n" + events + "\r\n");
    }

    /** Adds an event with {@code count} token ids. */
    Recorded ids(double millis, int count) {
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ids.add("" + (100 + i));
        }
        return events(
                millis,
                "data: {\"choices\":[{\"index\":0,\"text\":\"héllo\",\"finish_reason\":null,\"token_ids\":["
                        + String.join(",", ids) + "]}]}\n\n");
    }

    /** Adds an event with text. */
    Recorded text(double millis, String text) {
        return events(
                millis, "data: {\"choices\":[{\"index\":0,\"text\":\"" + text + "\",\"finish_reason\":null}]}\n\n");
    }

    Recorded usage(double millis, int prompt, int completion) {
        return usage(millis, prompt, completion, prompt + completion);
    }

    Recorded usage(double millis, int prompt, int completion, int total) {
        return events(
                millis,
                "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":" + prompt + ",\"completion_tokens\":" + completion
                        + ",\"total_tokens\":" + total + "}}\n\n");
    }

    Recorded done(double millis) {
        return events(millis, "data: [DONE]\n\n").raw(millis, "0\r\n\r\n");
    }

    /** Closes the connection after the last piece. */
    Recorded cut() {
        cut = true;
        return this;
    }

    static Call call(int promptTokens, int askedTokens) {
        Call call = new Call(0, OfferedRequest.of(0, new Prompt.Tokens(new int[promptTokens]), askedTokens));
        call.dueNanos = SENT - 3 * MILLI;
        call.readyNanos = SENT - 2 * MILLI;
        call.sentNanos = SENT;
        return call;
    }

    /** Returns the result of a client that sent 5 tokens and requested 8. */
    CallResult read() {
        return read(call(5, 8), Integer.MAX_VALUE);
    }

    /** Returns the result of a call whose pieces arrive in parts of at most {@code maxBytes} bytes. */
    CallResult read(Call call, int maxBytes) {
        ResponseReader reader = new ResponseReader(call);
        for (Piece piece : pieces) {
            for (int from = 0; from < piece.bytes().length; from += Math.min(maxBytes, piece.bytes().length)) {
                int to = (int) Math.min((long) from + maxBytes, piece.bytes().length);
                reader.feed(piece.bytes(), from, to, piece.nanos());
            }
        }
        if (cut) {
            reader.endOfInput(pieces.getLast().nanos());
        }
        if (!reader.hasEnded()) {
            throw new AssertionError("the call has not ended");
        }
        return CallResult.of(call);
    }
}
