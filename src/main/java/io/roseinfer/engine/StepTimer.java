package io.roseinfer.engine;

import io.roseinfer.base.Clock;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.observe.StepEvent;
import io.roseinfer.observe.StepObserver;
import io.roseinfer.scheduler.Scheduler;

/**
 * Fills in the records of steps: times, by seven readings of the clock a step, and the scheduler's figures. It is told first, so the
 * other instruments find the record filled in.
 */
final class StepTimer implements StepObserver {
    private final int engine;
    private final Clock clock;
    private final Scheduler scheduler;
    private long awaitingNanos;
    private long cachedTokens;
    private long preemptions;

    /**
     * A timer of one engine's steps.
     *
     * @param engine its number among those that serve together
     */
    public StepTimer(int engine, Clock clock, Scheduler scheduler) {
        this.engine = engine;
        this.clock = clock;
        this.scheduler = scheduler;
    }

    @Override
    public void on(StepEvent event, StepRecord step) {
        switch (event) {
            case PLANNING -> {
                step.set(Fact.START_NANOS, clock.nanos());
                step.set(Fact.ENGINE, engine);
            }
            case PLANNED -> planned(step);
            case PACKED -> step.set(Fact.PACK_NANOS, clock.nanos() - step.plannedNanos());
            case SUBMITTED -> step.set(Fact.SUBMIT_NANOS, clock.nanos() - step.packedNanos());
            case AWAITING -> awaitingNanos = clock.nanos();
            case AWAITED -> {
                long nanos = clock.nanos();
                step.set(Fact.WAIT_NANOS, nanos - awaitingNanos);
                step.set(Fact.DEVICE_NANOS, nanos - step.packedNanos());
            }
            case APPLIED -> step.set(Fact.APPLY_NANOS, clock.nanos() - step.awaitedNanos());
            default -> {}
        }
    }

    private void planned(StepRecord step) {
        step.set(Fact.PLAN_NANOS, clock.nanos() - step.get(Fact.START_NANOS));
        step.set(Fact.WAITING, scheduler.waiting());
        step.set(Fact.ACTIVE, scheduler.active());
        step.set(Fact.FREE_BLOCKS, scheduler.pool().available());
        step.set(Fact.CACHED_TOKENS, scheduler.cachedTokens() - cachedTokens);
        step.set(Fact.PREEMPTIONS, scheduler.preemptions() - preemptions);
        cachedTokens = scheduler.cachedTokens();
        preemptions = scheduler.preemptions();
    }
}
