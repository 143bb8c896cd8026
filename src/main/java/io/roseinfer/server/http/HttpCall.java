package io.roseinfer.server.http;

import java.util.Map;
import java.util.Optional;

/**
 * A request that has come in whole.
 *
 * @param method in capitals, as {@code POST}
 * @param path without the query, not decoded
 * @param headers by name in lower case; of a header that is repeated the first value
 * @param body the bytes, perhaps none
 */
public record HttpCall(String method, String path, Map<String, String> headers, byte[] body) {

    /** The value of a header, by its name in lower case. */
    public Optional<String> header(String name) {
        return Optional.ofNullable(headers.get(name));
    }
}
