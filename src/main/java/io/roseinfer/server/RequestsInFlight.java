package io.roseinfer.server;

import io.roseinfer.base.Clock;
import io.roseinfer.base.StrictJson;
import io.roseinfer.observe.ObservedRequest;
import io.roseinfer.observe.RequestObserver;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.server.http.Reply;
import java.util.Comparator;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The requests that the engine has accepted and not finished, for {@code GET /debug/requests}. It has no access to
 * their texts.
 */
final class RequestsInFlight implements RequestObserver {
    /**
     * Data about a request that only the server knows; it is the request's tag.
     *
     * @param requestId the call's id, which a client may have chosen
     * @param choice its index among the completions of its call
     * @param arrivedNanos when the call arrived
     */
    record Origin(String requestId, int choice, boolean stream, int maxTokens, int priority, long arrivedNanos) {}

    /**
     * Whether requests have been part of a step, by the request itself, so that the engine's thread allocates nothing
     * here.
     */
    private final ConcurrentMap<ObservedRequest, Boolean> running = new ConcurrentHashMap<>();

    private final LongAdder endedTokens = new LongAdder();
    private final AtomicLong highest = new AtomicLong();

    @Override
    public void accepted(ObservedRequest request) {
        running.put(request, false);
    }

    @Override
    public void withdrawn(ObservedRequest request) {
        running.remove(request);
    }

    @Override
    public void admitted(ObservedRequest request) {
        running.replace(request, true);
    }

    @Override
    public void ended(ObservedRequest request, FinishReason reason) {
        // In this order, and read in the other, no token is counted twice.
        running.remove(request);
        endedTokens.add(request.generatedTokens());
    }

    /** Returns the tokens generated so far, including requests in flight. It never decreases. */
    long generatedTokens() {
        long ended = endedTokens.sum();
        long live = running.keySet().stream()
                .mapToLong(ObservedRequest::generatedTokens)
                .sum();
        return highest.accumulateAndGet(ended + live, Math::max);
    }

    /**
     * Handles {@code GET /debug/requests}: the requests, oldest first. The counts of a request being computed may be a
     * step behind.
     */
    Reply list(Exchange exchange, Clock clock) {
        ObjectNode list = StrictJson.mapper().createObjectNode().put("object", "list");
        ArrayNode data = list.putArray("data");
        long nowNanos = clock.nanos();
        running.entrySet().stream()
                .sorted(Comparator.comparingLong(entry -> entry.getKey().id()))
                .forEach(entry -> describe(data.addObject(), entry.getKey(), entry.getValue(), nowNanos));
        return exchange.reply(list);
    }

    private static void describe(ObjectNode node, ObservedRequest request, boolean isRunning, long nowNanos) {
        request.tag()
                .filter(Origin.class::isInstance)
                .map(Origin.class::cast)
                .ifPresent(origin -> node.put("request_id", origin.requestId())
                        .put("index", origin.choice())
                        .put("stream", origin.stream())
                        .put("max_tokens", origin.maxTokens())
                        .put("priority", origin.priority())
                        .put("age_ms", (nowNanos - origin.arrivedNanos()) / 1e6));
        node.put("state", isRunning ? "running" : "waiting")
                .put("prompt_tokens", request.promptTokens())
                .put("cached_tokens", request.cachedTokens())
                .put("generated_tokens", request.generatedTokens());
    }
}
