package io.roseinfer.hub;

import io.roseinfer.base.FileFailure;
import io.roseinfer.base.Quoted;
import io.roseinfer.base.Remedy;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.BadModel;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * An HTTP client for the hub, which downloads repositories into the cache shared by all Hugging Face tools. Callers
 * follow redirects hop by hop, because redirects carry metadata, and because the token is sent to the hub's origin
 * only, never to the store.
 */
final class HubClient implements AutoCloseable {
    static final int MAX_HOPS = 6;

    /** Maximum consecutive attempts without progress. */
    static final int MAX_ATTEMPTS = 5;

    /** Maximum attempts to connect if the client has never been connected: the host is likely offline, or misspelled. */
    private static final int MAX_FIRST_CONNECTS = 3;

    private static final long MAX_RETRY_AFTER_SECONDS = 60;

    private final HubSettings settings;
    private final DownloadListener listener;
    private final RetryDelay delay;
    private final Timeouts timeouts;
    private final CacheVolume volume;
    private final HttpClient http;
    private final URI endpoint;
    private final Optional<String> token;
    private volatile boolean connected;

    /**
     * Timeouts of requests.
     *
     * @param connect for a connection
     * @param response from a request to the headers of its response
     * @param stall without data while a body is read
     */
    record Timeouts(Duration connect, Duration response, Duration stall) {
        static final Timeouts DEFAULT =
                new Timeouts(Duration.ofSeconds(15), Duration.ofSeconds(30), Duration.ofSeconds(60));
    }

    /** The delay between two attempts; tests pass a no-op. */
    @FunctionalInterface
    interface RetryDelay {
        void sleep(Duration duration) throws InterruptedException;
    }

    /** One attempt, which is repeated after an {@link IOException}. */
    @FunctionalInterface
    interface Attempt<T> {
        T run() throws IOException, InterruptedException;
    }

    /** A status that may change soon: 408, 429 or 5xx. */
    private static final class TransientStatus extends IOException {
        private final transient Optional<Duration> retryAfter;

        TransientStatus(HttpResponse<?> response) {
            super("the server returned " + response.statusCode());
            this.retryAfter = response.headers()
                    .firstValue("retry-after")
                    .filter(seconds -> seconds.matches("[0-9]{1,9}"))
                    .map(seconds -> Duration.ofSeconds(Math.min(MAX_RETRY_AFTER_SECONDS, Long.parseLong(seconds))));
        }
    }

    /**
     * Creates a client, without connecting.
     *
     * @throws BadInput if a setting is invalid
     */
    HubClient(
            HubSettings settings, DownloadListener listener, RetryDelay delay, Timeouts timeouts, CacheVolume volume) {
        this.settings = settings;
        this.listener = listener;
        this.delay = delay;
        this.timeouts = timeouts;
        this.volume = volume;
        this.http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                .connectTimeout(timeouts.connect())
                .proxy(settings.proxies())
                .build();
        this.endpoint = settings.endpoint();
        this.token = settings.token();
    }

    /**
     * Returns the download of a repository into the cache.
     *
     * @param suspects blobs whose hash is verified even if they exist
     */
    RepositoryDownload repository(HubId id, Set<Etag> suspects) {
        CacheFolder folder = new CacheFolder(settings.cacheDirectory(), id, volume);
        return new RepositoryDownload(this, id, folder, suspects);
    }

    URI endpoint() {
        return endpoint;
    }

    DownloadListener listener() {
        return listener;
    }

    /** Returns whether an address is the hub's, so that the token and the hub's entity tags apply. */
    boolean isHub(URI address) {
        return Origin.of(address).equals(Origin.of(endpoint));
    }

    /** Sends a HEAD request, without following redirects. */
    HttpResponse<Void> head(URI address) throws IOException, InterruptedException {
        HttpResponse<Void> response =
                http.send(request(address).HEAD().build(), HttpResponse.BodyHandlers.discarding());
        connected = true;
        return response;
    }

    /**
     * Sends a GET request, without following redirects. Reading the body fails if nothing arrives for the stall
     * timeout.
     */
    HttpResponse<InputStream> get(URI address, Map<String, String> headers) throws IOException, InterruptedException {
        HttpRequest.Builder request = request(address).GET();
        headers.forEach(request::header);
        return http.send(
                request.build(),
                info -> HttpResponse.BodySubscribers.mapping(
                        HttpResponse.BodySubscribers.ofInputStream(), body -> new TimedBody(body, timeouts.stall())));
    }

