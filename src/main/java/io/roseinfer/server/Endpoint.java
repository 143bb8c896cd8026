package io.roseinfer.server;

import io.roseinfer.server.api.ApiError;

/** What answers at one path. */
interface Endpoint {
    /**
     * Answers one call.
     *
     * @throws ApiError if the answer is an error
     */
    void answer(Exchange exchange);
}
