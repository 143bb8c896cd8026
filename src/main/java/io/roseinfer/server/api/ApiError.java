package io.roseinfer.server.api;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.StrictJson;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/** An answer that is an error, in OpenAI's shape with the HTTP status as its code. */
public final class ApiError extends RuntimeException {
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

    /** 400: the request as a whole. */
    public static ApiError badRequest(String message) {
        return of(400, "BadRequestError", message);
    }

    /** 400: one field of the request. */
    public static ApiError badField(String field, String message) {
        return new ApiError(400, "BadRequestError", message, Optional.of(field), Map.of());
    }

    /** 404: a model that is not served. */
    private static ApiError noModel(String message) {
        return new ApiError(404, "NotFoundError", message, Optional.of("model"), Map.of());
    }

    /** 404: a model whose name is not that of the one that is served. */
    public static ApiError notServed(String asked, String served) {
        return noModel("the model " + Quoted.name(asked) + " is not served here; " + Quoted.name(served) + " is");
    }

    /** 429: as many requests are in flight as there may be. */
    public static ApiError overloaded(String message) {
        return of(429, "OverloadedError", message).withHeader("Retry-After", "1");
    }

    /** 503: nothing is served now. */
    public static ApiError unavailable(String message) {
        return of(503, "ServiceUnavailableError", message);
    }

    public ApiError withHeader(String name, String value) {
        return new ApiError(status, type, message(), param, Map.of(name, value));
    }

    /** The same error, with a number in its object that programs can read. */
    ApiError withNumber(String name, int value) {
        numbers.put(name, value);
        return this;
    }

    /** What the engine has refused, or has failed at, as its client is told. */
    public static ApiError of(RoseException failure) {
        return switch (failure) {
            case RoseException.BadInput bad -> badRequest(bad.getMessage());
            case RoseException.Overloaded full -> overloaded(full.getMessage());
            case RoseException.EngineStopped stopped -> unavailable(stopped.getMessage());
            default -> of(500, "InternalServerError", failure.getMessage());
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

    /** The error object, as it is the body of an answer or an event of a stream. */
    public String json() {
        return object().toString();
    }

    /** The same as a tree. */
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
