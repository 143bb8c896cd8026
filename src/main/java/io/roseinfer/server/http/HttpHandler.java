package io.roseinfer.server.http;

import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/** Answers HTTP requests. */
public interface HttpHandler {
    /**
     * Decides on a request whose headers are complete: a refusal, and whatever else needs no body, is answered without waiting for
     * one and without a thread of the request. Runs on the connection's thread and must not wait.
     *
     * @param head the request with an empty body
     * @return makes the response when the request's turn comes, on the connection's thread, without waiting; empty if
     *     {@link #handle} answers once the body is complete
     */
    Optional<Supplier<CompletionStage<Reply>>> atHead(HttpCall head);

    /** Answers one call, on a virtual thread of its own. */
    void handle(HttpCall call, Response response);

    /**
     * Makes the response to bytes that are no request, or exceed a limit. Runs on the connection's thread and must not wait.
     *
     * @param head the request with an empty body, or {@link HttpCall#UNREADABLE}
     */
    Reply refusal(HttpCall head, int status, String message);
}
