package io.roseinfer.engine;

import io.roseinfer.engine.routing.RoutedRequest;
import io.roseinfer.scheduler.ExtensionFailure;
import java.util.Optional;
import java.util.stream.IntStream;

/** The view of a request for routing policies, until it is closed. */
final class RoutedView implements RoutedRequest {
    private final LiveRequest request;
    private final boolean showsPrefixes;
    private boolean isClosed;

    /** Creates a view for the engine and its policies, which use prefixes. */
    RoutedView(LiveRequest request) {
        this(request, true);
    }

    /**
     * Creates a view.
     *
     * @param showsPrefixes whether the policy uses prefixes
     */
    RoutedView(LiveRequest request, boolean showsPrefixes) {
        this.request = request;
        this.showsPrefixes = showsPrefixes;
    }

    /** Makes further use a misuse. */
    void close() {
        isClosed = true;
    }

    private LiveRequest live() {
        if (isClosed) {
            throw new ExtensionFailure.Misuse("uses a RoutedRequest after the call that it was passed to");
        }
        return request;
    }

    private long[] hashes() {
        if (!showsPrefixes) {
            throw new ExtensionFailure.Misuse(
                    "uses prefixes or cachedTokens without overriding usesPrefixes to return true");
        }
        return live().prefixes();
    }

    /** Returns the hashes of a request's prefixes; not to be modified. */
    static long[] hashes(RoutedRequest request) {
        return request instanceof RoutedView view
                ? view.hashes()
                : IntStream.range(0, request.prefixes())
                        .mapToLong(request::prefix)
                        .toArray();
    }

    private RequestOptions options() {
        return live().request().options();
    }

    @Override
    public long id() {
        return live().id();
    }

    @Override
    public int promptTokens() {
        return live().promptTokens();
    }

    @Override
    public int prefixes() {
        return hashes().length;
    }

    @Override
    public long prefix(int index) {
        return hashes()[index];
    }

    @Override
    public int maxNewTokens() {
        return live().request().maxNewTokens();
    }

    @Override
    public int predictedNewTokens() {
        return options().predictedNewTokens().orElse(maxNewTokens());
    }

    @Override
    public long arrivalNanos() {
        return live().arrivalNanos();
    }

    @Override
    public long nowNanos() {
        return live().tokenizedNanos();
    }

    @Override
    public long deadlineNanos() {
        return live().deadlineNanos();
    }

    @Override
    public int priority() {
        return options().priority();
    }

    @Override
    public String tenant() {
        return options().tenant();
    }

    @Override
    public Optional<Object> tag() {
        return options().tag();
    }

    @Override
    public String toString() {
        return "request " + request.id();
    }
}
