package io.roseinfer.engine;

import io.roseinfer.engine.routing.RoutedRequest;
import java.util.Optional;
import java.util.stream.IntStream;

/** The view of a request for routing policies. */
record RoutedView(LiveRequest live) implements RoutedRequest {
    /** Returns the hashes of a request's prefixes; not to be modified. */
    static long[] hashes(RoutedRequest request) {
        return request instanceof RoutedView view
                ? view.live.prefixes()
                : IntStream.range(0, request.prefixes())
                        .mapToLong(request::prefix)
                        .toArray();
    }

    private RequestOptions options() {
        return live.request().options();
    }

    @Override
    public long id() {
        return live.id();
    }

    @Override
    public int promptTokens() {
        return live.promptTokens();
    }

    @Override
    public int prefixes() {
        return live.prefixes().length;
    }

    @Override
    public long prefix(int index) {
        return live.prefixes()[index];
    }

    @Override
    public int maxNewTokens() {
        return live.request().maxNewTokens();
    }

    @Override
    public int predictedNewTokens() {
        return options().predictedNewTokens().orElse(maxNewTokens());
    }

    @Override
    public long arrivalNanos() {
        return live.arrivalNanos();
    }

    @Override
    public long nowNanos() {
        return live.tokenizedNanos();
    }

    @Override
    public long deadlineNanos() {
        return live.deadlineNanos();
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
        return "request " + id();
    }
}
