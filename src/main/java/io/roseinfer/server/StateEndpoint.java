package io.roseinfer.server;

import io.roseinfer.server.api.ApiError;
import io.roseinfer.server.http.Reply;

/** Answers requests for the server's state at one path. */
interface StateEndpoint {
    /**
     * Makes the response, without waiting for anything.
     *
     * @throws ApiError if the response is an error
     */
    Reply answer(Exchange exchange);
}
