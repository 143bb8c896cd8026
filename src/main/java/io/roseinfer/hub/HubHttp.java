package io.roseinfer.hub;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.BadModel;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;

/**
 * HTTP as the hub needs it. Redirects are followed by the caller, hop by hop, because they carry the metadata and because the
 * token goes to the hub's own origin only, never to the store that a redirect leads to.
 */
final class HubHttp implements AutoCloseable {
    static final int MAX_HOPS = 6;

    private final HubSettings settings;
    private final HubTimeouts timeouts;
    private final HttpClient client;

    HubHttp(HubSettings settings, HubTimeouts timeouts) {
        this.settings = settings;
        this.timeouts = timeouts;
        this.client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                .connectTimeout(timeouts.connect())
                .proxy(settings.proxies().selector())
                .build();
    }

    /** Whether an address is the hub's own, so that the token and the hub's entity tags mean something there. */
    boolean isHub(URI address) {
        return Origin.of(address).equals(Origin.of(settings.endpoint()));
    }

    HttpResponse<Void> head(URI address) throws IOException, InterruptedException {
        HttpRequest request = request(address).HEAD().build();
        return await(client.sendAsync(request, HttpResponse.BodyHandlers.discarding()), () -> 0);
    }

    /**
     * Gets an address; no redirect is followed.
     *
     * @param arrived grows while the body comes in; once it stands still for the stall timeout, the request is given up
     */
    HttpResponse<Void> get(
            URI address, Map<String, String> headers, HttpResponse.BodyHandler<Void> body, LongSupplier arrived)
            throws IOException, InterruptedException {
        HttpRequest.Builder request = request(address).GET();
        headers.forEach(request::header);
        return await(client.sendAsync(request.build(), body), arrived);
    }

    private HttpRequest.Builder request(URI address) {
        HttpRequest.Builder request = HttpRequest.newBuilder(address)
                .timeout(timeouts.response())
                .header("User-Agent", "roseinfer")
                .header("Accept-Encoding", "identity");
        if (isHub(address)) {
            settings.token().ifPresent(token -> request.header("Authorization", "Bearer " + token));
        }
        return request;
    }

    private <T> T await(CompletableFuture<T> answer, LongSupplier arrived) throws IOException, InterruptedException {
        long patienceNanos = timeouts.stall().plus(timeouts.response()).toNanos();
        long seen = arrived.getAsLong();
        try {
            while (true) {
                try {
                    return answer.get(patienceNanos, TimeUnit.NANOSECONDS);
                } catch (TimeoutException e) {
                    long now = arrived.getAsLong();
                    if (now == seen) {
                        throw new HttpTimeoutException("nothing arrived for " + timeouts.stall());
                    }
                    seen = now;
                    patienceNanos = timeouts.stall().toNanos();
                }
            }
        } catch (ExecutionException e) {
            throw unwrapped(e.getCause() == null ? e : e.getCause());
        } finally {
            answer.cancel(true);
        }
    }

    private static IOException unwrapped(Throwable cause) {
        return switch (cause) {
            case RoseException refusal -> throw refusal;
            case IOException failure -> failure;
            default -> new IOException(cause);
        };
    }

    /**
     * Where an answer redirects to, if it does.
     *
     * @throws BadModel if the target is no web address, or would leave encryption behind
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
                + ", which is no address to download from safely; check HF_ENDPOINT");
    }

    @Override
    public void close() {
        client.shutdownNow();
        client.close();
    }
}
