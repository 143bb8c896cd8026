package io.roseinfer.bench;

import io.roseinfer.base.Check;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.bench.SchedulerRun.RequestTimes;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.OnlineScheduler;
import io.roseinfer.engine.OnlineScheduler.StepTokens;
import io.roseinfer.engine.Prompt;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.scheduler.FinishReason;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The state of one run of the scheduler benchmark: unfinished requests and timestamps. The time between the ends of two steps is
 * attributed to the second step, as prefill or decode.
 */
final class SchedulerProgress {
    private final OnlineScheduler scheduler;
    private final List<GenerationRequest> requests;
    private final long seed;
    private final Clock clock;

    private final Map<Long, Integer> underWay = new HashMap<>();
    private final long[] submitNanos;
    private final long[] firstNanos;
    private final long[] finishNanos;
    private final int[] completionTokens;

    private long nextStep;
    private long stampNanos;
    private long prefillNanos;
    private long decodeNanos;
    private long decodedTokens;

    /** Starts the run's clock. */
    SchedulerProgress(OnlineScheduler scheduler, List<GenerationRequest> requests, long seed, Clock clock) {
        this.scheduler = scheduler;
        this.requests = requests;
        this.seed = seed;
        this.clock = clock;
        this.submitNanos = new long[requests.size()];
        this.firstNanos = new long[requests.size()];
        this.finishNanos = new long[requests.size()];
        this.completionTokens = new int[requests.size()];
        this.stampNanos = clock.nanos();
    }

    /** Queues a request, to be prefilled with others later. */
    long enqueue(int index) {
        GenerationRequest request = requests.get(index);
        submitNanos[index] = clock.nanos();
        long id = scheduler.enqueue(
                promptIds(request),
                request.maxNewTokens(),
                request.sampling(),
                seed + index,
                request.ignoreEndOfText());
        underWay.put(id, index);
        return id;
    }

    /** Queues a request and computes its prompt; if there is no room for it, others decode until there is. */
    void add(int index) {
        long id = enqueue(index);
        while (underWay.containsKey(id) && completionTokens[index] == 0) {
            if (!count(scheduler.prefill())) {
                count(scheduler.step());
            }
        }
    }

    /** Steps until no request is left. */
    void finishAll() {
        while (scheduler.hasUnfinished()) {
            count(scheduler.step());
        }
    }

    /** Adds a step's time and tokens to its kind; returns false if there was nothing to run. */
    private boolean count(StepTokens tokens) {
        Optional<StepRecord> ran = newestStep();
        if (ran.isEmpty()) {
            return false;
        }
        long nowNanos = clock.nanos();
        if (ran.get().get(Fact.PREFILL_TOKENS) > 0) {
            prefillNanos += nowNanos - stampNanos;
        } else {
            decodeNanos += nowNanos - stampNanos;
            decodedTokens += tokens.size();
        }
        stampNanos = nowNanos;
        for (int i = 0; i < tokens.size(); i++) {
            countToken(tokens.requestId(i), nowNanos);
        }
        for (long id : scheduler.popFinishedIds()) {
            finished(id, nowNanos);
        }
        return true;
    }

    /** Returns the step that ran since the last call; empty if none did. */
    private Optional<StepRecord> newestStep() {
        List<StepRecord> kept = scheduler.steps();
        if (kept.isEmpty() || kept.getLast().get(Fact.STEP) < nextStep) {
            return Optional.empty();
        }
        nextStep = kept.getLast().get(Fact.STEP) + 1;
        return Optional.of(kept.getLast());
    }

    private void countToken(long id, long nowNanos) {
        int index = Objects.requireNonNull(underWay.get(id));
        if (completionTokens[index]++ == 0) {
            firstNanos[index] = nowNanos;
        }
    }

    private void finished(long id, long nowNanos) {
        if (scheduler.finishReason(id).equals(Optional.of(FinishReason.ERROR))) {
            throw new DeviceFailure("the model's logits are not finite, so its benchmark would be meaningless", true);
        }
        Integer index = underWay.remove(id);
        if (index != null) {
            finishNanos[index] = nowNanos;
            scheduler.discardRequest(id);
        }
    }

    /** Returns the result of the finished run. */
    SchedulerRun result() {
        Check.that(underWay.isEmpty(), "the scheduler has no work left but requests are unfinished");
        List<RequestTimes> times = IntStream.range(0, requests.size())
                .mapToObj(i -> new RequestTimes(
                        promptIds(requests.get(i)).length,
                        completionTokens[i],
                        firstNanos[i] - submitNanos[i],
                        finishNanos[i] - submitNanos[i]))
                .toList();
        return new SchedulerRun(prefillNanos, decodeNanos, decodedTokens, times);
    }

    private static int[] promptIds(GenerationRequest request) {
        Check.that(request.prompt() instanceof Prompt.Tokens, "the scheduler benchmark takes token ids");
        return ((Prompt.Tokens) request.prompt()).ids();
    }
}
