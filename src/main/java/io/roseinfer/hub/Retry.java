package io.roseinfer.hub;

import io.roseinfer.base.FileFailure;
import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadModel;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Repeats what failed on the way to the hub, until a number of attempts in a row brought nothing; what the hub itself refuses is not
 * repeated.
 */
final class Retry {
    static final int ATTEMPTS = 5;

    private final URI endpoint;
    private final DownloadListener listener;
    private final Pause pause;
    private final int attempts;

    Retry(URI endpoint, DownloadListener listener, Pause pause) {
        this(endpoint, listener, pause, ATTEMPTS);
    }

    /**
     * @param attempts how many attempts in a row may bring nothing
     */
    Retry(URI endpoint, DownloadListener listener, Pause pause, int attempts) {
        this.attempts = attempts;
        this.endpoint = endpoint;
        this.listener = listener;
        this.pause = pause;
    }

    /** One try; an {@link IOException} is worth another. */
    @FunctionalInterface
    interface Attempt<T> {
        T run() throws IOException, InterruptedException;
    }

    /** Runs attempts of which none brings anything but its result. */
    <T> T run(String file, Attempt<T> attempt) {
        return run(file, attempt, () -> 0);
    }

    /**
     * Runs attempts that go on where the one before broke off.
     *
     * @param progress how far they have come; an attempt that came further than all before counts as none that failed
     */
    <T> T run(String file, Attempt<T> attempt, LongSupplier progress) {
        try {
            long furthest = progress.getAsLong();
            for (int failures = 1; ; failures++) {
                try {
                    return attempt.run();
                } catch (IOException e) {
                    long reached = progress.getAsLong();
                    if (reached > furthest) {
                        furthest = reached;
                        failures = 1;
                    }
                    if (failures == attempts) {
                        throw gaveUp(file, e);
                    }
                    listener.retrying(file, reason(e));
                    pause.pause(waitAfter(failures, e));
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BadModel("download of " + Quoted.name(file) + " was interrupted; run again to resume it", e);
        }
    }

    private BadModel gaveUp(String file, IOException cause) {
        return new BadModel(
                "download of " + Quoted.name(file) + " from " + endpoint + " failed " + times() + ": "
                        + reason(cause)
                        + "; check the network and HF_ENDPOINT and run again to resume, or give --model a local directory",
                cause);
    }

    private String times() {
        return attempts == 1 ? "once" : attempts + " times";
    }

    private static Duration waitAfter(int failures, IOException cause) {
        Duration backoff = Duration.ofSeconds(1L << (failures - 1));
        return cause instanceof TransientStatus status ? status.retryAfter().orElse(backoff) : backoff;
    }

    private static String reason(IOException cause) {
        if (cause instanceof ConnectException) {
            return "cannot connect (connection refused or host unknown)";
        }
        return FileFailure.reason(cause);
    }
}
