package io.roseinfer.engine;

import io.roseinfer.observe.ObservedRequest;
import io.roseinfer.observe.RequestEvent;
import io.roseinfer.observe.RequestObserver;
import io.roseinfer.scheduler.FinishReason;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/** Counts requests and their tokens. Thread-safe. */
final class RequestCounters implements RequestObserver {
    private static final FinishReason[] REASONS = FinishReason.values();

    private final AtomicLong submitted = new AtomicLong();
    private final AtomicLong rejected = new AtomicLong();
    private final AtomicLongArray ended = new AtomicLongArray(REASONS.length);
    private final AtomicLong promptTokens = new AtomicLong();
    private final AtomicLong generatedTokens = new AtomicLong();

    /** Counts a submission that returned a stream. */
    void accept() {
        submitted.incrementAndGet();
    }

    /** Counts a submission that was rejected with an exception. */
    void reject() {
        rejected.incrementAndGet();
    }

    @Override
    public void on(RequestEvent event) {
        switch (event) {
            case RequestEvent.Tokenized(ObservedRequest request) -> promptTokens.addAndGet(request.promptTokens());
            case RequestEvent.Ended(ObservedRequest request, FinishReason reason) -> {
                generatedTokens.addAndGet(request.generatedTokens());
                ended.incrementAndGet(reason.ordinal());
            }
            default -> {}
        }
    }

    RequestCounts snapshot() {
        Map<FinishReason, Long> byReason = new EnumMap<>(FinishReason.class);
        for (FinishReason reason : REASONS) {
            byReason.put(reason, ended.get(reason.ordinal()));
        }
        return new RequestCounts(submitted.get(), rejected.get(), byReason, promptTokens.get(), generatedTokens.get());
    }
}
