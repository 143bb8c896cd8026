package io.roseinfer.engine;

import io.roseinfer.base.Clock;
import io.roseinfer.metrics.StepDraft;
import io.roseinfer.metrics.StepLog;
import io.roseinfer.scheduler.Scheduler;
import io.roseinfer.scheduler.StepPlan;
import org.jspecify.annotations.Nullable;

/**
 * Times the steps of a {@link StepDriver} and keeps their records; a flight recording that runs gets them too. Seven readings of
 * the clock per step, and nothing is allocated unless there is such a recording.
 */
final class StepRecorder {
    private final Clock clock;
    private final Scheduler scheduler;
    private final StepLog log;
    private final StepDraft[] drafts;
    private final @Nullable StepEvent[] events;
    private long launched;
    private long completed;
    private long cachedTokens;
    private long preemptions;

    StepRecorder(Clock clock, Scheduler scheduler, StepLog log, int maxInFlight) {
        this.clock = clock;
        this.scheduler = scheduler;
        this.log = log;
        this.drafts = new StepDraft[maxInFlight];
        this.events = new StepEvent[maxInFlight];
        for (int i = 0; i < maxInFlight; i++) {
            drafts[i] = new StepDraft();
        }
    }

    private int slot(long step) {
        return (int) (step % drafts.length);
    }

    /** Planning begins; nothing comes of it if the plan turns out empty. */
    void begin() {
        events[slot(launched)] = StepEvent.begun();
        drafts[slot(launched)].start(clock.nanos());
    }

    void planned(StepPlan plan) {
        StepDraft draft = drafts[slot(launched)];
        draft.planned(clock.nanos());
        draft.work(plan.step(), plan.prefillTokens(), plan.decodeRows());
        draft.queue(scheduler.waiting(), scheduler.active(), scheduler.pool().available());
        draft.reuse(scheduler.cachedTokens() - cachedTokens, scheduler.preemptions() - preemptions);
        cachedTokens = scheduler.cachedTokens();
        preemptions = scheduler.preemptions();
    }

    void packed() {
        drafts[slot(launched)].packed(clock.nanos());
    }

    /** The device has the step. */
    void submitted() {
        drafts[slot(launched++)].submitted(clock.nanos());
    }

    /** The host has nothing else to do than to wait for the oldest step in flight. */
    void awaiting() {
        drafts[slot(completed)].awaiting(clock.nanos());
    }

    /** The oldest step in flight has come back. */
    void awaited() {
        drafts[slot(completed)].awaited(clock.nanos());
    }

    /** And has been taken in. */
    void applied() {
        int slot = slot(completed++);
        drafts[slot].applied(clock.nanos());
        log.append(drafts[slot]);
        StepEvent event = events[slot];
        if (event != null) {
            event.commit(drafts[slot].toRecord());
            events[slot] = null;
        }
    }
}
