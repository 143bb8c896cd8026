package io.roseinfer.server.http;

import java.util.Map;

/**
 * A complete response.
 *
 * @param status the HTTP status
 * @param headers all except those about the body's length and the connection
 * @param body the bytes, perhaps none
 */
public record Reply(int status, Map<String, String> headers, byte[] body) {}
