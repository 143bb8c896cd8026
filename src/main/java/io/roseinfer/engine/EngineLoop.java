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
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One turn after the other: take in commands, plan and launch the next step, deliver the tokens of the step before while the
 * device works, wait for the step. {@link #doWork} is a turn; tests call it by hand, {@link SchedulerManager} calls it on a
 * thread. Requests and cancels may come from any thread; everything else happens on the thread that turns the loop.
 */
final class EngineLoop {
    /** Commands taken in per turn, so that a flood of requests cannot hold up the rows that run. */
    private static final int COMMANDS_PER_TURN = 1024;

    private static final int[] NONE = {};

    /** What a loop is part of. */
    interface Owner {
        /** One request fewer is in flight. Called for every request that ends, before its reader learns of it. */
        void countOut();

        /** Whether other threads are to know what its prefix cache has. */
        default boolean publishesPrefixes() {
            return false;
        }

        /** Has the loop turned soon, if it has stopped for lack of work. */
        default void wake() {}

        /** Wakes one of the others that take from the shared queue and sleep. */
        default void wakeOther() {}

        /** Whether requests of which nobody has seen anything can be served by somebody else, now that the loop has failed. */
        default boolean takesBack() {
            return false;
        }

        /** Takes such a request, which is in no list of the loop any more. */
        default void takeBack(LiveRequest request) {
            throw new UnsupportedOperationException("nobody takes requests back");
        }
    }

    private final ModelRunner runner;
    private final Clock clock;
    private final int streamInterval;
    private final Scheduler scheduler;
    private final Pipeline pipeline;
    private final ReplicaLoad load;
    private final RequestObserver requests;
    private final StepObserver steps;
    /** The record at events of turns and deliveries, which are of no step. */
    private final StepRecord noStep = new StepRecord();

    private final SharedQueue shared;
    private final Owner owner;
    private final Queue<LiveRequest> submitted = new ConcurrentLinkedQueue<>();
    private final Queue<LiveRequest> cancelled = new ConcurrentLinkedQueue<>();
    private final LinkedHashSet<LiveRequest> live = new LinkedHashSet<>();
    /** The requests of the shared queue that were taken and not admitted yet. */
    private final LinkedHashSet<LiveRequest> unadmitted = new LinkedHashSet<>();

    private final Deadlines deadlines = new Deadlines();
    private final int[] endOfText;

    private long turnNanos;
    private @Nullable Flight undelivered;
    private long undeliveredNanos;

    /**
     * A loop over a runner that nothing else uses.
     *
     * @param index its number among those that share the queue
     * @param kv the pool it gives out: the runner's, or the first blocks of it
     * @param observers are told of every step, and of admissions and endings
     * @param shared requests that it may take when it has room
     */
    EngineLoop(
            int index,
            ModelRunner runner,
            KvGeometry kv,
            EngineOptions engine,
            Clock clock,
            Observers observers,
            SharedQueue shared,
            Owner owner) {
        this.runner = runner;
        this.clock = clock;
        this.streamInterval = engine.streamInterval();
        this.shared = shared;
        this.owner = owner;
        SchedulerOptions options = engine.scheduler();
        PublishedPrefixes prefixes =
                owner.publishesPrefixes() && options.prefixCache() ? new PublishedPrefixes(kv.blocks()) : null;
        KvBlockPool pool = new KvBlockPool(kv.blocks(), kv.blockSize(), options.prefixCache(), prefixes);
        this.scheduler = new Scheduler(options, pool, runner.limits().maxTokens());
        this.load = new ReplicaLoad(index, kv, scheduler, prefixes);
        this.requests = observers.requests();
        this.steps = StepObserver.all(List.of(new StepTimer(index, clock, scheduler), load, observers.steps(index)));
        this.pipeline = new Pipeline(runner, scheduler, steps);
        this.endOfText =
                runner.spec().endOfText().stream().mapToInt(Integer::intValue).toArray();
    }

    /** A loop that shares nothing. */
    EngineLoop(
            ModelRunner runner, KvGeometry kv, EngineOptions options, Clock clock, Observers observers, Owner owner) {
        this(0, runner, kv, options, clock, observers, new SharedQueue(request -> {}), owner);
    }

    /** Hands a request over with its prompt's ids, which are copied; any thread. */
    void submit(LiveRequest request, int[] prompt) {
        request.attach(sequenceOf(request, prompt));
        charge(request);
        submitted.add(request);
    }

    private void charge(LiveRequest request) {
        Sequence sequence = request.sequence().orElseThrow();
        int cached = load.cachedTokens(request);
        request.charge(sequence.maxLength(), sequence.promptLength() - cached);
        load.add(request.chargedTokens(), request.chargedPromptTokens());
        shared.takenChanged(1);
    }

    private void discharge(LiveRequest request) {
        if (request.chargedTokens() > 0) {
            load.remove(request.chargedTokens(), request.chargedPromptTokens());
            shared.takenChanged(-1);
            request.charge(0, 0);
        }
    }

    /** What the scheduler is to know of a request, with room for all its tokens. */
    Sequence sequenceOf(LiveRequest request, int[] prompt) {
        GenerationRequest wanted = request.request();
        Sequence sequence = new Sequence(
                request.id(),
                request,
                prompt,
                EngineLimits.maxLength(prompt.length, wanted.maxNewTokens(), runner.spec()),
                wanted.sampling(),
                request.seed(),
                endsOf(wanted),
                scheduler.pool());
        return sequence.marked(wanted.terms().priority(), wanted.terms().tag());
    }

    /** The ids that end a request's completion. */
    private int[] endsOf(GenerationRequest wanted) {
        int[] model = wanted.ignoreEndOfText() ? NONE : endOfText;
        return wanted.stopTokens().isEmpty()
                ? model
                : IntStream.concat(
                                Arrays.stream(model),
                                wanted.stopTokens().stream().mapToInt(Integer::intValue))
                        .toArray();
    }

    /** Asks for a request's end; any thread, any number of times. */
    void cancel(LiveRequest request) {
        request.cancel();
        cancelled.add(request);
        owner.wake();
    }

    EngineStats stats() {
        return EngineStats.of(load, submitted.size());
    }

    /** What it has to do. */
    ReplicaLoad load() {
        return load;
    }

    /** Whether a turn would find anything to do. */
    boolean hasWork() {
        return !submitted.isEmpty()
                || !shared.isEmpty()
                || !cancelled.isEmpty()
                || scheduler.hasWork()
                || pipeline.inFlight() > 0
                || undelivered != null;
    }

    /** One turn. */
    void doWork() {
        steps.on(StepEvent.TURN_BEGINS, noStep);
        try {
            turn();
        } finally {
            steps.on(StepEvent.TURN_ENDS, noStep);
        }
    }

    private void turn() {
        takeCommands();
        turnNanos = clock.nanos();
        takeShared();
        expire();
        launchSteps();
        deliver();
        if (pipeline.inFlight() > 0) {
            completeStep();
        }
    }

    private void launchSteps() {
        while (pipeline.hasRoom()) {
            Flight flight = pipeline.plan();
            if (flight.isEmpty()) {
                break;
            }
            stampAdmissions(flight.plan(), turnNanos);
            pipeline.launch();
        }
    }

    private void takeCommands() {
        for (int i = 0; i < COMMANDS_PER_TURN; i++) {
            LiveRequest request = submitted.poll();
            if (request == null) {
                break;
            }
            enqueue(request);
        }
        takeCancels();
    }

    /**
     * Takes from the shared queue what can be admitted, and leaves it to an engine that has nothing to do, if there is one. What was taken
     * and cannot be admitted after all goes back: no request waits for this engine while another could run it.
     */
    private void takeShared() {
        shared.expireUntil(turnNanos);
        if (!unadmitted.isEmpty() && (shared.isAwaited() || !scheduler.hasRoomForWaiting())) {
            giveUnadmittedBack();
        }
        if (shared.isEmpty()) {
            return;
        }
        if (scheduler.hasWork() && shared.isAwaited()) {
            owner.wakeOther();
        } else {
            shared.serve(this);
        }
    }

    private void giveUnadmittedBack() {
        for (LiveRequest request : List.copyOf(unadmitted)) {
            scheduler.withdraw(request.sequence().orElseThrow());
            giveBack(request);
        }
    }

    /** Returns whether a request of the shared queue could be admitted; for the thread that works on the queue. */
    boolean hasRoomFor(LiveRequest request) {
        Sequence sequence = request.sequence().orElseThrow();
        sequence.moveTo(scheduler.pool());
        return scheduler.hasRoomFor(sequence);
    }

    /** Takes in a request from the shared queue that there is room for; on the loop's thread. */
    void take(LiveRequest request) {
        live.add(request);
        unadmitted.add(request);
        charge(request);
        schedule(request);
    }

    private void takeCancels() {
        for (LiveRequest request = cancelled.poll(); request != null; request = cancelled.poll()) {
            // A request that is not in the list yet is ended when it is enqueued, because it is marked.
            if (live.contains(request)) {
                end(request, FinishReason.CANCELLED);
            }
        }
    }

    /** Ends the requests whose deadline has passed, waiting or running; their blocks return as those of a cancelled one do. */
    private void expire() {
        LiveRequest due = deadlines.first();
        while (due != null && due.deadlineNanos() <= turnNanos) {
            deadlines.remove(due);
            end(due, FinishReason.DEADLINE);
            due = deadlines.first();
        }
    }

    /** Ends a request early. It waits no more, so it is not given back if it has not been admitted. */
    private void end(LiveRequest request, FinishReason reason) {
        unadmitted.remove(request);
        scheduler.end(request.sequence().orElseThrow(), reason);
    }

    private void enqueue(LiveRequest request) {
        live.add(request);
        schedule(request);
    }

    private void schedule(LiveRequest request) {
        if (request.isCancelled()) {
            finish(request, Ending.CANCELLED, clock.nanos());
        } else {
            scheduler.add(request.sequence().orElseThrow());
            deadlines.add(request);
        }
    }

    private static LiveRequest requestOf(Sequence sequence) {
        return (LiveRequest) sequence.owner();
    }

    private void stampAdmissions(StepPlan plan, long nanos) {
        for (int row = 0; row < plan.rows(); row++) {
            Sequence sequence = plan.sequence(row);
            LiveRequest request = requestOf(sequence);
            if (request.admitted(nanos, sequence.cachedTokens())) {
                unadmitted.remove(request);
                requests.admitted(request);
            }
        }
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
            if (!plan.hasYielded(row)) {
                continue;
            }
            if (requestOf(sequence).stopsAt(plan.yielded(row))) {
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
            finish(requestOf(plan.sequence(row)), ending, nanos);
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
            if (!plan.hasYielded(row)) {
                continue;
            }
            Sequence sequence = plan.sequence(row);
            LiveRequest request = requestOf(sequence);
            if (request.chargedPromptTokens() > 0) {
                load.compute(request.chargedPromptTokens());
                request.charge(request.chargedTokens(), 0);
            }
            request.write(plan.yielded(row), undeliveredNanos, plan.step(), flight.outputs(), plan.sample(row));
            if (sequence.finishReason().isEmpty()) {
                request.publish(streamInterval);
            }
        }
    }

    private void deliverEndings() {
        Optional<Sequence> ended = scheduler.pollFinished();
        while (ended.isPresent()) {
            Sequence sequence = ended.get();
            Ending ending = requestOf(sequence).endingOf(sequence);
            // What the caller or a deadline ended is over since this turn began, anything else since its last step.
            boolean early = ending.reason() == FinishReason.CANCELLED || ending.reason() == FinishReason.DEADLINE;
            long nanos = early ? turnNanos : undeliveredNanos;
            finish(requestOf(sequence), ending, nanos);
            ended = scheduler.pollFinished();
        }
    }

    private void finish(LiveRequest request, Ending ending, long nanos) {
        // In this order: who learns of the ending may submit the next request at once, and look at the load.
        discharge(request);
        if (request.claimEnding()) {
            owner.countOut();
            if (request.end(ending, nanos)) {
                requests.ended(request, ending.reason());
            }
        }
        forget(request);
    }

    private void forget(LiveRequest request) {
        live.remove(request);
        unadmitted.remove(request);
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

    /**
     * Ends every request there is, but for those that its owner takes back; the loop must not be turned afterwards. A request leaves
     * the loop's lists only with its ending, so a call that fails can be repeated.
     *
     * @param onCut is called before each ending
     */
    void endAll(Ending ending, Runnable onCut) {
        for (LiveRequest request = submitted.poll(); request != null; request = submitted.poll()) {
            live.add(request);
        }
        while (!live.isEmpty()) {
            LiveRequest request = live.getFirst();
            if (request.isUntouched() && owner.takesBack()) {
                request.attach(sequenceOf(request, request.promptIds()));
                giveBack(request);
            } else {
                onCut.run();
                finish(request, ending, clock.nanos());
            }
        }
        load.nothingRuns();
    }

    private void giveBack(LiveRequest request) {
        discharge(request);
        forget(request);
        owner.takeBack(request);
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
