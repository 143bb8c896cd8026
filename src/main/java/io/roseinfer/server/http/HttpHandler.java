package io.roseinfer.server.http;

/** Answers calls. */
public interface HttpHandler {
    /** Answers one call, on a virtual thread of its own. */
    void handle(HttpCall call, ResponseWriter response);

    /** The answer to bytes that are no request, or break a limit. */
    Reply refusal(int status, String message);
}
