package io.roseinfer.server.http;

import java.util.Map;

/**
 * A whole answer.
 *
 * @param status the HTTP status
 * @param headers beside those that say how long the body is and whether the connection stays
 * @param body the bytes, perhaps none
 */
public record Reply(int status, Map<String, String> headers, byte[] body) {}
