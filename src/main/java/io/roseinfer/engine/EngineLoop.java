package io.roseinfer.engine;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.engine.flight.Flight;
import io.roseinfer.engine.flight.Pipeline;
import io.roseinfer.engine.flight.StepTimer;
import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.observe.Observers;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.scheduler.Scheduler;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.Sequence;
import io.roseinfer.scheduler.StepPlan;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
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

    private final ModelRunner runner;
    private final Clock clock;
    private final int streamInterval;
    private final Scheduler scheduler;
    private final Pipeline pipeline;
    private final Counters counters;
    private final Observers observers;
    private final Runnable onEnd;
    private final Queue<LiveRequest> submitted = new ConcurrentLinkedQueue<>();
    private final CancelStack cancelled = new CancelStack();
    private final RequestList live = new RequestList();
    private final Deadlines deadlines = new Deadlines();
    private final int[] endOfText;

    private long turnNanos;
    private @Nullable Flight undelivered;
    private long undeliveredNanos;

    /**
     * A loop over a runner that nothing else uses.
     *
     * @param kv the pool it gives out: the runner's, or the first blocks of it
     * @param observers are told of every step, and of admissions and endings
     * @param onEnd called once for every request that ends
     */
    EngineLoop(
            ModelRunner runner,
            KvGeometry kv,
            SchedulerOptions options,
            int streamInterval,
            Clock clock,
            Observers observers,
            Runnable onEnd) {
        this.runner = runner;
        this.clock = clock;
        this.streamInterval = streamInterval;
        this.onEnd = onEnd;
        KvBlockPool pool = new KvBlockPool(kv.blocks(), kv.blockSize(), options.prefixCache());
        this.scheduler = new Scheduler(options, pool, runner.limits().maxTokens());
        this.counters = new Counters(kv, scheduler);
        this.observers = Observers.of(new StepTimer(clock, scheduler), counters).and(observers);
        this.pipeline = new Pipeline(runner, scheduler, this.observers);
        this.endOfText =
                runner.spec().endOfText().stream().mapToInt(Integer::intValue).toArray();
    }

    /**
     * Hands a request with its prompt's ids over, which are copied; any thread. What the request needs is allocated here: running out of memory is
     * the caller's misfortune then, and not that of everybody who is served.
     */
    void submit(LiveRequest request, int[] prompt) {
        request.attach(sequenceOf(request, prompt));
        submitted.add(request);
    }

    private Sequence sequenceOf(LiveRequest request, int[] prompt) {
        GenerationRequest wanted = request.request();
        Sequence sequence = new Sequence(
                request.id(),
                request,
                prompt,
                EngineLimits.maxLength(prompt.length, wanted.maxNewTokens(), runner.spec()),
                wanted.sampling(),
                request.seed(),
                wanted.ignoreEndOfText() ? NONE : endOfText,
                scheduler.pool());
        return sequence.marked(wanted.terms().priority(), wanted.terms().tag());
    }

    /** Asks for a request's end; any thread, any number of times. */
    void cancel(LiveRequest request) {
        cancelled.push(request);
    }

    EngineStats stats() {
        return counters.snapshot(submitted.size());
    }

    /** Whether a turn would find anything to do. */
    boolean hasWork() {
        return !submitted.isEmpty()
                || !cancelled.isEmpty()
                || scheduler.hasWork()
                || pipeline.inFlight() > 0
                || undelivered != null;
    }

    /** One turn. */
    void doWork() {
        observers.turnBegins();
        try {
            turn();
        } finally {
            observers.turnEnds();
        }
    }

    private void turn() {
        takeCommands();
        turnNanos = clock.nanos();
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

    private void takeCancels() {
        LiveRequest request = cancelled.takeAll();
        while (request != null) {
            LiveRequest before = request.cancelledBefore;
            request.cancelledBefore = null;
            // A request that has not been taken in yet is met by its own flag when it is.
            if (live.contains(request)) {
                scheduler.end(request.sequence().orElseThrow(), FinishReason.CANCELLED);
            }
            request = before;
        }
    }

    /** Ends the requests whose deadline has passed, waiting or running; their blocks return as those of a cancelled one do. */
    private void expire() {
        LiveRequest due = deadlines.first();
        while (due != null && due.deadlineNanos() <= turnNanos) {
            deadlines.remove(due);
            scheduler.end(due.sequence().orElseThrow(), FinishReason.DEADLINE);
            due = deadlines.first();
        }
    }

    private void enqueue(LiveRequest request) {
        live.addLast(request);
        if (request.isCancelled()) {
            finish(request, Ending.CANCELLED, clock.nanos());
        } else {
            scheduler.add(request.sequence().orElseThrow());
            if (request.hasDeadline()) {
                deadlines.add(request);
            }
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
                observers.admitted(request);
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
            if (plan.hasYielded(row) && requestOf(sequence).stopsAt(plan.yielded(row))) {
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
        observers.delivering();
        if (undelivered != null) {
            deliverTokens(undelivered);
            undelivered = null;
        }
        deliverEndings();
        observers.delivered();
    }

    private void deliverTokens(Flight flight) {
        StepPlan plan = flight.plan();
        for (int row = 0; row < plan.rows(); row++) {
            if (!plan.hasYielded(row)) {
                continue;
            }
            Sequence sequence = plan.sequence(row);
            LiveRequest request = requestOf(sequence);
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
        if (request.claimEnding()) {
            // In this order: who learns of the ending may submit the next request at once.
            onEnd.run();
            if (request.end(ending, nanos)) {
                observers.ended(request, ending.reason());
            }
        }
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

    /**
     * Ends every request there is; the loop must not be turned afterwards. Allocates nothing, and forgets a request only after its
     * ending, so it can be called again if it fails.
     *
     * @param onCut is called before each ending
     */
    void endAll(Ending ending, Runnable onCut) {
        for (LiveRequest request = live.first(); request != null; request = live.first()) {
            onCut.run();
            finish(request, ending, clock.nanos());
        }
        for (LiveRequest request = submitted.peek(); request != null; request = submitted.peek()) {
            onCut.run();
            finish(request, ending, clock.nanos());
            submitted.poll();
        }
        counters.nothingRuns();
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
