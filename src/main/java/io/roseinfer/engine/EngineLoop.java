package io.roseinfer.engine;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.engine.routing.ReplicaLoad;
import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.kv.PublishedPrefixes;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.observe.Observers;
import io.roseinfer.observe.RequestObserver;
import io.roseinfer.observe.StepEvent;
import io.roseinfer.observe.StepObserver;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.scheduler.Scheduler;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.Sequence;
import io.roseinfer.scheduler.StepPlan;
import io.roseinfer.scheduler.WaitingQueue;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The engine's main loop. A turn ends what was canceled, plans and launches the next step, delivers the tokens of the step before while
 * the device works, and waits for the step. Tests call {@link #doWork} by hand, {@link Replica} calls it on a thread. Cancels may come
 * from any thread; everything else happens on the thread that turns the loop.
 */
final class EngineLoop {
    private final Clock clock;
    private final int streamInterval;
    private final Scheduler scheduler;
    private final Pipeline pipeline;
    private final ReplicaLoad load;
    private final RequestObserver requests;
    private final StepObserver steps;
    /** The record at events of turns and deliveries, which are of no step. */
    private final StepRecord noStep = new StepRecord();

    private final InFlight inFlight;
    private final WaitingQueue waitingQueue;
    private final Queue<LiveRequest> cancelled = new ConcurrentLinkedQueue<>();
    private final LinkedHashSet<LiveRequest> live = new LinkedHashSet<>();
    /** Those that the step in the making has admitted first. */
    private final List<LiveRequest> admitted = new ArrayList<>();

    private final Deadlines deadlines = new Deadlines();

    @SuppressWarnings("UnnecessaryLambda") // a method reference would be allocated in each turn
    private final Consumer<LiveRequest> onDue = due -> end(due, FinishReason.DEADLINE);

    /** How many requests that any engine may admit this one may still admit in this turn. */
    private int share;

    private long turnNanos;
    private @Nullable Flight undelivered;
    private long undeliveredNanos;

    /**
     * A loop over a runner that nothing else uses.
     *
     * @param index its number among those that share the waiting queue
     * @param observers are told of every step, and of admissions and endings
     * @param publishesPrefixes whether other threads are to know what its prefix cache has
     * @param inFlight has the requests that wait, and ends those that it has admitted
     */
    EngineLoop(
            int index,
            ModelRunner runner,
            EngineOptions engine,
            Clock clock,
            Observers observers,
            boolean publishesPrefixes,
            InFlight inFlight) {
        this.clock = clock;
        this.streamInterval = engine.streamInterval();
        this.inFlight = inFlight;
        this.waitingQueue = inFlight.waitingQueue();
        SchedulerOptions options = engine.scheduler();
        KvGeometry kv = EngineLimits.pool(runner, engine);
        PublishedPrefixes prefixes =
                publishesPrefixes && options.prefixCache() ? new PublishedPrefixes(kv.blocks()) : null;
        KvBlockPool pool = new KvBlockPool(kv.blocks(), kv.blockSize(), options.prefixCache(), prefixes);
        this.scheduler = new Scheduler(options, pool, runner.limits().maxTokens(), waitingQueue, index, this::take);
        this.load = new ReplicaLoad(index, kv, scheduler, prefixes);
        this.requests = observers.requests();
        this.steps = StepObserver.all(List.of(load, observers.steps(index)));
        this.pipeline = new Pipeline(index, runner, scheduler, clock, steps);
    }

    /** Takes in a request that is being admitted; under the waiting queue's lock. */
    private void take(Sequence sequence) {
        LiveRequest request = InFlight.requestOf(sequence);
        live.add(request);
        admitted.add(request);
        inFlight.unwatch(request);
        deadlines.add(request);
        if (request.isCancelled()) {
            // Its caller may have asked the loop that had it before.
            cancel(request);
        }
        if (!request.isCharged()) {
            request.charge(load, sequence);
            share--;
        }
    }

    /** Asks for the end of a request that it has admitted; any thread, any number of times. */
    void cancel(LiveRequest request) {
        cancelled.add(request);
    }

    EngineStats stats() {
        return EngineStats.of(load, waitingQueue.boundCount(load.index()));
    }

    /** What it has to do. */
    ReplicaLoad load() {
        return load;
    }

    /** Whether it has requests of its own, waiting or running. */
    boolean isBusy() {
        return !cancelled.isEmpty() || scheduler.hasWork() || pipeline.inFlight() > 0 || undelivered != null;
    }

    /** Whether a turn would find anything to do. */
    boolean hasWork() {
        return isBusy() || waitingQueue.sharedCount() > 0;
    }

    /** Runs one turn, which admits at most {@code mostShared} of the requests that any engine may admit. */
    void doWork(int mostShared) {
        steps.on(StepEvent.TURN_BEGINS, noStep);
        try {
            share = mostShared;
            turn();
        } finally {
            steps.on(StepEvent.TURN_ENDS, noStep);
        }
    }

    private void turn() {
        takeCancels();
        turnNanos = clock.nanos();
        inFlight.expireUntil(turnNanos);
        deadlines.expireUntil(turnNanos, onDue);
        launchSteps();
        deliver();
        if (pipeline.inFlight() > 0) {
            completeStep();
        }
    }

    private void launchSteps() {
        while (pipeline.hasRoom()) {
            Flight flight = pipeline.plan(share);
            if (flight.isEmpty()) {
                break;
            }
            stampAdmissions();
            pipeline.launch();
        }
    }

    private void takeCancels() {
        for (LiveRequest request = cancelled.poll(); request != null; request = cancelled.poll()) {
            if (live.contains(request)) {
                end(request, FinishReason.CANCELLED);
            }
        }
    }

    private void end(LiveRequest request, FinishReason reason) {
        scheduler.end(request.sequence().orElseThrow(), reason);
    }

    private void stampAdmissions() {
        if (admitted.isEmpty()) {
            return;
        }
        for (LiveRequest request : admitted) {
            request.admitted(turnNanos, request.sequence().orElseThrow().cachedTokens());
            requests.admitted(request);
        }
        admitted.clear();
    }

    private void completeStep() {
        Flight flight;
        try {
            flight = pipeline.complete();
        } catch (DeviceFailure failure) {
            if (!failure.recoverable()) {
                throw failure;
            }
            failStep(failure);
            return;
        }
        undeliveredNanos = clock.nanos();
        undelivered = flight;
        StepPlan plan = flight.plan();
        for (int row = 0; row < plan.rows(); row++) {
            Sequence sequence = plan.sequence(row);
            if (!plan.hasSampledToken(row)) {
                continue;
            }
            if (InFlight.requestOf(sequence).stopsAt(plan.sampledToken(row))) {
                scheduler.end(sequence, FinishReason.STOP);
            }
        }
    }

    /** The step is lost, and with it the keys and values its rows should have written: its requests fail, the others go on. */
    private void failStep(DeviceFailure failure) {
        StepPlan plan = pipeline.abandon().plan();
        long nanos = clock.nanos();
        Ending ending = Ending.failed(failure);
        for (int row = 0; row < plan.rows(); row++) {
            finish(InFlight.requestOf(plan.sequence(row)), ending, nanos);
        }
        deliver();
    }

    /** Hands the tokens of the step completed last to their streams, then the endings there are. */
    private void deliver() {
        steps.on(StepEvent.DELIVERING, noStep);
        if (undelivered != null) {
            deliverTokens(undelivered);
            undelivered = null;
        }
        deliverEndings();
        steps.on(StepEvent.DELIVERED, noStep);
    }

    private void deliverTokens(Flight flight) {
        StepPlan plan = flight.plan();
        for (int row = 0; row < plan.rows(); row++) {
            if (!plan.hasSampledToken(row)) {
                continue;
            }
            Sequence sequence = plan.sequence(row);
            LiveRequest request = InFlight.requestOf(sequence);
            request.promptComputed();
            request.write(plan.sampledToken(row), undeliveredNanos, plan.step(), flight.outputs(), plan.sample(row));
            if (sequence.finishReason().isEmpty()) {
                request.publish(streamInterval);
            }
        }
    }

    private void deliverEndings() {
        Optional<Sequence> ended = scheduler.pollFinished();
        while (ended.isPresent()) {
            Sequence sequence = ended.get();
            Ending ending = InFlight.requestOf(sequence).endingOf(sequence);
            // What the caller or a deadline ended is over since this turn began, anything else since its last step.
            boolean early = ending.reason() == FinishReason.CANCELLED || ending.reason() == FinishReason.DEADLINE;
            long nanos = early ? turnNanos : undeliveredNanos;
            finish(InFlight.requestOf(sequence), ending, nanos);
            ended = scheduler.pollFinished();
        }
    }

    private void finish(LiveRequest request, Ending ending, long nanos) {
        inFlight.end(request, ending, nanos);
        forget(request);
    }

    private void forget(LiveRequest request) {
        live.remove(request);
        deadlines.remove(request);
    }

    /** Waits for the steps in flight and delivers what they yield, so that the runner can serve another loop. */
    void quiesce() {
        deliver();
        while (pipeline.inFlight() > 0) {
            completeStep();
            deliver();
        }
    }

    /** Waits for the steps in flight, whose results are lost, so that the runner can serve another loop; this one has failed. */
    void forgetSteps() {
        pipeline.forget();
    }

    /** Hands over the requests of which nothing has been seen; another loop can serve them from their beginning. */
    void giveBackUntouched(Consumer<LiveRequest> to) {
        for (LiveRequest request : List.copyOf(live)) {
            if (request.isUntouched()) {
                request.discharge();
                to.accept(request);
                forget(request);
            }
        }
    }

    /** Ends every request that it has; the loop must not be turned afterwards. A call that fails can be repeated. */
    void endAll(Ending ending) {
        while (!live.isEmpty()) {
            LiveRequest request = live.getFirst();
            inFlight.cut(request, ending);
            forget(request);
        }
        load.nothingRuns();
    }

    /** Fails if an idle engine holds blocks. */
    void checkIdle() {
        scheduler.checkIdle();
    }

    /** Fails if the books of blocks and sequences do not balance. No step may be in flight. */
    void check() {
        scheduler.check();
    }
}
