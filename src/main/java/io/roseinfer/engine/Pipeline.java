package io.roseinfer.engine;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.StepOutputs;
import io.roseinfer.backend.StepOutputs.Status;
import io.roseinfer.base.Check;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.observe.StepEvent;
import io.roseinfer.observe.StepObserver;
import io.roseinfer.scheduler.Scheduler;

/**
 * The steps in flight, in a ring: plans them, carries them to a runner and takes their results in, in order, as many at a time as
 * the runner takes. A flight is used again one turn of the ring later: the one completed last stays readable until as many as may
 * be in flight have been launched behind it and another is planned.
 */
final class Pipeline {
    private final ModelRunner runner;
    private final Scheduler scheduler;
    private final StepObserver observer;
    private final int vocabularySize;
    private final int depth;
    private final int size;
    private final Flight[] ring;
    private final Scheduler.SampledTokens sampledTokens = sampledTokens();
    private StepOutputs applied;
    private long launched;
    private long completed;

    /**
     * A pipeline with nothing in flight.
     *
     * @param observer is told of every step
     */
    public Pipeline(ModelRunner runner, Scheduler scheduler, StepObserver observer) {
        this.runner = runner;
        this.scheduler = scheduler;
        this.vocabularySize = runner.spec().vocabularySize();
        this.observer = observer;
        this.depth = runner.maxInFlight();
        // One more than can be in flight: the flight completed last is still read while the next one is planned.
        this.size = depth + 1;
        this.ring = new Flight[size];
        for (int i = 0; i < size; i++) {
            ring[i] = new Flight(scheduler.newPlan(), runner.newInputs(), runner.newOutputs(), new StepRecord());
        }
        this.applied = ring[0].outputs();
        scheduler.onAdmission(() -> on(StepEvent.ADMITTING, next()), () -> on(StepEvent.ADMITTED, next()));
    }

    private void on(StepEvent event, Flight flight) {
        observer.on(event, flight.record());
    }

    public int inFlight() {
        return (int) (launched - completed);
    }

    /** Whether the runner takes another step before the oldest is awaited. */
    public boolean hasRoom() {
        return inFlight() < depth;
    }

    /** Plans the next step; it is empty if there is nothing to do. */
    public Flight plan() {
        return plan(Integer.MAX_VALUE);
    }

    /** Plans like {@link #plan()}, with a limit on admissions of shared requests. */
    Flight plan(int maxShared) {
        Flight flight = next();
        on(StepEvent.PLANNING, flight);
        scheduler.plan(flight.plan(), maxShared);
        return planned(flight);
    }

    /** Plans a step that only prefills what may be admitted now. */
    public Flight planPrefillOnly() {
        Flight flight = next();
        on(StepEvent.PLANNING, flight);
        scheduler.planPrefillOnly(flight.plan());
        return planned(flight);
    }

    private Flight planned(Flight flight) {
        if (flight.isEmpty()) {
            on(StepEvent.IDLE, flight);
        } else {
            scheduler.record(flight.plan(), flight.record());
            on(StepEvent.PLANNED, flight);
        }
        return flight;
    }

    private Flight next() {
        Check.that(hasRoom(), "one step too many is planned");
        return flight(launched);
    }

    private Flight flight(long step) {
        return ring[(int) (step % size)];
    }

    /** Packs and submits the flight that was planned last, which must not be empty. */
    public void launch() {
        Flight flight = next();
        Check.that(!flight.isEmpty(), "an empty step is launched");
        StepPacker.pack(flight.plan(), flight.inputs());
        on(StepEvent.PACKED, flight);
        runner.submit(flight.inputs(), flight.outputs());
        on(StepEvent.SUBMITTED, flight);
        launched++;
    }

    /** Waits for the oldest step in flight and applies it; its plan then tells what each row yielded. */
    public Flight complete() {
        Flight flight = oldest();
        on(StepEvent.AWAITING, flight);
        runner.await();
        on(StepEvent.AWAITED, flight);
        completed++;
        applied = flight.outputs();
        scheduler.apply(flight.plan(), sampledTokens);
        on(StepEvent.APPLIED, flight);
        return flight;
    }

    /** Gives up the oldest step in flight, which the device has failed. */
    public Flight abandon() {
        Flight flight = oldest();
        on(StepEvent.AWAITED, flight);
        completed++;
        scheduler.abandon(flight.plan());
        on(StepEvent.APPLIED, flight);
        return flight;
    }

    /** Waits until the device is done with all that is in flight; nothing becomes of the results. */
    public void forget() {
        while (inFlight() > 0) {
            completed++;
            runner.await();
        }
    }

    private Flight oldest() {
        Check.that(inFlight() > 0, "a step completes that was not launched");
        return flight(completed);
    }

    /** The tokens of the flight completed last. A device is not trusted to stay within the vocabulary. */
    private Scheduler.SampledTokens sampledTokens() {
        return new Scheduler.SampledTokens() {
            @Override
            public int token(int sample) {
                return applied.token(sample);
            }

            @Override
            public boolean isUsable(int sample) {
                int token = applied.token(sample);
                return applied.status(sample) == Status.OK && token >= 0 && token < vocabularySize;
            }
        };
    }
}
