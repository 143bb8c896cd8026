package io.roseinfer.server.http;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A whole answer.
 *
 * @param status the HTTP status
 * @param headers beside those that say how long the body is and whether the connection stays
 * @param body the bytes, perhaps none
 */
public record Reply(int status, Map<String, String> headers, byte[] body) {

    /** This answer with one more header, which replaces one of the same name. */
    public Reply withHeader(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(name, value);
        return new Reply(status, more, body);
    }
}