    private HttpRequest.Builder request(URI address) {
        HttpRequest.Builder request = HttpRequest.newBuilder(address)
                .timeout(timeouts.response())
                .header("User-Agent", "roseinfer")
                .header("Accept-Encoding", "identity");
        if (isHub(address)) {
            token.ifPresent(value -> request.header("Authorization", "Bearer " + value));
        }
        return request;
    }

    /** Returns the error for a response that is neither a success nor a redirect, and not worth another attempt. */
    BadModel refusal(HubId id, String file, HttpResponse<?> response) {
        return new HubRefusal(settings, id).of(file, response);
    }

    /** Throws if another attempt may return another status. */
    static void requireLasting(HttpResponse<?> response) throws IOException {
        int status = response.statusCode();
        if (status == 408 || status == 429 || status >= 500) {
            throw new TransientStatus(response);
        }
    }

    /**
     * Returns the address that a response redirects to, if it does.
     *
     * @throws BadModel if the target is not a web address, or not encrypted although the source is
     */
    static Optional<URI> redirect(URI from, HttpResponse<?> response) {
        Optional<String> location = response.headers().firstValue("location");
        boolean redirects =
                switch (response.statusCode()) {
                    case 301, 302, 303, 307, 308 -> true;
                    default -> false;
                };
        if (!redirects || location.isEmpty()) {
            return Optional.empty();
        }
        URI target;
        try {
            target = from.resolve(location.get());
        } catch (IllegalArgumentException e) {
            throw badRedirect(from, location.get());
        }
        boolean downgrade = "https".equalsIgnoreCase(from.getScheme()) && "http".equalsIgnoreCase(target.getScheme());
        if (!Origin.isWeb(target) || downgrade) {
            throw badRedirect(from, location.get());
        }
        return Optional.of(target);
    }

    private static BadModel badRedirect(URI from, String location) {
        return new BadModel(from.getHost() + " redirects to " + Quoted.name(location)
                + ", which is not a safe address; check HF_ENDPOINT");
    }

    /**
     * Retries attempts that fail on the way to the hub. Rejections by the hub are not retried. A hub that cannot be
     * connected to at first has fewer attempts.
     *
     * @param id the repository, for messages
     * @param maxAttempts maximum consecutive attempts without progress
     * @param progress a position; an attempt that gets further than all before resets the count
     */
    <T> T retry(HubId id, String file, int maxAttempts, LongSupplier progress, Attempt<T> attempt) {
        try {
            long furthest = progress.getAsLong();
            for (int failures = 1; ; failures++) {
                try {
                    return attempt.run();
                } catch (IOException e) {
                    if (Thread.interrupted()) {
                        throw (InterruptedException) new InterruptedException().initCause(e);
                    }
                    long reached = progress.getAsLong();
                    if (reached > furthest) {
                        furthest = reached;
                        failures = 1;
                    }
                    int max = !connected && isRefused(e) ? Math.min(maxAttempts, MAX_FIRST_CONNECTS) : maxAttempts;
                    if (failures >= max) {
                        throw gaveUp(id, file, failures, e);
                    }
                    listener.retrying(file, failures + 1, max, reason(e, " to " + endpoint));
                    delay.sleep(delayAfter(failures, e));
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw BadModel.notDownloaded(
                    "download of " + Quoted.name(file) + " was interrupted; try again to resume it", e);
        }
    }

    private BadModel gaveUp(HubId id, String file, int attempts, IOException cause) {
        return BadModel.notDownloaded(
                "model " + id + " is not a local directory, and the download of " + Quoted.name(file) + " from "
                        + endpoint + " failed " + (attempts == 1 ? "once" : attempts + " times") + ": " + reason(cause),
                cause,
                Remedy.of(
                        "check the network and HF_ENDPOINT and try again to resume, or set %s to a local directory",
                        "model"));
    }

    private static Duration delayAfter(int failures, IOException cause) {
        Duration backoff = Duration.ofSeconds(1L << (failures - 1));
        return cause instanceof TransientStatus status ? status.retryAfter.orElse(backoff) : backoff;
    }

    private static String reason(IOException failure) {
        return reason(failure, "");
    }

    /** Returns the reason without the wrapper exception of the JDK's client; {@code target} follows "cannot connect". */
    private static String reason(IOException failure, String target) {
        return isRefused(failure)
                ? "cannot connect" + target + " (connection refused or host unknown)"
                : FileFailure.reason(cause(failure));
    }

    private static boolean isRefused(IOException failure) {
        return cause(failure) instanceof ConnectException;
    }

    private static IOException cause(IOException failure) {
        return failure.getCause() instanceof IOException inner ? inner : failure;
    }

    @Override
    public void close() {
        http.shutdownNow();
        http.close();
    }
}
