package io.roseinfer.engine;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.StepOutputs;
import io.roseinfer.backend.StepOutputs.Status;
import io.roseinfer.base.Check;
import io.roseinfer.base.Clock;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.metrics.WritableStep;
import io.roseinfer.observe.StepEvent;
import io.roseinfer.observe.StepObserver;
import io.roseinfer.scheduler.ExtensionFailure;
import io.roseinfer.scheduler.Scheduler;

/**
 * The steps in flight. A step is planned by the scheduler, packed, computed by the runner and applied; its times and
 * facts are recorded, and observers are notified at each {@link StepEvent}. Flights form a ring and complete in order.
 * The flight completed last stays readable until its ring entry is planned again.
 */
final class Pipeline {
    private final int replica;
    private final ModelRunner runner;
    private final String device;
    private final Scheduler scheduler;
    private final Clock clock;
    private final StepObserver observer;
    private final int vocabularySize;
    private final int depth;
    private final int size;
    private final Flight[] ring;
    private final Scheduler.SampledTokens sampledTokens = sampledTokens();
    private StepOutputs applied;
    private boolean lacksSampling;
    private long launched;
    private long completed;
    private long awaitingNanos;

    /**
     * Creates an empty pipeline.
     *
     * @param replica the replica's number
     * @param clock read seven times per step
     * @param observer notified at every event of a step
     */
    Pipeline(int replica, ModelRunner runner, Scheduler scheduler, Clock clock, StepObserver observer) {
        this.replica = replica;
        this.clock = clock;
        this.runner = runner;
        this.device = ExtensionFailure.deviceName(runner);
        this.scheduler = scheduler;
        this.vocabularySize = runner.spec().vocabularySize();
        this.observer = observer;
        this.depth = runner.maxInFlight();
        // One more than can be in flight: the flight completed last is still read while the next one is planned.
        this.size = depth + 1;
        this.ring = new Flight[size];
        for (int i = 0; i < size; i++) {
            ring[i] = newFlight();
        }
        this.applied = ring[0].outputs();
        scheduler.onAdmission(() -> on(StepEvent.ADMITTING, next()), () -> on(StepEvent.ADMITTED, next()));
    }

    private Flight newFlight() {
        try {
            return new Flight(scheduler.newPlan(), runner.newInputs(), runner.newOutputs(), new WritableStep());
        } catch (RuntimeException | LinkageError thrown) {
            throw ExtensionFailure.ofLoading(runner, thrown);
        }
    }

    private void on(StepEvent event, Flight flight) {
        observer.on(event, flight.record());
    }

    private void recordDuration(Flight flight, Fact duration, long startNanos) {
        flight.record().set(duration, clock.nanos() - startNanos);
    }

    int inFlight() {
        return (int) (launched - completed);
    }

    /**
     * Returns whether another step should be launched before the oldest one is awaited. Drafts follow the last token, which must be known:
     * a second step in flight would have only the rows without drafts.
     */
    boolean hasCapacity() {
        return canLaunch() && (inFlight() == 0 || !scheduler.awaitsDrafts());
    }

    /**
     * Returns whether to wait for masks before the next step is planned, as it then has the tokens that they make likely as drafts. With more
     * steps in flight, masks are computed during a step, and such tokens are drafts one step later.
     */
    boolean masksGiveDrafts() {
        return depth == 1 && scheduler.options().drafter().maxTokens() > 0;
    }

    private boolean canLaunch() {
        return inFlight() < depth && !lacksSampling;
    }

    /** Returns whether only the pass of the step launched last has been submitted: it has samples whose masks were not ready. */
    boolean lacksSampling() {
        return lacksSampling;
    }

    /** Returns whether the oldest step in flight is the one that lacks its sampling. */
    boolean oldestLacksSampling() {
        return lacksSampling && inFlight() == 1;
    }

    /** Plans the next step with any number of admissions; it is empty if there is nothing to do. */
    Flight plan(long nowNanos) {
        return plan(Integer.MAX_VALUE, nowNanos);
    }

    /**
     * Plans like {@link #plan(long)}, with a limit on admissions of shared requests.
     *
     * @param nowNanos the time that policies see
     */
    Flight plan(int maxShared, long nowNanos) {
        Flight flight = begin();
        scheduler.plan(flight.plan(), maxShared, nowNanos);
        return planned(flight);
    }

    /** Plans a step that only prefills. */
    Flight planPrefillOnly(long nowNanos) {
        Flight flight = begin();
        scheduler.planPrefillOnly(flight.plan(), nowNanos);
        return planned(flight);
    }

