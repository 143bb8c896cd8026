package io.roseinfer.hub;

import java.time.Duration;

/**
 * How long the hub may keep us waiting.
 *
 * @param connect for a connection
 * @param response from a request to its answer's headers
 * @param stall between two pieces of a body
 */
record HubTimeouts(Duration connect, Duration response, Duration stall) {
    static final HubTimeouts DEFAULT =
            new HubTimeouts(Duration.ofSeconds(15), Duration.ofSeconds(30), Duration.ofSeconds(60));
}
