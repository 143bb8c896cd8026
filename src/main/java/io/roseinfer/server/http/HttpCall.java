package io.roseinfer.server.http;

import io.roseinfer.base.Clock;
import java.util.Map;
import java.util.Optional;

/**
 * A completely received request.
 *
 * @param method in capitals, such as {@code POST}
 * @param path without the query, not decoded
 * @param query the part after the path's question mark, not decoded; empty without one
 * @param headers by name in lower case; the first value of a repeated header
 * @param body the bytes, perhaps none
 * @param arrival when it arrived
 * @param client IP address of the connection's other end, which may be a proxy; {@code -} if unknown
 */
public record HttpCall(
        String method,
        String path,
        String query,
        Map<String, String> headers,
        RequestBody body,
        Arrival arrival,
        String client) {
    private static final RequestBody NO_BODY = new RequestBody(new BodyBudget(0, Clock.system()), new byte[0]);

    /** Returns a stand-in for a request whose method and path could not be parsed; both are {@code -}. */
    static HttpCall unreadable(String client, long firstByteNanos) {
        Arrival arrival = new Arrival(firstByteNanos, firstByteNanos, firstByteNanos);
        return new HttpCall("-", "-", "", Map.of(), NO_BODY, arrival, client);
    }

    /**
     * Arrival times of a request's parts, in nanoseconds of the server's clock.
     *
     * @param firstByteNanos when its first bytes were read from the socket
     * @param headNanos when its headers were complete
     * @param bodyNanos when its body was complete
     */
    public record Arrival(long firstByteNanos, long headNanos, long bodyNanos) {}

    /** Returns the value of a header, by its name in lower case. */
    public Optional<String> header(String name) {
        return Optional.ofNullable(headers.get(name));
    }
}
