package io.roseinfer.engine;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.kv.PublishedPrefixes;
import io.roseinfer.metrics.WritableStep;
import io.roseinfer.observe.Observers;
import io.roseinfer.observe.RequestEvent;
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
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The engine's main loop. An iteration {@link #begin begins} by ending cancelled and expired requests, starting the
 * sampling of a step whose masks were not ready, launching steps, and delivering the previous step's tokens while the
 * device works. Tokens are delivered before a step that may have prompts is launched, if the device has a step in flight.
 * The iteration {@link #finish finishes} by awaiting the oldest step. {@link Replica} runs the loop on a thread,
 * {@link VirtualEngine} in virtual time; tests call {@link #doWork} directly. Only {@link #cancel}, {@link #stats} and
 * {@link #load} may be called from other threads.
 */
final class EngineLoop {
    private final Clock clock;
    private final int streamInterval;
    private final Scheduler scheduler;
    private final Pipeline pipeline;
    private final ReplicaLoad load;
    private final RequestObserver requests;
    private final StepObserver steps;
    /** The record passed with events of iterations and deliveries, which belong to no step. */
    private final WritableStep noStep = new WritableStep();

    private final InFlight inFlight;
    private final WaitingQueue waitingQueue;
    private final Queue<LiveRequest> cancelled = new ConcurrentLinkedQueue<>();
    private final LinkedHashSet<LiveRequest> live = new LinkedHashSet<>();
    /** Requests admitted for the first time by the step being planned. */
    private final List<LiveRequest> admitted = new ArrayList<>();

    private final Deadlines deadlines = new Deadlines();
    private final MaskSignals masks = new MaskSignals();

    @SuppressWarnings("UnnecessaryLambda") // a method reference would be allocated in each iteration
    private final Consumer<LiveRequest> onDue = due -> end(due, FinishReason.DEADLINE);

    /** Number of shared requests that this iteration may still admit. */
    private int remainingShare;

    /** Whether the iteration before this one found nothing to launch. */
    private boolean isIdle;

    private long iterationNanos;
    private @Nullable Flight undelivered;
    private long undeliveredNanos;

    /**
     * Creates a loop over a runner that no other loop uses.
     *
     * @param index the replica's number in the waiting queue
     * @param observers notified of steps, admissions and outcomes
     * @param publishesPrefixes whether to publish the contents of the prefix cache to other threads
     * @param inFlight the requests in flight, which also ends those admitted by this loop
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
        this.scheduler = new Scheduler(
                options,
                pool,
                runner.limits().maxTokens(),
                runner.limits().maxSamples(),
                runner.maxDraftedTokens(),
                runner.spec().vocabularySize(),
                waitingQueue,
                index,
                this::onFirstAdmission);
        this.load = new ReplicaLoad(index, kv, scheduler, prefixes);
        this.requests = observers.requests();
        this.steps = StepObserver.all(
                List.of(StepObserver.only(Set.of(StepEvent.DELIVERING), load), observers.steps(index)));
        this.pipeline = new Pipeline(index, runner, scheduler, clock, steps);
    }

    /** Takes ownership of a request that is being admitted; called under the waiting queue's lock. */
    private void onFirstAdmission(Sequence sequence) {
        LiveRequest request = InFlight.requestOf(sequence);
        live.add(request);
        admitted.add(request);
        request.masks().ifPresent(own -> own.reportTo(masks));
        inFlight.unwatch(request);
        deadlines.add(request);
        if (request.isCancelled()) {
            // The caller may have cancelled it in the loop that had it before.
            cancel(request);
        }
        if (!request.hasLoad()) {
            request.addLoad(load, sequence);
            remainingShare--;
        }
    }

    /** Cancels a request that this loop has admitted. May be called from any thread and repeatedly. */
    void cancel(LiveRequest request) {
        cancelled.add(request);
    }

    EngineStats stats() {
        return EngineStats.of(load, waitingQueue.boundCount(load.index()));
    }

    /** Returns the replica's load. */
    ReplicaLoad load() {
        return load;
    }

    /** Returns whether this loop has requests, waiting or running. */
    boolean isBusy() {
        return !cancelled.isEmpty() || scheduler.hasWork() || pipeline.inFlight() > 0 || undelivered != null;
    }

    /** Returns the number of steps in flight. */
    int stepsInFlight() {
        return pipeline.inFlight();
    }

    /** Returns whether an iteration would find work. */
    boolean hasWork() {
        return isBusy() || waitingQueue.sharedCount() > 0;
    }

    /** Runs one iteration that admits at most {@code maxShared} shared requests. */
    void doWork(int maxShared) {
        steps.on(StepEvent.ITERATION_STARTED, noStep);
        try {
            begin(maxShared);
            finish();
        } finally {
            steps.on(StepEvent.ITERATION_ENDED, noStep);
        }
    }

    /** Begins an iteration that admits at most {@code maxShared} shared requests: up to the wait for the device. */
    void begin(int maxShared) {
        remainingShare = maxShared;
        endCancelled();
        iterationNanos = clock.nanos();
        inFlight.expireUntil(iterationNanos);
        deadlines.expireUntil(iterationNanos, onDue);
        if (pipeline.lacksSampling()) {
            startSampling();
        } else {
            awaitLateMasks();
        }
        launchSteps();
        deliver();
    }

    /** Finishes an iteration: awaits and applies the oldest step in flight, if there is one. */
    void finish() {
        if (pipeline.inFlight() > 0) {
            completeStep();
        }
    }

    /**
     * Starts the sampling of the step whose pass has been submitted. Its masks are computed while the pass runs; a request whose mask
     * is late is left out of the sampling.
     */
    private void startSampling() {
        deliver();
        masks.await(false);
        endByGrammar();
        pipeline.startSampling();
    }

    /** Waits for a late mask if there is nothing else to do; also for others if the next step then has drafts. */
    private void awaitLateMasks() {
        if (masks.arePending() && (isIdle || pipeline.masksGiveDrafts())) {
            masks.await(isIdle);
        }
        endByGrammar();
    }

    private void endByGrammar() {
        for (LiveRequest request = masks.pollEnded(); request != null; request = masks.pollEnded()) {
            if (live.contains(request)) {
                endByGrammar(request, request.sequence().orElseThrow());
            }
        }
    }

    private void endByGrammar(LiveRequest request, Sequence sequence) {
        Optional<RoseException> failure = request.masks().flatMap(GrammarMasks::failure);
        if (failure.isEmpty()) {
            scheduler.end(sequence, FinishReason.STOP);
        } else if (sequence.finishReason().isEmpty()) {
            scheduler.discard(sequence);
            finish(request, RequestOutcome.failed(failure.get()), iterationNanos);
        }
    }

    private void launchSteps() {
        isIdle = pipeline.inFlight() == 0;
        while (pipeline.hasCapacity()) {
            if (pipeline.inFlight() > 0 && scheduler.mayPrefill()) {
                // A step with prompts takes longer to launch than tokens to deliver, and the device has work meanwhile.
                deliver();
            }
            Flight flight = pipeline.plan(remainingShare, iterationNanos);
            if (flight.isEmpty()) {
                break;
            }
            recordAdmissions();
            pipeline.launch();
            isIdle = false;
        }
    }

    private void endCancelled() {
        for (LiveRequest request = cancelled.poll(); request != null; request = cancelled.poll()) {
            if (live.contains(request)) {
                end(request, FinishReason.CANCELLED);
            }
        }
    }

    private void end(LiveRequest request, FinishReason reason) {
        scheduler.end(request.sequence().orElseThrow(), reason);
    }

    private void recordAdmissions() {
        if (admitted.isEmpty()) {
            return;
        }
        for (LiveRequest request : admitted) {
            request.admitted(iterationNanos, request.sequence().orElseThrow().cachedTokens());
            requests.on(new RequestEvent.Admitted(request));
        }
        admitted.clear();
    }

    private void completeStep() {
        if (pipeline.oldestLacksSampling()) {
            startSampling();
        }
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
            LiveRequest request = InFlight.requestOf(plan.sequence(row));
            endAtStopString(request, plan, row);
            if (plan.failedSample(row) != StepPlan.NO_SAMPLE) {
                request.sampledNothing(flight.outputs(), plan.failedSample(row), pipeline.device());
            }
        }
    }

    /** Ends a request at the first sampled token that completes a stop string; drops those after it. */
    private void endAtStopString(LiveRequest request, StepPlan plan, int row) {
        for (int i = 0; i < plan.sampledTokens(row); i++) {
            if (request.stopsAt(plan.sampledToken(row, i))) {
                plan.keepSampledTokens(row, i + 1);
                scheduler.end(plan.sequence(row), FinishReason.STOP);
            }
        }
    }

    /** Fails the requests of a lost step, whose keys and values are lost too; others continue. */
    private void failStep(DeviceFailure failure) {
        StepPlan plan = pipeline.abandon().plan();
        long nanos = clock.nanos();
        RequestOutcome outcome = RequestOutcome.failed(failure);
        for (int row = 0; row < plan.rows(); row++) {
            finish(InFlight.requestOf(plan.sequence(row)), outcome, nanos);
        }
        deliver();
    }

    /** Delivers the tokens of the step completed last to their streams, unless that is done, then pending outcomes. */
    void deliver() {
        steps.on(StepEvent.DELIVERING, noStep);
        if (undelivered != null) {
            deliverTokens(undelivered);
            undelivered = null;
        }
        deliverOutcomes();
        steps.on(StepEvent.DELIVERED, noStep);
    }

    private void deliverTokens(Flight flight) {
        StepPlan plan = flight.plan();
        for (int row = 0; row < plan.rows(); row++) {
            Sequence sequence = plan.sequence(row);
            LiveRequest request = InFlight.requestOf(sequence);
            if (plan.hasReports(row)) {
                request.writeReports(plan.firstTarget(row), plan.reports(row), flight.outputs(), plan.firstSample(row));
            }
            if (plan.sampledTokens(row) == 0) {
                continue;
            }
            request.promptComputed();
            int sample = plan.firstDraw(row);
            for (int i = 0; i < plan.sampledTokens(row); i++) {
                request.write(plan.sampledToken(row, i), undeliveredNanos, plan.step(), flight.outputs(), sample + i);
            }
            if (sequence.finishReason().isEmpty()) {
                request.publish(streamInterval);
            }
        }
    }

    private void deliverOutcomes() {
        Optional<Sequence> ended = scheduler.pollFinished();
        while (ended.isPresent()) {
            Sequence sequence = ended.get();
            RequestOutcome outcome = InFlight.requestOf(sequence).outcomeOf(sequence);
            // Cancelled and expired requests ended in this iteration, all others with their last step.
            boolean early = outcome.reason() == FinishReason.CANCELLED || outcome.reason() == FinishReason.DEADLINE;
            long nanos = early ? iterationNanos : undeliveredNanos;
            finish(InFlight.requestOf(sequence), outcome, nanos);
            ended = scheduler.pollFinished();
        }
    }

    private void finish(LiveRequest request, RequestOutcome outcome, long nanos) {
        inFlight.end(request, outcome, nanos);
        forget(request);
    }

    private void forget(LiveRequest request) {
        live.remove(request);
        deadlines.remove(request);
    }

    /** Completes and delivers the steps in flight, so that another loop can use the runner. */
    void quiesce() {
        deliver();
        while (pipeline.inFlight() > 0) {
            completeStep();
            deliver();
        }
    }

    /**
     * Waits for the steps in flight and discards their results, so that another loop can use the runner; this loop has
     * failed.
     */
    void discardSteps() {
        pipeline.discard();
    }

    /** Passes on the requests without output, so that another loop can serve them from the start. */
    void requeueRestartable(Consumer<LiveRequest> to) {
        for (LiveRequest request : List.copyOf(live)) {
            if (request.isRestartable()) {
                request.removeLoad();
                to.accept(request);
                forget(request);
            }
        }
    }

    /** Ends all requests of this loop, which must not run afterwards. Can be repeated if it throws. */
    void endAll(RequestOutcome outcome) {
        while (!live.isEmpty()) {
            LiveRequest request = live.getFirst();
            inFlight.terminate(request, request.hasLostReplica() ? outcome.suspectingRequest() : outcome);
            request.sequence().filter(own -> own.finishReason().isEmpty()).ifPresent(waitingQueue::abandoned);
            forget(request);
        }
        load.clear();
    }

    /** Empties the prefix cache of an idle engine. */
    void evictAll() {
        scheduler.checkIdle();
        scheduler.pool().evictAll();
    }

    /** Fails if an idle engine holds blocks. */
    void checkIdle() {
        scheduler.checkIdle();
    }

    /** Checks all reference counts and queues. No step may be in flight. */
    void check() {
        scheduler.check();
    }
}