    private Flight begin() {
        Flight flight = next();
        flight.record().set(Fact.START_NANOS, clock.nanos());
        flight.record().set(Fact.ENGINE, replica);
        on(StepEvent.PLANNING, flight);
        return flight;
    }

    private Flight planned(Flight flight) {
        if (flight.isEmpty()) {
            on(StepEvent.IDLE, flight);
        } else {
            scheduler.record(flight.plan(), flight.record());
            recordDuration(flight, Fact.PLAN_NANOS, flight.record().get(Fact.START_NANOS));
            on(StepEvent.PLANNED, flight);
        }
        return flight;
    }

    private Flight next() {
        Check.that(canLaunch(), "too many steps are in flight");
        return flight(launched);
    }

    private Flight flight(long step) {
        return ring[(int) (step % size)];
    }

    /** Packs and submits the flight planned last, which must not be empty. */
    void launch() {
        Flight flight = next();
        Check.that(!flight.isEmpty(), "an empty step is launched");
        lacksSampling = flight.plan().samplesLater();
        flight.pack();
        recordDuration(flight, Fact.PACK_NANOS, flight.record().plannedNanos());
        on(StepEvent.PACKED, flight);
        submit(flight);
        recordDuration(flight, Fact.SUBMIT_NANOS, flight.record().packedNanos());
        on(StepEvent.SUBMITTED, flight);
        launched++;
    }

    private void submit(Flight flight) {
        try {
            if (lacksSampling) {
                runner.submitPass(flight.inputs(), flight.outputs());
            } else {
                runner.submit(flight.inputs(), flight.outputs());
            }
        } catch (RuntimeException | LinkageError thrown) {
            throw ExtensionFailure.ofDevice(runner, thrown);
        }
    }

    /** Returns the device in words, for messages. */
    String device() {
        return device;
    }

    private void submitSampling() {
        lacksSampling = false;
        try {
            Flight flight = flight(launched - 1);
            runner.submitSampling(flight.inputs(), flight.outputs());
        } catch (RuntimeException | LinkageError thrown) {
            throw ExtensionFailure.ofDevice(runner, thrown);
        }
    }

    private void await() {
        try {
            runner.await();
        } catch (RuntimeException | LinkageError thrown) {
            throw ExtensionFailure.ofDevice(runner, thrown);
        }
    }

    /**
     * Starts the sampling of the step launched last, which {@link #lacksSampling}. Requests whose mask is not ready draw no token
     * in this step.
     */
    void startSampling() {
        Flight flight = flight(launched - 1);
        flight.constrain(scheduler);
        submitSampling();
    }

    /** Waits for the oldest step in flight and applies it; its plan then has the sampled tokens. */
    Flight complete() {
        if (oldestLacksSampling()) {
            startSampling();
        }
        Flight flight = oldest();
        awaitingNanos = clock.nanos();
        on(StepEvent.AWAITING, flight);
        await();
        awaited(flight);
        applied = flight.outputs();
        scheduler.apply(flight.plan(), sampledTokens);
        applied(flight);
        scheduler.learn(flight.plan(), flight.record());
        return flight;
    }

    /** Drops the oldest step in flight, which failed on the device. */
    Flight abandon() {
        Flight flight = oldest();
        awaited(flight);
        scheduler.abandon(flight.plan());
        return applied(flight);
    }

    private void awaited(Flight flight) {
        long nanos = clock.nanos();
        flight.record().set(Fact.WAIT_NANOS, nanos - awaitingNanos);
        flight.record().set(Fact.DEVICE_NANOS, nanos - flight.record().packedNanos());
        on(StepEvent.AWAITED, flight);
        completed++;
    }

    private Flight applied(Flight flight) {
        Scheduler.recordResults(flight.plan(), flight.record());
        recordDuration(flight, Fact.APPLY_NANOS, flight.record().awaitedNanos());
        on(StepEvent.APPLIED, flight);
        return flight;
    }

    /** Waits for all steps in flight and discards their results. */
    void discard() {
        if (lacksSampling) {
            submitSampling();
        }
        while (inFlight() > 0) {
            completed++;
            await();
        }
    }

    private Flight oldest() {
        Check.that(inFlight() > 0, "no step is in flight");
        return flight(completed);
    }

    /** Returns the tokens of the flight completed last. Tokens from the device are checked against the vocabulary. */
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
