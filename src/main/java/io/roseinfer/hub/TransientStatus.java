package io.roseinfer.hub;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;

/** An answer that may be another one in a moment: 408, 429 or 5xx. */
final class TransientStatus extends IOException {
    private static final long MAX_WAIT_SECONDS = 60;

    private final transient Optional<Duration> retryAfter;

    private TransientStatus(int status, Optional<Duration> retryAfter) {
        super("the server answered " + status);
        this.retryAfter = retryAfter;
    }

    /** Throws if the answer's status is a transient one. */
    static void throwIf(HttpResponse<?> response) throws TransientStatus {
        int status = response.statusCode();
        if (status == 408 || status == 429 || status >= 500) {
            Optional<Duration> retryAfter = response.headers()
                    .firstValue("retry-after")
                    .filter(seconds -> seconds.matches("[0-9]{1,9}"))
                    .map(seconds -> Duration.ofSeconds(Math.min(MAX_WAIT_SECONDS, Long.parseLong(seconds))));
            throw new TransientStatus(status, retryAfter);
        }
    }

    /** How long the server asks to be left alone, at most a minute. */
    Optional<Duration> retryAfter() {
        return retryAfter;
    }
}
