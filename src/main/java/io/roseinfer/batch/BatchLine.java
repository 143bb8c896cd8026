package io.roseinfer.batch;

import io.roseinfer.base.Quoted;
import io.roseinfer.server.api.ApiError;
import io.roseinfer.server.api.Fields;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * One line of a batch's input in OpenAI's batch format: {@code custom_id}, {@code method}, {@code url} and
 * {@code body}.
 */
public sealed interface BatchLine {
    /** The endpoint for a body. */
    enum Route {
        COMPLETIONS("/v1/completions"),
        CHAT("/v1/chat/completions");

        private final String url;

        Route(String url) {
            this.url = url;
        }
    }

    /** Returns the line's key. */
    RequestKey key();

    /** Returns the line's custom id; empty if it could not be read. */
    Optional<String> customId();

    /**
     * A line that is a request; its body has not been checked.
     *
     * @param body the body for the server's endpoint
     */
    record Request(RequestKey key, Optional<String> customId, Route route, Fields body) implements BatchLine {}

    /**
     * A line that is not a request.
     *
     * @param number of the line in the file, from 1
     * @param error the reason
     */
    record Bad(RequestKey key, long number, Optional<String> customId, ApiError error) implements BatchLine {}

    /**
     * Parses a line.
     *
     * @param line in UTF-8, without the newline
     * @param number of the line in the file, from 1: without a custom id, the key is derived from it
     */
    static BatchLine parse(byte[] line, long number) {
        Fields fields;
        String name;
        try {
            fields = Fields.parseLine(line, number);
            name = customId(fields);
        } catch (ApiError error) {
            return new Bad(RequestKey.ofLine(number), number, Optional.empty(), error);
        }
        RequestKey key = RequestKey.of(name);
        try {
            requirePost(fields);
            Route route = route(fields);
            return new Request(key, Optional.of(name), route, body(fields, route));
        } catch (ApiError error) {
            return new Bad(key, number, Optional.of(name), error);
        }
    }

    private static Fields body(Fields fields, Route route) {
        return fields.object("body")
                .orElseThrow(
                        () -> ApiError.badField("body", "body is missing; it must be the JSON body for " + route.url));
    }

    private static String customId(Fields fields) {
        String name = fields.string("custom_id").orElse("");
        if (name.isEmpty()) {
            throw ApiError.badField("custom_id", "custom_id is missing; each line needs a unique one");
        }
        if (!StandardCharsets.UTF_8.newEncoder().canEncode(name)) {
            throw ApiError.badField("custom_id", "custom_id has an unpaired surrogate");
        }
        return name;
    }

    private static void requirePost(Fields fields) {
        String method = fields.string("method").orElse("");
        if (!method.equals("POST")) {
            throw ApiError.badField("method", "method is " + Quoted.name(method) + "; it must be POST");
        }
    }

    private static Route route(Fields fields) {
        String url = fields.string("url").orElse("");
        for (Route route : Route.values()) {
            if (route.url.equals(url)) {
                return route;
            }
        }
        throw ApiError.badField(
                "url", "url is " + Quoted.name(url) + "; it must be /v1/completions or /v1/chat/completions");
    }
}
