package io.roseinfer.server;

import io.roseinfer.base.Clock;
import io.roseinfer.base.StrictJson;
import io.roseinfer.metrics.RequestTimeline;
import io.roseinfer.observe.ObservedRequest;
import io.roseinfer.observe.RequestEvent;
import io.roseinfer.observe.RequestObserver;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.server.http.Reply;
import java.util.Comparator;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The requests that the engine has accepted but not finished, for {@code GET /debug/requests} and for the times of
 * tokens in {@code GET /metrics}. It has no access to their texts.
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

    /** The state of a request that its {@link ObservedRequest} does not have. */
    private static final class Progress {
        /** Whether the server submitted it, and so takes its tokens. */
        final boolean isServed;

        /** Whether it has been part of a step. */
        volatile boolean isRunning;

        /** Tokens whose times were taken. */
        int takenTokens;

        Progress(ObservedRequest request) {
            isServed = request.tag().filter(Origin.class::isInstance).isPresent();
        }
    }

    private record Ended(ObservedRequest request, Progress progress) {}

    /** Receives the times of a request's tokens. */
    @FunctionalInterface
    interface TokenSink {
        /** Takes the times of all tokens so far; those before {@code from} were taken before. */
        void take(RequestTimeline timeline, int from);
    }

    private final ConcurrentMap<ObservedRequest, Progress> live = new ConcurrentHashMap<>();

    /** Requests that have ended since their last tokens were taken. */
    private final Queue<Ended> endedRequests = new ConcurrentLinkedQueue<>();

    private final LongAdder endedTokens = new LongAdder();
    private final AtomicLong highest = new AtomicLong();

    @Override
    public void on(RequestEvent event) {
        switch (event) {
            case RequestEvent.Accepted(ObservedRequest request) -> live.put(request, new Progress(request));
            case RequestEvent.Withdrawn(ObservedRequest request) -> live.remove(request);
            case RequestEvent.Admitted(ObservedRequest request) -> setRunning(request);
            case RequestEvent.Ended(ObservedRequest request, FinishReason _) -> end(request);
            default -> {}
        }
    }

    private void setRunning(ObservedRequest request) {
        Progress progress = live.get(request);
        if (progress != null) {
            progress.isRunning = true;
        }
    }

    private void end(ObservedRequest request) {
        // In this order, and read in the other, no token is counted twice.
        Progress progress = live.remove(request);
        endedTokens.add(request.generatedTokens());
        if (progress != null && progress.isServed) {
            endedRequests.add(new Ended(request, progress));
        }
    }

    /** Passes the tokens of the server's ended requests to {@code sink}, each once. */
    synchronized void takeEnded(TokenSink sink) {
        for (Ended next = endedRequests.poll(); next != null; next = endedRequests.poll()) {
            take(next.request, next.progress, sink);
        }
    }

    /** Passes the tokens of all the server's requests so far to {@code sink}, each once. */
    synchronized void takeAll(TokenSink sink) {
        live.forEach((request, progress) -> take(request, progress, sink));
        takeEnded(sink);
    }

    private static void take(ObservedRequest request, Progress progress, TokenSink sink) {
        if (progress.isServed && request.generatedTokens() > progress.takenTokens) {
            RequestTimeline timeline = request.timeline();
            sink.take(timeline, progress.takenTokens);
            progress.takenTokens = timeline.tokens();
        }
    }

    /** Returns the tokens generated so far, including requests in flight. It never decreases. */
    long generatedTokens() {
        long ended = endedTokens.sum();
        long current = live.keySet().stream()
                .mapToLong(ObservedRequest::generatedTokens)
                .sum();
        return highest.accumulateAndGet(ended + current, Math::max);
    }

    /**
     * Handles {@code GET /debug/requests}: the requests, oldest first. The counts of a request being computed may be a
     * step behind.
     */
    Reply list(Exchange exchange, Clock clock) {
        ObjectNode list = StrictJson.mapper().createObjectNode().put("object", "list");
        ArrayNode data = list.putArray("data");
        long nowNanos = clock.nanos();
        live.entrySet().stream()
                .sorted(Comparator.comparingLong(entry -> entry.getKey().id()))
                .forEach(entry -> describe(data.addObject(), entry.getKey(), entry.getValue().isRunning, nowNanos));
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
