package io.roseinfer.server;

import io.roseinfer.server.api.ApiError;
import java.util.concurrent.atomic.AtomicLong;

/** The heap for the log-probabilities of all calls in flight. Thread-safe. */
final class LogprobBudget {
    private static final int MIB = 1 << 20;

    private final long limit;
    private final AtomicLong reserved = new AtomicLong();

    /** Memory of one call, until it is closed. */
    interface Share extends AutoCloseable {
        @Override
        void close();
    }

    LogprobBudget(long limit) {
        this.limit = limit;
    }

    /**
     * Reserves memory for a call.
     *
     * @throws ApiError with status 400 if it never fits, or 503 if it does not fit now
     */
    Share reserve(long bytes) {
        if (bytes > limit) {
            throw ApiError.badRequest("the log-probabilities of this call may take " + Math.ceilDiv(bytes, MIB)
                    + " MiB; this server allows " + limit / MIB
                    + " MiB: reduce logprobs, prompt_logprobs, max_tokens, n or the number of prompts");
        }
        if (reserved.addAndGet(bytes) > limit) {
            reserved.addAndGet(-bytes);
            throw ApiError.unavailable("the memory for log-probabilities is in use by other requests; try again later");
        }
        return () -> reserved.addAndGet(-bytes);
    }
}
