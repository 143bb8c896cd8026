package io.roseinfer.server.http;

import java.util.Map;
import java.util.Optional;

/**
 * A request that has come in whole.
 *
 * @param method in capitals, as {@code POST}
 * @param path without the query, not decoded
 * @param query what stands behind the path's question mark, not decoded; empty without one
 * @param headers by name in lower case; of a header that is repeated the first value
 * @param body the bytes, perhaps none
 * @param arrival when it came
 */
public record HttpCall(
        String method, String path, String query, Map<String, String> headers, RequestBody body, Arrival arrival) {
    /** Stands for a request whose method and path could not be read. */
    public static final HttpCall UNREADABLE =
            new HttpCall("-", "-", "", Map.of(), new RequestBody(new BodyBudget(0), new byte[0]), new Arrival(0, 0, 0));

    /**
     * When the parts of a request came, in nanoseconds of the server's clock.
     *
     * @param firstByteNanos its first bytes were read off the socket
     * @param headNanos its headers were whole
     * @param bodyNanos its body was whole
     */
    public record Arrival(long firstByteNanos, long headNanos, long bodyNanos) {}

    /** The value of a header, by its name in lower case. */
    public Optional<String> header(String name) {
        return Optional.ofNullable(headers.get(name));
    }
}
