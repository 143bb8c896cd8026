package io.roseinfer.engine;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.scheduler.Scheduler;

/** The scheduler's figures, written by its thread once per step and read by anyone. */
final class Counters {
    private final KvGeometry kv;
    private volatile int held;
    private volatile int cached;
    private volatile int waiting;
    private volatile int active;
    private volatile long steps;
    private volatile long preemptions;
    private volatile long cachedTokens;

    Counters(KvGeometry kv) {
        this.kv = kv;
    }

    void update(Scheduler scheduler) {
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
        return new EngineStats(kv, held, cached, waiting + submitted, active, steps, preemptions, cachedTokens);
    }
}
