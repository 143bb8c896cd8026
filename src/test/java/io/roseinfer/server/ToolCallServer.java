package io.roseinfer.server;

import java.io.IOException;

/**
 * A server whose model calls {@code get_weather} and then answers, again and again, for clients in other languages.
 *
 * <p>{@code tools/tool-clients} starts it; it prints its address and serves until its standard input ends.
 */
final class ToolCallServer {
    private static final String CALL =
            "Let me look.\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"place\": \"Bern\"}}\n</tool_call>";

    private ToolCallServer() {}

    /** Serves until the standard input ends. */
    public static void main(String[] args) throws IOException {
        try (TestServer server = ToolCallsTest.startShort(CALL, "It is 18 degrees in Bern.")) {
            System.out.println("http://127.0.0.1:" + server.address().getPort());
            while (System.in.read() >= 0) {
                // Serve on.
            }
        }
    }
}
