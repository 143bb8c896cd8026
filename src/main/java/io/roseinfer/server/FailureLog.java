package io.roseinfer.server;

import io.roseinfer.base.Clock;
import io.roseinfer.base.Quoted;
import io.roseinfer.server.http.HttpCall;
import io.roseinfer.server.http.MessageLimit;

/**
 * Logs requests that an endpoint answers with a status from 500, unless the access log has a line for each request.
 * Probes of supervisors, whose 503 is an answer, are left out. Thread-safe.
 */
final class FailureLog {
    /** Messages per minute, so that a failed server does not fill a disk. */
    static final int MAX_PER_MINUTE = 60;

    private static final int FIRST_FAILURE = 500;
    private static final System.Logger LOGGER = System.getLogger("io.roseinfer.server");

    private final AccessLog log;
    private final MessageLimit limit;

    FailureLog(AccessLog log, Clock clock) {
        this.log = log;
        this.limit = new MessageLimit(MAX_PER_MINUTE, clock);
    }

    void done(Exchange exchange) {
        HttpCall call = exchange.call();
        if (log.isOn()
                || exchange.status() < FIRST_FAILURE
                || Api.SUPERVISED.contains(call.path())
                || !limit.tryLog()) {
            return;
        }
        LOGGER.log(
                exchange.status() == FIRST_FAILURE ? System.Logger.Level.ERROR : System.Logger.Level.WARNING,
                "status " + exchange.status() + " for " + Quoted.value(call.path()) + Api.named(exchange) + ": "
                        + exchange.error().orElse("no message"));
    }
}
