package io.roseinfer.server;

import io.roseinfer.server.api.ApiError;
import io.roseinfer.server.http.ResponseWriter;

/** Handles the bodies that are posted to one path. */
interface Endpoint {
    /**
     * Answers one call.
     *
     * @throws ApiError if the answer is an error
     */
    void answer(Exchange exchange, ResponseWriter response);
}
