package io.roseinfer.server;

import io.roseinfer.server.api.ApiError;
import io.roseinfer.server.http.HttpCall;
import io.roseinfer.server.http.Reply;
import io.roseinfer.server.http.ResponseWriter;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import tools.jackson.databind.JsonNode;

/** A call and its answer, with the headers that every answer has and with what the log will say of it. */
final class Exchange {
    private static final int MOST_ID_CHARS = 128;
    private static final String JSON = "application/json";

    private final HttpCall call;
    private final ResponseWriter response;
    private final boolean isNamed;
    private String requestId;
    private final long startNanos;
    private final Map<String, String> headers = new LinkedHashMap<>();
    private int status;
    private Optional<Served> served = Optional.empty();

    /** What the engine did for a call. */
    record Served(int promptTokens, int completionTokens, String finishReason) {}

    Exchange(HttpCall call, ResponseWriter response, long startNanos) {
        this.call = call;
        this.response = response;
        this.startNanos = startNanos;
        Optional<String> name = call.header("x-request-id").filter(Exchange::isUsable);
        this.isNamed = name.isPresent();
        this.requestId = name.orElseGet(Exchange::newId);
        headers.put("X-Request-Id", requestId);
    }

    /** An id for a call whose client has sent none. */
    static String newId() {
        return UUID.randomUUID().toString().replace("-", "");
    }

    private static boolean isUsable(String id) {
        return !id.isEmpty() && id.length() <= MOST_ID_CHARS && id.chars().allMatch(c -> c > ' ' && c < 0x7f);
    }

    HttpCall call() {
        return call;
    }

    /** The client's own id for the request if it has sent one, else a random one. */
    String requestId() {
        return requestId;
    }

    /** Takes the id that a body brings, unless a header has brought one. */
    void name(String id) {
        if (!isUsable(id)) {
            throw ApiError.badField(
                    "request_id",
                    "request_id must be 1 to " + MOST_ID_CHARS + " printable characters of ASCII without blanks");
        }
        if (!isNamed) {
            requestId = id;
            headers.put("X-Request-Id", id);
        }
    }

    long startNanos() {
        return startNanos;
    }

    /** The status that was answered; 0 before. */
    int status() {
        return status;
    }

    Optional<Served> served() {
        return served;
    }

    void served(Served value) {
        served = Optional.of(value);
    }

    /** A header of the answer, which must not have begun. */
    void header(String name, String value) {
        headers.put(name, value);
    }

    ResponseWriter response() {
        return response;
    }

    void send(JsonNode body) {
        send(200, JSON, body.toString().getBytes(StandardCharsets.UTF_8));
    }

    void send(int code, String contentType, byte[] body) {
        status = code;
        header("Content-Type", contentType);
        response.send(new Reply(code, headers, body));
    }

    void send(ApiError error) {
        error.headers().forEach(this::header);
        send(error.status(), JSON, error.body());
    }

    /** Begins a stream of events. The headers keep proxies from collecting them. */
    void beginEvents() {
        status = 200;
        header("Content-Type", "text/event-stream; charset=utf-8");
        header("Cache-Control", "no-cache");
        header("X-Accel-Buffering", "no");
        response.begin(200, headers);
    }

    /** Answers an error: as the whole answer, or as the last event of one that has begun, which no {@code [DONE]} follows. */
    void fail(ApiError error) {
        if (!response.hasBegun()) {
            send(error);
        } else {
            status = error.status();
            response.write(("data: " + error.json() + "\n\n").getBytes(StandardCharsets.UTF_8));
            response.end();
        }
    }

    /** The client has left; nobody reads this status but the log. */
    void gone(int code) {
        status = code;
    }
}
