package io.roseinfer.bench.http;

import io.roseinfer.base.Quoted;
import java.nio.charset.StandardCharsets;

/** Parses the response to one call. Independent of sockets and clocks. */
final class ResponseReader implements HttpFraming.Sink, EventStream.Sink {
    /** Bytes kept of a response that is not a stream. */
    private static final int KEPT_BYTES = 4096;

    private static final byte[] DONE = "[DONE]".getBytes(StandardCharsets.US_ASCII);

    private final HttpFraming framing = new HttpFraming(this);
    private final EventStream events = new EventStream(this);
    private final CompletionEvent event = new CompletionEvent();
    private final StringBuilder text = new StringBuilder();
    private final Call call;
    private int status;
    private boolean isStream;
    private String encoding = "";
    private boolean done;
    private boolean ended;

    ResponseReader(Call call) {
        this.call = call;
        events.reset();
    }

    /** Returns whether the response is complete or has failed. */
    boolean hasEnded() {
        return ended;
    }

    /** Returns whether the connection can carry another call. */
    boolean isReusable() {
        return ended && !framing.isWithin() && !framing.closes();
    }

    /** Parses bytes that were read at {@code nanos}. */
    void feed(byte[] bytes, int from, int to, long nanos) {
        try {
            framing.feed(bytes, from, to, nanos);
        } catch (HttpFraming.Malformed e) {
            broken("the response is not HTTP: " + e.getMessage(), nanos);
        }
    }

    /** Handles the end of the connection. */
    void endOfInput(long nanos) {
        if (!framing.endOfInput(nanos)) {
            call.unanswered = status == 0 && !framing.isWithin();
            broken(
                    status == 0
                            ? "the connection was closed before a response"
                            : "the connection was closed during the response",
                    nanos);
        }
    }

    /** Fails the call, unless it has ended. */
    void broken(String why, long nanos) {
        if (!ended) {
            call.fail(why);
            call.endNanos = nanos;
            ended = true;
        }
    }

    @Override
    public void head(int code, String contentType, String contentEncoding) {
        status = code;
        encoding = contentEncoding;
        isStream = code == 200 && contentType.startsWith("text/event-stream");
    }

    @Override
    public void body(byte[] bytes, int from, int to, long nanos) {
        if (isStream) {
            events.feed(bytes, from, to, nanos);
        } else if (text.length() < KEPT_BYTES) {
            int until = Math.min(to, from + KEPT_BYTES - text.length());
            text.append(new String(bytes, from, until - from, StandardCharsets.ISO_8859_1));
        }
    }

    @Override
    public void event(byte[] data, int length, long nanos) {
        if (done || (length == DONE.length && isDone(data))) {
            done = true;
            return;
        }
        event.read(data, length);
        if (event.error.isEmpty()) {
            call.add(event, nanos);
        } else {
            call.fail(event.error);
        }
    }

    private static boolean isDone(byte... data) {
        for (int i = 0; i < DONE.length; i++) {
            if (data[i] != DONE[i]) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void end(long nanos) {
        if (!isStream) {
            call.fail(
                    status == 200
                            ? "the response is not an event stream"
                            : "status " + status + ": "
                                    + Quoted.name(text.toString().strip())
                                    + (status == 401 ? " (the API key is OPENAI_API_KEY of the environment)" : ""));
        } else if (!encoding.isEmpty()) {
            call.fail("the response has Content-Encoding " + Quoted.name(encoding)
                    + "; a compressed stream cannot be measured, so disable compression");
        } else if (!done && !call.hasFinish) {
            call.fail("the stream ended without [DONE] or a finish_reason");
        } else if (!call.hasChoice) {
            call.fail("the stream had no choice and so no token");
        }
        call.withoutDone = isStream && !done && call.error.isEmpty();
        call.endNanos = nanos;
        ended = true;
    }
}
