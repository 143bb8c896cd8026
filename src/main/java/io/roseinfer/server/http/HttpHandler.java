package io.roseinfer.server.http;

import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/** Handles HTTP requests. */
public interface HttpHandler {
    /**
     * Decides on a request whose headers are complete. Rejections and whatever else needs no body are answered without
     * waiting for it and without a thread for the request. Runs on the connection's thread and must not wait.
     *
     * @param head the request with an empty body
     * @return makes the response when the earlier ones are sent, on the connection's thread, without waiting; empty if
     *     {@link #handle} answers once the body is complete
     */
    Optional<Supplier<CompletionStage<Reply>>> atHead(HttpCall head);

    /**
     * Returns whether a request is also served on the connections beyond the maximum; none is by default. Runs on the
     * connection's thread and must not wait.
     *
     * @param head the request with an empty body
     */
    default boolean isProbe(HttpCall head) {
        return false;
    }

    /** Answers one call, on its virtual thread. */
    void handle(HttpCall call, Response response);

    /**
     * Returns the response to bytes that are not a request, or that exceed a limit. Runs on the connection's thread and
     * must not wait.
     *
     * @param head the request with an empty body; if it could not be parsed, its method and path are {@code -}
     */
    Reply refusal(HttpCall head, int status, String message);
}
