package io.roseinfer.engine;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.observe.StepObserver;
import io.roseinfer.scheduler.Scheduler;

/**
 * The scheduler's figures, read by anyone. Its thread writes them whenever it is about to deliver, so who learns of a token or an
 * ending finds it counted.
 */
final class Counters implements StepObserver {
    private final KvGeometry kv;
    private final Scheduler scheduler;
    private volatile int held;
    private volatile int cached;
    private volatile int waiting;
    private volatile int active;
    private volatile long steps;
    private volatile long preemptions;
    private volatile long cachedTokens;

    Counters(KvGeometry kv, Scheduler scheduler) {
        this.kv = kv;
        this.scheduler = scheduler;
    }

    @Override
    public void delivering() {
        held = scheduler.pool().held();
        cached = scheduler.pool().cached();
        waiting = scheduler.waiting();
        active = scheduler.active();
        steps = scheduler.steps();
        preemptions = scheduler.preemptions();
        cachedTokens = scheduler.cachedTokens();
    }

    /** The engine has ended everything, and nothing is held any more. */
    void nothingRuns() {
        held = 0;
        waiting = 0;
        active = 0;
    }

    EngineStats snapshot(int submitted) {
        return new EngineStats(
                kv, held, cached, waiting + submitted, active, steps, preemptions, RequestCounts.none(cachedTokens));
    }
}
