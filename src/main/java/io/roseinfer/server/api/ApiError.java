package io.roseinfer.server.api;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.Remedy;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.StrictJson;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import tools.jackson.databind.node.ObjectNode;

/** An error response in OpenAI's format, with the HTTP status as its code. */
public final class ApiError extends RuntimeException {
    private static final String RETRY_AFTER = "Retry-After";

    /** A hint that retrying may help, not an estimate: nothing here knows when a place will be free. */
    private static final String RETRY_SECONDS = "1";

    private final int status;
    private final String type;
    private final Optional<String> param;
    private final Map<String, String> headers;
    private final Map<String, Integer> numbers = new LinkedHashMap<>();

    private ApiError(int status, String type, String message, Optional<String> param, Map<String, String> headers) {
        super(message);
        this.status = status;
        this.type = type;
        this.param = param;
        this.headers = headers;
    }

    public static ApiError of(int status, String type, String message) {
        return new ApiError(status, type, message, Optional.empty(), Map.of());
    }

    /** Returns a 400 error about the request as a whole. */
    public static ApiError badRequest(String message) {
        return of(400, "BadRequestError", message);
    }

    /** Returns a 400 error about one field of the request. */
    public static ApiError badField(String field, String message) {
        return new ApiError(400, "BadRequestError", message, Optional.of(field), Map.of());
    }

    /** Returns a 404 error about the model. */
    private static ApiError noModel(String message) {
        return new ApiError(404, "NotFoundError", message, Optional.of("model"), Map.of());
    }

    /** Returns a 404 error for a model other than the served one. */
    public static ApiError notServed(String asked, String served) {
        return noModel("the model " + Quoted.name(asked) + " does not exist; the model is " + Quoted.name(served));
    }

    /** Returns a 429 error: the maximum of requests is in flight. */
    public static ApiError overloaded(String message) {
        return of(429, "OverloadedError", message).withHeader(RETRY_AFTER, RETRY_SECONDS);
    }

    /** Returns a 503 error: no request is served now. */
    public static ApiError unavailable(String message) {
        return of(503, "ServiceUnavailableError", message).withHeader(RETRY_AFTER, RETRY_SECONDS);
    }

    private static ApiError internal(String message) {
        return of(500, "InternalServerError", message);
    }

    /** Returns a 500 error that OpenAI's clients do not retry. */
    private static ApiError notToBeRepeated(RoseException failure) {
        String why =
                failure instanceof RoseException.EngineStopped ? "; this request was running and may be the cause" : "";
        return internal(failure.jsonMessage() + why).withHeader("x-should-retry", "false");
    }

    public ApiError withHeader(String name, String value) {
        return new ApiError(status, type, message(), param, Map.of(name, value));
    }

    /** Returns the same error with another name of its field, also if the message begins with it. */
    ApiError renamed(UnaryOperator<String> names) {
        String[] words = message().split(" ", 2);
        String text = words.length == 1 ? words[0] : names.apply(words[0]) + " " + words[1];
        ApiError error = new ApiError(status, type, text, param.map(names), headers);
        error.numbers.putAll(numbers);
        return error;
    }

    /** Adds a number to the error object, for programs. */
    ApiError withNumber(String name, int value) {
        numbers.put(name, value);
        return this;
    }

    /** Returns the error for a failure of the engine. */
    public static ApiError of(RoseException failure) {
        return switch (failure) {
            case RoseException.BadInput bad -> badRequest(bad.jsonMessage());
            case RoseException.Overloaded full -> overloaded(full.messageWithout(Remedy.RAISE_MAX_INFLIGHT_REQUESTS));
            case RoseException.Stopped stopped when stopped.suspectsRequest() -> notToBeRepeated(failure);
            case RoseException.EngineStopped stopped -> unavailable(stopped.jsonMessage());
            default -> internal(failure.jsonMessage());
        };
    }

    public int status() {
        return status;
    }

    public String message() {
        String message = getMessage();
        return message == null ? type : message;
    }

    public Map<String, String> headers() {
        return headers;
    }

    /** Returns the error as JSON, for a response's body or a stream's event. */
    public String json() {
        return object().toString();
    }

    /** Returns the error as a JSON tree. */
    public ObjectNode object() {
        ObjectNode root = StrictJson.mapper().createObjectNode();
        ObjectNode error = root.putObject("error")
                .put("message", message())
                .put("type", type)
                .put("param", param.orElse(null))
                .put("code", status);
        numbers.forEach(error::put);
        return root;
    }

    public byte[] body() {
        return json().getBytes(StandardCharsets.UTF_8);
    }
}
