package io.roseinfer.engine;

import io.roseinfer.base.Clock;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.observe.StepEvent;
import io.roseinfer.observe.StepObserver;

/**
 * Fills in the times of the records of steps, by seven readings of the clock a step. It is called first, so the other observers find the
 * record filled in.
 */
final class StepTimer implements StepObserver {
    private final int engine;
    private final Clock clock;
    private long awaitingNanos;

    /**
     * A timer of one engine's steps.
     *
     * @param engine its number among those that serve together
     */
    public StepTimer(int engine, Clock clock) {
        this.engine = engine;
        this.clock = clock;
    }

    @Override
    public void on(StepEvent event, StepRecord step) {
        switch (event) {
            case PLANNING -> {
                step.set(Fact.START_NANOS, clock.nanos());
                step.set(Fact.ENGINE, engine);
            }
            case PLANNED -> step.set(Fact.PLAN_NANOS, clock.nanos() - step.get(Fact.START_NANOS));
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
}
