package io.roseinfer.engine;

import io.roseinfer.backend.StepInputs;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.engine.Trace.Event;
import io.roseinfer.kv.BlockTable;
import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.kv.KvProbe;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.observe.Observers;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.scheduler.Scheduler;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.Sequence;
import io.roseinfer.scheduler.SequenceProbe;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.Drafter;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * The real loop, scheduler, pool and streams over a watched device with its own clock, run by hand. All checks run
 * after every iteration; the caller decides what happens in it.
 */
final class SimulatedEngine implements AutoCloseable {
    private final SimulationSettings settings;
    private final Trace trace;
    private final WatchedRunner runner;
    private final RecordAudit records = new RecordAudit();
    private final LoneLoop loop;
    private final Clock clock;
    private final Scheduler scheduler;
    private final List<WatchedRequest> requests = new ArrayList<>();
    private final List<WatchedRequest> running = new ArrayList<>();
    private final int[] tokens;
    private final int[] found;
    private final BitSet lossIterations = new BitSet();
    private Optional<EngineStopped> death = Optional.empty();
    private FinishReason endWith = FinishReason.STOP;
    private long nanos;
    private int iteration;
    private Runnable meanwhile = () -> {};
    private boolean iterating;
    private boolean stopped;

    SimulatedEngine(SimulationSettings settings, Trace trace) {
        this.settings = settings;
        this.trace = trace;
        this.runner = new WatchedRunner(settings, trace);
        this.clock = () -> nanos += settings.clockTickNanos();
        this.loop = new LoneLoop(runner, settings.engine(), clock, Observers.ofSteps(records));
        this.scheduler = schedulerOf(loop.loop());
        this.tokens = new int[settings.contextLength()];
        this.found = new int[settings.contextLength()];
        runner.watch(scheduler.pool(), this::launched, () -> {
            if (iterating) {
                meanwhile.run();
            }
        });
    }

    /** Returns the loop's private scheduler, for checks. */
    static Scheduler schedulerOf(EngineLoop loop) {
        try {
            var field = EngineLoop.class.getDeclaredField("scheduler");
            field.setAccessible(true);
            return (Scheduler) field.get(loop);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("EngineLoop.scheduler", e);
        }
    }

    List<WatchedRequest> requests() {
        return requests;
    }

    /** Returns the number of iterations so far. */
    int iterations() {
        return iteration;
    }

    boolean isStopped() {
        return stopped;
    }

    Scheduler scheduler() {
        return scheduler;
    }

    int lostSteps() {
        return runner.lost();
    }

    void advance(long byNanos) {
        nanos += byNanos;
    }

    void advanceToDeadline(WatchedRequest request) {
        nanos = Math.max(nanos, request.live().expiryNanos());
    }

    WatchedRequest submit(GenerationRequest wanted, boolean reads) {
        GenerationRequest request = wanted.startingAt(nanos);
        int[] prompt = ((Prompt.Tokens) request.prompt()).ids();
        EngineLimits.requireServable(
                prompt, request.maxNewTokens(), runner.spec(), EngineLimits.pool(runner, settings.engine()));
        LiveRequest live = new LiveRequest(
                requests.size(), request, request.seed().orElse(0), settings.contextLength(), Optional.empty());
        live.tokenized(prompt.length, nanos);
        WatchedRequest watched = new WatchedRequest(live, clock, () -> cancel(live), reads, trace);
        requests.add(watched);
        running.add(watched);
        trace.add(Event.SUBMIT, live.id(), prompt.length);
        loop.submit(live, prompt);
        if (stopped) {
            stop(endWith);
        }
        return watched;
    }

    /** Cancels like an engine's stream: requests that have ended are left alone. */
    private void cancel(LiveRequest live) {
        if (!live.tokens().isEnded()) {
            loop.cancel(live);
        }
    }

    /** Closes a request's stream before an iteration, or in the middle of it as another thread would. */
    void cancel(WatchedRequest request) {
        trace.add(Event.CANCEL, request.live().id(), iterating ? 1 : 0);
        int underWay = settings.isSpeculative() ? Drafter.MAX_ROW_TOKENS : 1;
        request.cancel(iterating ? iteration + 1 : iteration, iterating ? underWay : 0);
    }

    /** Sets what other threads do while an iteration takes commands or waits for the device. */
    void meanwhile(Runnable action) {
        meanwhile = action;
    }

    boolean hasWork() {
        return !stopped && loop.hasWork();
    }

    /** Runs one iteration and all checks. */
    void runIteration() {
        if (stopped) {
            checkRequests();
            iteration++;
            return;
        }
        Optional<WatchedRequest> oldest =
                running.stream().filter(r -> r.isRunning() && !r.isCancelled()).findFirst();
        running.forEach(request -> request.beginIteration(iteration, nanos));
        int lostBefore = runner.lost();
        trace.add(Event.ITERATION, iteration, nanos);
        try {
            iterating = true;
            loop.doWork();
        } catch (DeviceFailure failure) {
            Require.that(!failure.recoverable(), "a recoverable failure of the device ended the engine");
            die(failure);
        } finally {
            iterating = false;
        }
        if (runner.lost() > lostBefore) {
            lossIterations.set(iteration);
        }
        oldest.ifPresent(request -> Require.that(
                request.newPreemptions() == 0,
                "the oldest, %d, was preempted",
                request.live().id()));
        if (!stopped) {
            runner.endIteration();
            checkBooks();
        }
        checkRequests();
        iteration++;
    }

