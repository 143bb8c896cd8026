package io.roseinfer.server.http;

import io.roseinfer.base.RoseException.BadInput;
import java.time.Duration;
import java.util.Objects;

/**
 * Limits per client. A connection that exceeds one gets an error or is closed.
 *
 * @param bodyBytes maximum size of a request body; larger ones are answered 413
 * @param heldBytes maximum bytes of all request bodies in memory; beyond it the response is 503, for bodies above 64
 *     KiB beyond half of it
 * @param headerBytes maximum size of a request's headers; larger ones are answered 431
 * @param headers maximum number of headers per request; more are answered 431
 * @param connections maximum open connections; up to 64 more are served probes only, further ones are closed at once
 * @param headTimeout from a request's first byte, or a connection's beginning, to the end of the headers; a late
 *     request is answered 408
 * @param bodyTimeout from the end of the headers to the end of the body; a late body is answered 408
 * @param idleTimeout between two requests of a connection
 * @param writeStall how long a client may read nothing of what is written to it
 */
public record HttpLimits(
        int bodyBytes,
        long heldBytes,
        int headerBytes,
        int headers,
        int connections,
        Duration headTimeout,
        Duration bodyTimeout,
        Duration idleTimeout,
        Duration writeStall) {

    private static final int BODY_BYTES = 4 << 20;

    /** The head timeout of connections beyond the maximum, so that idle ones leave soon. */
    private static final Duration PROBE_HEAD = Duration.ofSeconds(1);

    public HttpLimits {
        requirePositive("the largest body", bodyBytes);
        if (heldBytes < 2L * bodyBytes) {
            throw new BadInput("the memory for bodies is " + heldBytes
                    + " bytes; it must be at least twice the largest body, " + 2L * bodyBytes);
        }
        requirePositive("the size of the headers", headerBytes);
        requirePositive("the number of headers", headers);
        requirePositive("the number of connections", connections);
        requirePositive("the time for headers", Objects.requireNonNull(headTimeout, "headTimeout"));
        requirePositive("the time for a body", Objects.requireNonNull(bodyTimeout, "bodyTimeout"));
        requirePositive("the idle time", Objects.requireNonNull(idleTimeout, "idleTimeout"));
        requirePositive("the time for a stalled write", Objects.requireNonNull(writeStall, "writeStall"));
    }

    private static void requirePositive(String what, int value) {
        if (value < 1) {
            throw new BadInput(what + " is " + value + "; it must be positive");
        }
    }

    private static void requirePositive(String what, Duration value) {
        if (value.isNegative() || value.isZero()) {
            throw new BadInput(what + " is " + value + "; it must be positive");
        }
    }

    /**
     * Returns the defaults: 4 MiB per body, a sixteenth of the heap for all bodies, 16 KiB and 100 headers, and 4096
     * connections. The timeouts are 10 s for headers, 30 s for a body, 60 s idle and 9 s stalled.
     */
    public static HttpLimits defaults() {
        return new HttpLimits(
                BODY_BYTES,
                Math.max(2L * BODY_BYTES, Runtime.getRuntime().maxMemory() / 16),
                16 << 10,
                100,
                4096,
                Duration.ofSeconds(10),
                Duration.ofSeconds(30),
                Duration.ofSeconds(60),
                Duration.ofSeconds(9));
    }

    public HttpLimits withConnections(int value) {
        return new HttpLimits(
                bodyBytes, heldBytes, headerBytes, headers, value, headTimeout, bodyTimeout, idleTimeout, writeStall);
    }

    /** Returns the limits of a connection beyond the maximum. */
    HttpLimits forProbes() {
        return headTimeout.compareTo(PROBE_HEAD) <= 0 ? this : withTimeouts(PROBE_HEAD, bodyTimeout, idleTimeout);
    }

    public HttpLimits withTimeouts(Duration head, Duration body, Duration idle) {
        return new HttpLimits(bodyBytes, heldBytes, headerBytes, headers, connections, head, body, idle, writeStall);
    }

    public HttpLimits withWriteStall(Duration value) {
        return new HttpLimits(
                bodyBytes, heldBytes, headerBytes, headers, connections, headTimeout, bodyTimeout, idleTimeout, value);
    }

    public HttpLimits withHeldBytes(long value) {
        return new HttpLimits(
                bodyBytes, value, headerBytes, headers, connections, headTimeout, bodyTimeout, idleTimeout, writeStall);
    }
}
