package io.roseinfer.server.http;

import io.roseinfer.server.http.ConnectionLimit.Admission;

/**
 * The client's end of a connection.
 *
 * @param address its IP address, or {@link #UNKNOWN}
 * @param admission how the connection was admitted
 * @param limit counts the connection
 */
record Peer(String address, Admission admission, ConnectionLimit limit) {
    /** The address of a client that has disconnected before it was read. */
    static final String UNKNOWN = "-";

    /** Returns whether the connection may send one request only, for a probe. */
    boolean isForProbes() {
        return admission == Admission.RESERVED;
    }

    /**
     * Counts the connection as closed.
     *
     * @param served whether a request of it was served
     */
    void closed(boolean served) {
        if (isForProbes() && !served) {
            limit.rejected();
        }
        limit.closed(admission);
    }
}
