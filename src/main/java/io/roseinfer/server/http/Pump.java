package io.roseinfer.server.http;

import io.roseinfer.server.http.ResponseWriter.ClientGone;

/** Moves an answer's bytes from their source to the client, on the connection's thread. */
public interface Pump {
    /** Says that the source has something to append. Any thread, any number of times; never waits. */
    void ready();

    /**
     * Waits until the source has appended all, and the socket has been given it.
     *
     * @throws ClientGone if the client has left or takes nothing
     * @throws RuntimeException what the source has thrown
     */
    void await();
}