    private void launched(StepInputs inputs) {
        records.count(inputs, running);
        checkSkips();
    }

    /** Checks that no request starves: a request left waiting by a step that admits a later one counts as skipped. */
    private void checkSkips() {
        long newest = -1;
        for (WatchedRequest request : running) {
            newest = request.isAdmitted() ? request.live().id() : newest;
        }
        boolean oldest = true;
        for (WatchedRequest request : running) {
            if (request.isWaiting() && request.live().id() < newest) {
                request.skip(oldest, maxPassesOfOldest());
            }
            oldest &= !request.isWaiting() || request.preemptions() > 0;
        }
    }

    /**
     * Returns the maximum skips of the oldest request. A forced FIFO iteration lasts until it is admitted, or until a
     * shared prefix of it has been computed.
     */
    private int maxPassesOfOldest() {
        SchedulerOptions options = settings.engine().scheduler();
        if (options.prefixCache()) {
            return AdmissionPolicy.MAX_PASSES;
        }
        int forceFifoEvery =
                switch (options.admission()) {
                    case AdmissionPolicy.Fifo fifo -> 1;
                    case AdmissionPolicy.Pack pack -> pack.forceFifoEvery();
                    default -> 0;
                };
        return forceFifoEvery > 0 ? forceFifoEvery - 1 : AdmissionPolicy.MAX_PASSES;
    }

    private void checkBooks() {
        List<BlockTable> tables = new ArrayList<>();
        for (WatchedRequest request : running) {
            request.newPreemptions();
            if (request.live().sequence().isPresent()) {
                Sequence sequence = request.live().sequence().get();
                SequenceProbe.checkMarks(sequence);
                tables.add(sequence.table());
                boolean mayHold = sequence.finishReason().isEmpty()
                        ? !sequence.isWaiting()
                        : SequenceProbe.inFlight(sequence) > 0;
                Require.that(
                        mayHold || sequence.table().size() == 0,
                        "request %d holds blocks and is in no step",
                        sequence.id());
                Require.that(
                        SequenceProbe.timesPassedOver(sequence) == request.skips(),
                        "request %d counts %d skips, seen %d",
                        sequence.id(),
                        SequenceProbe.timesPassedOver(sequence),
                        request.skips());
                checkBlocks(sequence);
                checkCached(sequence);
            }
        }
        scheduler.pool().check(tables);
        long preemptions =
                requests.stream().mapToLong(WatchedRequest::preemptions).sum();
        Require.that(
                preemptions == scheduler.total(Fact.PREEMPTIONS),
                "%d preemptions of requests, %d counted",
                preemptions,
                scheduler.total(Fact.PREEMPTIONS));
        Require.that(
                scheduler.total(Fact.CACHED_TOKENS) == records.cachedTokens(),
                "%d tokens from the prefix cache, counted %d",
                scheduler.total(Fact.CACHED_TOKENS),
                records.cachedTokens());
        Require.that(
                scheduler.total(Fact.ACCEPTED_TOKENS) == records.accepted(),
                "%d drafts accepted, %d recorded",
                scheduler.total(Fact.ACCEPTED_TOKENS),
                records.accepted());
        int most = settings.engine().scheduler().maxActiveRequests();
        Require.that(scheduler.active() <= most, "%d active requests of at most %d", scheduler.active(), most);
        Require.that(
                scheduler.active() + scheduler.waiting() <= running.size(),
                "%d active and %d waiting of %d requests",
                scheduler.active(),
                scheduler.waiting(),
                running.size());
    }

    /**
     * Checks that a request holds blocks for its known tokens only, none for rejected drafts, and that the published ones
     * are full of them.
     */
    private void checkBlocks(Sequence sequence) {
        int blockSize = scheduler.pool().blockSize();
        BlockTable table = sequence.table();
        boolean hasPlan = SequenceProbe.inFlight(sequence) > 0;
        Require.that(
                hasPlan || table.size() <= Math.ceilDiv(sequence.length(), blockSize),
                "request %d holds %d blocks for %d tokens",
                sequence.id(),
                table.size(),
                sequence.length());
        Require.that(
                KvProbe.published(table) * blockSize <= sequence.length(),
                "request %d with %d tokens has published %d blocks",
                sequence.id(),
                sequence.length(),
                KvProbe.published(table));
    }

