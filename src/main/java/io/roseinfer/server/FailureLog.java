package io.roseinfer.server;

import io.roseinfer.base.Clock;
import io.roseinfer.base.Quoted;
import io.roseinfer.server.http.HttpCall;
import io.roseinfer.server.http.MessageLimit;
import java.util.concurrent.atomic.LongAdder;

/**
 * Logs requests that an endpoint answers with a status from 500, unless the access log does. In any case it logs, once a
 * minute, that requests are rejected for overload, and how many timed out. Probes of supervisors, whose 503 is an
 * answer, are left out. Thread-safe.
 */
final class FailureLog {
    /** Messages per minute, so that a failed server does not fill a disk. */
    static final int MAX_PER_MINUTE = 60;

    private static final int OVERLOADED = 429;
    private static final int FIRST_FAILURE = 500;
    private static final System.Logger LOGGER = System.getLogger("io.roseinfer.server");

    private final AccessLog log;
    private final MessageLimit limit;
    private final MessageLimit overloads;
    private final MessageLimit timeouts;
    /** Requests with completions, and those that timed out, since the last message about timeouts. */
    private final LongAdder requests = new LongAdder();

    private final LongAdder timedOut = new LongAdder();

    FailureLog(AccessLog log, Clock clock) {
        this.log = log;
        this.limit = new MessageLimit(MAX_PER_MINUTE, clock);
        this.overloads = new MessageLimit(1, clock);
        this.timeouts = new MessageLimit(1, clock);
    }

    void done(Exchange exchange) {
        if (exchange.served().isPresent()) {
            requests.increment();
        }
        if (exchange.hasTimedOut()) {
            timedOut.increment();
            if (timeouts.tryLog()) {
                LOGGER.log(
                        System.Logger.Level.WARNING,
                        timedOut.sumThenReset() + " of " + requests.sumThenReset()
                                + " requests timed out since the last such message; admit fewer at a time: lower"
                                + " max_inflight_requests");
            }
        } else if (exchange.status() >= FIRST_FAILURE && !log.isOn()) {
            failed(exchange);
        } else if (exchange.status() == OVERLOADED && overloads.tryLog()) {
            LOGGER.log(System.Logger.Level.WARNING, "requests are rejected with status 429: " + reason(exchange));
        }
    }

    private void failed(Exchange exchange) {
        HttpCall call = exchange.call();
        if (!Api.SUPERVISED.contains(call.path()) && limit.tryLog()) {
            LOGGER.log(
                    exchange.status() == FIRST_FAILURE ? System.Logger.Level.ERROR : System.Logger.Level.WARNING,
                    "status " + exchange.status() + " for " + Quoted.value(call.path()) + Api.named(exchange) + ": "
                            + reason(exchange));
        }
    }

    private static String reason(Exchange exchange) {
        return exchange.error().orElse("no message");
    }
}
