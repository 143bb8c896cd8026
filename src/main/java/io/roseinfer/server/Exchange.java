package io.roseinfer.server;

import io.roseinfer.base.StrictJson;
import io.roseinfer.engine.Completion;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.server.api.ApiError;
import io.roseinfer.server.api.CompletionCall;
import io.roseinfer.server.http.HttpCall;
import io.roseinfer.server.http.Reply;
import io.roseinfer.server.http.Response;
import io.roseinfer.server.http.Response.ClientGone;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/** A request and its response, with the headers common to all responses and the data for the access log. */
final class Exchange {
    private static final int MAX_ID_CHARS = 128;
    private static final String JSON = "application/json";

    /** The date format of RFC 9110. */
    private static final DateTimeFormatter DATE = DateTimeFormatter.ofPattern(
                    "EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ENGLISH)
            .withZone(ZoneOffset.UTC);

    private final HttpCall call;
    private final InstantSource time;
    private final boolean isNamed;
    private String requestId;
    private final long startNanos;
    private final Map<String, String> headers = new LinkedHashMap<>();
    private int status;
    /** Returns the last event of a stream that fails; empty without a stream. */
    private Optional<Function<ApiError, String>> failureEvent = Optional.empty();

    private Optional<Served> served = Optional.empty();
    private Optional<String> error = Optional.empty();
    private String user = "";

    /**
     * The engine's work for a call.
     *
     * @param completionTokens generated tokens; of completions that have not ended, those that were read
     * @param finishReason of the last completion that has ended; {@code error} or {@code abort} if one failed or was cut
     * @param completions those that have ended, in order
     */
    record Served(CompletionCall call, int completionTokens, String finishReason, List<Completion> completions) {
        Served {
            // A client that is too slow has not read all tokens of a completion that was cut off.
            completionTokens = Math.max(
                    completionTokens,
                    completions.stream()
                            .mapToInt(completion -> completion.tokens().size())
                            .sum());
        }
    }

    Exchange(HttpCall call, long startNanos, InstantSource time) {
        this.call = call;
        this.time = time;
        this.startNanos = startNanos;
        Optional<String> name = call.header("x-request-id").filter(Exchange::isUsable);
        this.isNamed = name.isPresent();
        this.requestId = name.orElseGet(Exchange::newId);
        headers.put("X-Request-Id", requestId);
    }

    /** Returns a random id for a call whose client has sent none. */
    static String newId() {
        return UUID.randomUUID().toString().replace("-", "");
    }

    private static boolean isUsable(String id) {
        return !id.isEmpty() && id.length() <= MAX_ID_CHARS && id.chars().allMatch(c -> c > ' ' && c < 0x7f);
    }

    HttpCall call() {
        return call;
    }

    /** Returns the client's id for the request if it has sent one, else a random one. */
    String requestId() {
        return requestId;
    }

    /** Uses the id in the body, unless a header has one. */
    void name(String id) {
        if (!isUsable(id)) {
            throw ApiError.badField(
                    "request_id",
                    "request_id must be 1 to " + MAX_ID_CHARS + " printable ASCII characters without spaces");
        }
        if (!isNamed) {
            requestId = id;
            headers.put("X-Request-Id", id);
        }
    }

    /** Returns the field {@code user} of the body; empty without one. */
    String user() {
        return user;
    }

    void user(String value) {
        user = value;
    }

    long startNanos() {
        return startNanos;
    }

    /** Returns the response's status; 0 before it. */
    int status() {
        return status;
    }

    Optional<Served> served() {
        return served;
    }

    /** Returns whether a completion has ended by its timeout. */
    boolean hasTimedOut() {
        return served().stream()
                .flatMap(own -> own.completions().stream())
                .anyMatch(completion -> completion.finishReason() == FinishReason.DEADLINE);
    }

    void served(Served value) {
        served = Optional.of(value);
    }

    /** Sets a header of the response, which must not have begun. */
    void header(String name, String value) {
        headers.put(name, value);
    }

    /** Returns the message of the error response, if it is one. */
    Optional<String> error() {
        return error;
    }

    /**
     * Sends a JSON response with status 200. A long one is written in parts, so that its text is never in memory as a
     * whole.
     *
     * @throws ClientGone if the client has disconnected or stalled
     */
    void send(JsonNode body, Response response) {
        JsonParts parts = new JsonParts(this, response);
        try {
            StrictJson.mapper().writeValue(new OutputStreamWriter(parts, StandardCharsets.UTF_8), body);
        } catch (JacksonException e) {
            throw e.getCause() instanceof ClientGone gone ? gone : e;
        }
        parts.end();
    }

    /** Returns a JSON response with status 200. */
    Reply reply(JsonNode body) {
        return reply(body.toString().getBytes(StandardCharsets.UTF_8));
    }

    /** Returns a response with status 200 of a JSON text. */
    Reply reply(byte[] json) {
        return reply(200, JSON, json);
    }

    /** Returns a complete response. */
    Reply reply(int code, String contentType, byte[] body) {
        status = code;
        header("Content-Type", contentType);
        header("Date", DATE.format(time.instant()));
        return new Reply(code, headers, body);
    }

    /** Returns an error response. */
    Reply error(ApiError failure) {
        error = Optional.of(failure.message());
        failure.headers().forEach(this::header);
        return reply(failure.status(), JSON, failure.body());
    }

    /** Begins a JSON response of unknown length. */
    void beginJson(Response response) {
        begin(response, JSON);
    }

    /** Begins a response of unknown length. */
    private void begin(Response response, String contentType) {
        status = 200;
        header("Content-Type", contentType);
        header("Date", DATE.format(time.instant()));
        response.begin(200, headers);
    }

    /**
     * Begins a stream of events. The headers keep proxies from buffering it.
     *
     * @param failure returns the last event of a stream that fails
     */
    void beginEvents(Response response, Function<ApiError, String> failure) {
        header("Cache-Control", "no-cache");
        header("X-Accel-Buffering", "no");
        failureEvent = Optional.of(failure);
        begin(response, "text/event-stream; charset=utf-8");
    }

    /**
     * Sends an error: as the whole response, or as the last event of a stream that has begun, without {@code [DONE]}.
     * Another response that has begun is cut.
     */
    void fail(ApiError failure, Response response) {
        if (!response.hasBegun()) {
            response.send(error(failure));
        } else {
            status = failure.status();
            error = Optional.of(failure.message());
            if (failureEvent.isEmpty()) {
                response.abort();
                return;
            }
            response.write(failureEvent.get().apply(failure).getBytes(StandardCharsets.UTF_8));
            response.end();
        }
    }

    /** Records why the response was not sent; only the log has this status. */
    void gone(int code, String reason) {
        status = code;
        error = Optional.of(reason);
    }
}