    /** Checks that the blocks the prefix cache would give a request hold that request's tokens on the device. */
    private void checkCached(Sequence sequence) {
        KvBlockPool pool = scheduler.pool();
        int known = sequence.length();
        for (int i = 0; i < known; i++) {
            tokens[i] = sequence.token(i);
        }
        int blocks = KvProbe.cachedPrefix(pool, tokens, known, found);
        long expected = WatchedRunner.ROOT;
        for (int i = 0; i < blocks * pool.blockSize(); i++) {
            expected = WatchedRunner.after(expected, tokens[i]);
            int block = found[i / pool.blockSize()];
            Require.that(
                    runner.content(block * pool.blockSize() + i % pool.blockSize()) == expected,
                    "cached block %d does not hold token %d of request %d",
                    block,
                    i,
                    sequence.id());
        }
    }

    private void checkRequests() {
        int unended = 0;
        for (WatchedRequest request : running) {
            request.check(iteration, stopped);
            unended += request.hasEnded() ? 0 : 1;
        }
        Require.that(
                loop.endedCount() == requests.size() - unended,
                "%d outcomes of %d requests that have ended",
                loop.endedCount(),
                requests.size() - unended);
        running.removeIf(request -> request.isOver(iteration));
    }

    /** Closes the engine like its owner, regardless of steps in flight. */
    void close(FinishReason reason) {
        trace.add(Event.CLOSE, iteration, 0);
        try {
            loop.quiesce();
            stop(reason);
        } catch (DeviceFailure failure) {
            die(failure);
        }
        lossIterations.set(iteration);
        checkRequests();
    }

    private void die(DeviceFailure failure) {
        death = Optional.of(new EngineStopped("the engine stopped: " + failure.getMessage(), failure));
        stop(FinishReason.ERROR);
    }

    private void stop(FinishReason reason) {
        stopped = true;
        endWith = reason;
        loop.endAll(death.map(RequestOutcome::failed).orElse(RequestOutcome.CANCELLED));
    }

    /**
     * Completes all requests, without arrivals and faults. A step without a new token recomputes at least one prompt
     * token, so there cannot be more such steps in a row than tokens.
     */
    void drain() {
        runner.stopFaults();
        long progress = progress();
        int idle = 0;
        while (hasWork()) {
            runIteration();
            idle = progress() > progress ? 0 : idle + 1;
            progress = Math.max(progress, progress());
            if (idle > maxIdleIterations()) {
                throw new AssertionError("no token in " + idle + " iterations: " + describeUnended());
            }
        }
        checkRequests();
        Require.that(running.stream().allMatch(WatchedRequest::hasEnded), "never ended: %s", describeUnended());
        if (!stopped) {
            loop.check();
            Require.that(
                    scheduler.pool().held() == 0,
                    "%d blocks held without a request",
                    scheduler.pool().held());
            Require.that(
                    loop.stats().blocksInUse() == 0,
                    "the books say %d blocks",
                    loop.stats().blocksInUse());
        }
    }

    private long progress() {
        return requests.stream()
                .mapToLong(r -> r.length() + (r.hasEnded() ? 1 : 0))
                .sum();
    }

    private int maxIdleIterations() {
        int tokens = running.stream().mapToInt(WatchedRequest::length).sum();
        return 8 + (settings.engine().scheduler().chunkedPrefill() ? tokens : 2 * running.size());
    }

    private String describeUnended() {
        StringBuilder text = new StringBuilder();
        text.append(scheduler.pool().available()).append(" blocks available");
        for (WatchedRequest request : running) {
            if (!request.hasEnded()) {
                request.live()
                        .sequence()
                        .ifPresentOrElse(
                                s -> text.append("; request ")
                                        .append(s.id())
                                        .append(s.isWaiting() ? " waits" : " runs")
                                        .append(" with ")
                                        .append(s.length())
                                        .append(" of ")
                                        .append(s.maxLength())
                                        .append(" tokens, ")
                                        .append(s.table().size())
                                        .append(" blocks, ")
                                        .append(s.table().missingBlocks(s.length()))
                                        .append(" missing"),
                                () -> text.append("; request ")
                                        .append(request.live().id())
                                        .append(" was never taken in"));
            }
        }
        return text.toString();
    }

    /** Compares every request's tokens with its solo run, after everything has ended. */
    void checkOutcomes() {
        try (SoloRun solo = new SoloRun(settings)) {
            checkOutcomes(request -> solo.tokens(request.promptIds(), request.request(), request.seed()));
        }
    }

    /** Compares every request's tokens with its {@code solo} tokens, after everything has ended. */
    void checkOutcomes(Function<LiveRequest, List<GeneratedToken>> solo) {
        for (WatchedRequest request : requests) {
            List<GeneratedToken> alone = solo.apply(request.live());
            boolean stops = !request.live().request().ignoreEndOfText()
                    && alone.getLast().id() == settings.endOfText();
            request.checkOutcome(alone, stops, mayFail(request), stopped);
        }
    }

    private boolean mayFail(WatchedRequest request) {
        return endWith == FinishReason.ERROR
                || lossIterations.get(request.endedAt())
                || request.live().sequence().map(runner::hasSpoiled).orElse(false);
    }

    @Override
    public void close() {
        runner.close();
    }
}
