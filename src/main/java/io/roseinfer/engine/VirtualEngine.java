package io.roseinfer.engine;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.base.Check;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.base.RoseException.ReplicaStopped;
import io.roseinfer.base.SplitMix64;
import io.roseinfer.engine.routing.ReplicaView;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.engine.routing.ViewAge;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.observe.ObservedRequest;
import io.roseinfer.observe.Observers;
import io.roseinfer.observe.RequestEvent;
import io.roseinfer.observe.RequestObserver;
import io.roseinfer.observe.StepEvent;
import io.roseinfer.observe.StepObserver;
import io.roseinfer.sampling.LogitConstraints;
import io.roseinfer.scheduler.Scheduler;
import io.roseinfer.scheduler.Sequence;
import io.roseinfer.scheduler.WaitingQueue;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * An engine in virtual time, on the caller's thread: the loops, schedulers, KV pools, waiting queue and routing of
 * {@link Engine}, without threads. A step takes the time that {@link Durations} gives it, and nothing else takes time,
 * so a run is as fast as its scheduling and identical on every machine.
 *
 * {@snippet :
 * VirtualEngine engine = new VirtualEngine(runners, options, RoutingPolicy.pull(), durations, observers);
 * for (Arrival arrival : arrivals) {
 *     engine.runUntil(arrival.nanos());
 *     engine.submit(arrival.request(), arrival.nanos());
 * }
 * engine.runUntil(Long.MAX_VALUE);
 * }
 *
 * <p>The caller submits requests and starts, drains and stops replicas in order of time, and runs the events between
 * them. At equal times the caller's events come first, then ends of steps, then starts of iterations, each in order of
 * replica number. Tokens and outcomes are delivered at the end of their step; observers are notified then and may not
 * call the engine. Not thread-safe.
 */
public final class VirtualEngine {
    private static final long NEVER = Long.MAX_VALUE;
    private static final long UNKNOWN = Long.MIN_VALUE;

    /** The durations of a virtual engine. Times are in nanoseconds since any origin. */
    @FunctionalInterface
    public interface Durations {
        /**
         * Returns when a step ends.
         *
         * @param step the planned step, with its counts, its number and its replica; reused after the call
         * @param startNanos when the device starts it: at its launch, or at the end of the step before it
         */
        long stepEnd(StepRecord step, long startNanos);

        /**
         * Returns when a replica starts its next iteration.
         *
         * @param step the step that has just ended; reused after the call
         * @param endNanos its end
         */
        default long nextIteration(StepRecord step, long endNanos) {
            return endNanos;
        }

        /** Returns when an idle replica starts an iteration for a request that arrives at a time. */
        default long wakeUp(int replica, long arrivalNanos) {
            return arrivalNanos;
        }
    }

    /** The phases of a replica. */
    public enum Phase {
        /** Accepts requests. */
        SERVING,
        /** Accepts no requests and serves those admitted. */
        DRAINING,
        /** Is drained, or has never started; can start. */
        OFF,
        /** Starts; requests wait for it if no replica serves. */
        STARTING,
        /** Failed; never starts again. */
        STOPPED
    }

    private final ModelSpec spec;
    private final KvGeometry kv;
    private final EngineOptions options;
    private final Durations durations;
    private final RequestObserver observer;
    private final InFlight inFlight;
    private final RequestRouter router;
    private final VirtualReplica[] replicas;
    private final IdleReplicas idle;
    private final List<AgedView> agedViews;
    /** The time of the next event, or {@link #UNKNOWN} after a change of a replica's events. */
    private long nextNanos = UNKNOWN;
    /** The replica of the next event, if its time is known and not {@link #NEVER}. */
    private @Nullable VirtualReplica nextReplica;
    /** Whether the next event is the end of a step, not the start of an iteration. */
    private boolean isNextStepEnd;

    private long nowNanos = Long.MIN_VALUE;
    private long nextId;
    /** The replicas that serve. */
    private int liveCount;

    private int startingCount;

    /** Creates an engine like the other constructor, whose routing policy sees the current state of replicas. */
    public VirtualEngine(
            List<? extends ModelRunner> runners,
            EngineOptions options,
            RoutingPolicy routing,
            Durations durations,
            Observers observers) {
        this(runners, options, routing, ViewAge.NONE, durations, observers);
    }

    /**
     * Creates an engine of idle replicas that serve.
     *
     * @param runners one per replica, at least one; closed by the caller
     * @param options apply to each replica, except {@code maxInflightRequests}, which is the total
     * @param routing chooses the replica of a request; not used with a single replica
     * @param age how old the state of replicas is that policies see
     * @param observers notified of requests and of steps; no iteration is reported
     * @throws BadInput if a runner was loaded for smaller steps than the options require
     */
    public VirtualEngine(
            List<? extends ModelRunner> runners,
            EngineOptions options,
            RoutingPolicy routing,
            ViewAge age,
            Durations durations,
            Observers observers) {
        if (runners.isEmpty()) {
            throw new BadInput("no runner was given; an engine needs one per replica");
        }
        runners.forEach(runner -> EngineLimits.requireFit(runner, options));
        this.spec = runners.getFirst().spec();
        this.kv = runners.stream()
                .map(runner -> EngineLimits.pool(runner, options))
                .min(Comparator.comparingInt(KvGeometry::blocks))
                .orElseThrow();
        this.options = options;
        this.durations = durations;
        this.observer = observers.requests();
        this.inFlight = new InFlight(
                options.maxInflightRequests(),
                this::nowNanos,
                observer,
                new WaitingQueue(runners.size(), options.scheduler().policies()),
                new TokenizeWorkers(0, request -> {}),
                () -> {});
        this.router =
                new RequestRouter(runners.size() == 1 ? (request, only) -> 0 : routing, options, inFlight, this::view);
        this.replicas = IntStream.range(0, runners.size())
                .mapToObj(i -> new VirtualReplica(i, runners.get(i), observers))
                .toArray(VirtualReplica[]::new);
        this.idle = new IdleReplicas(List.of(replicas), router, inFlight.waitingQueue());
        this.agedViews = age.nanos() == 0
                ? List.of()
                : Arrays.stream(replicas)
                        .map(replica -> new AgedView(replica.load(), this::nowNanos, age))
                        .toList();
        for (VirtualReplica replica : replicas) {
            router.add(replica.load());
        }
        this.liveCount = replicas.length;
    }

    private ReplicaView view(ReplicaLoad load) {
        return agedViews.isEmpty() ? load : agedViews.get(load.index());
    }

    /** A loop and its next event. */
    private final class VirtualReplica implements IdleReplicas.Sleeper {
        private final EngineLoop loop;
        /** The ends of the steps in flight: a ring by the number of the step. */
        private final long[] stepEnds;

        private long launched;
        private long ended;
        /** The end of the oldest step in flight, or {@link #NEVER}. */
        private long stepEndNanos = NEVER;
        /** The start of its next iteration, unless it is parked or a step is in flight. */
        private long iterationNanos = NEVER;
        /** Whether it is idle until it is woken, or was woken and has not started its iteration. */
        private boolean isParked = true;

        private Phase phase = Phase.SERVING;
        private long deviceFreeNanos = Long.MIN_VALUE;
        private long nextIterationNanos;

        VirtualReplica(int index, ModelRunner runner, Observers observers) {
            this.stepEnds = new long[runner.maxInFlight()];
            StepObserver onStep = StepObserver.only(Set.of(StepEvent.SUBMITTED, StepEvent.APPLIED), this::onStep);
            this.loop = new EngineLoop(
                    index,
                    runner,
                    options,
                    VirtualEngine.this::nowNanos,
                    Observers.ofSteps(onStep).and(observers),
                    router.usesPrefixes(),
                    inFlight);
        }

        ReplicaLoad load() {
            return loop.load();
        }

        private void onStep(StepEvent event, StepRecord step) {
            if (event == StepEvent.SUBMITTED) {
                long startNanos = Math.max(nowNanos, deviceFreeNanos);
                deviceFreeNanos = durations.stepEnd(step, startNanos);
                Check.that(deviceFreeNanos >= startNanos, "a step ends before it starts");
                stepEnds[(int) (launched++ % stepEnds.length)] = deviceFreeNanos;
                setStepEnd();
            } else if (event == StepEvent.APPLIED) {
                nextIterationNanos = durations.nextIteration(step, nowNanos);
            }
        }

        private void setStepEnd() {
            stepEndNanos = launched == ended ? NEVER : stepEnds[(int) (ended % stepEnds.length)];
            nextNanos = UNKNOWN;
        }

        private void setIteration(long nanos) {
            iterationNanos = nanos;
            nextNanos = UNKNOWN;
        }

        @Override
        public boolean wake() {
            boolean canWake = isParked() && iterationNanos == NEVER;
            if (canWake) {
                setIteration(durations.wakeUp(load().index(), nowNanos));
            }
            return canWake;
        }

        @Override
        public boolean isParked() {
            return isParked && accepts();
        }

        void startIteration() {
            setIteration(NEVER);
            isParked = false;
            boolean isBusy = loop.isBusy();
            if (isBusy) {
                idle.wakeOne();
            }
            loop.begin(maxShared(isBusy));
            // A step policy that leaves step after step empty is named by the scheduler.
            for (int i = 0; i < Scheduler.MAX_EMPTY_PLANS && loop.stepsInFlight() == 0 && loop.isBusy(); i++) {
                loop.begin(maxShared(isBusy));
            }
            if (loop.stepsInFlight() == 0) {
                Check.that(!loop.isBusy(), "requests wait and nothing can run");
                park();
            }
        }

        private int maxShared(boolean isBusy) {
            return accepts() ? idle.share(load(), isBusy) : 0;
        }

        private boolean accepts() {
            return phase == Phase.SERVING;
        }

        private void park() {
            loop.checkIdle();
            isParked = true;
            if (phase == Phase.DRAINING) {
                phase = Phase.OFF;
            }
        }

        void endStep() {
            ended++;
            setStepEnd();
            loop.finish();
            loop.deliver();
            setIteration(nextIterationNanos);
        }

        void start() {
            loop.evictAll();
            phase = Phase.SERVING;
            inFlight.waitingQueue().reopen(load().index());
            router.add(load());
            if (inFlight.waitingQueue().sharedCount() > 0) {
                wake();
            }
        }

        void drain() {
            phase = Phase.DRAINING;
            router.remove(load().index());
            if (isParked && iterationNanos == NEVER) {
                park();
            }
        }

        void stop() {
            boolean wasServing = phase == Phase.SERVING;
            phase = Phase.STOPPED;
            isParked = false;
            setIteration(NEVER);
            ended = launched;
            setStepEnd();
            int index = load().index();
            RequestOutcome outcome = RequestOutcome.failed(new ReplicaStopped("engine " + index + " stopped"));
            if (wasServing) {
                router.remove(index);
            }
            if (!haveAllStopped()) {
                loop.requeueRestartable(request -> {
                    inFlight.requeue(request);
                    inFlight.watch(request);
                    idle.wakeOne();
                });
            }
            loop.endAll(outcome);
            if (haveAllStopped()) {
                inFlight.terminateWaiting(outcome);
            }
        }
    }

    /** Returns the time of the last event. */
    public long nowNanos() {
        return nowNanos;
    }

    /** Returns the time of the next event of the engine, or {@link Long#MAX_VALUE} if all replicas are idle. */
    public long nextNanos() {
        if (nextNanos == UNKNOWN) {
            findNext();
        }
        return nextNanos;
    }

    private void findNext() {
        long next = NEVER;
        nextReplica = null;
        for (VirtualReplica replica : replicas) {
            if (replica.stepEndNanos < next) {
                next = replica.stepEndNanos;
                nextReplica = replica;
                isNextStepEnd = true;
            }
        }
        for (VirtualReplica replica : replicas) {
            if (replica.iterationNanos < next) {
                next = replica.iterationNanos;
                nextReplica = replica;
                isNextStepEnd = false;
            }
        }
        nextNanos = next;
    }

    /** Runs all events before a time. */
    public void runUntil(long nanos) {
        while (nextNanos() < nanos) {
            runNext();
        }
    }

    /** Runs the next event; there must be one. */
    public void runNext() {
        long next = nextNanos();
        Check.that(next < NEVER, "no event is left");
        nowNanos = next;
        VirtualReplica replica = Objects.requireNonNull(nextReplica);
        if (isNextStepEnd) {
            replica.endStep();
        } else {
            replica.startIteration();
        }
        recordViews();
    }

    private void recordViews() {
        for (int i = 0; i < agedViews.size(); i++) {
            agedViews.get(i).record();
        }
    }

    private void advanceTo(long nanos) {
        Check.that(nanos >= nowNanos && nanos <= nextNanos(), "an event is out of order");
        nowNanos = nanos;
    }

    /**
     * Submits a request whose prompt is token ids.
     *
     * @param request may have a deadline, which is checked at the starts of iterations; must need no tokenizer: no stop
     *     strings, bad words or grammar
     * @param nanos when it arrives: not before the last event, and not after the next one
     * @return the request, whose values are final once it has ended
     * @throws BadInput if the request can never be served
     * @throws io.roseinfer.base.RoseException.Overloaded if {@link EngineOptions#maxInflightRequests} requests are in
     *     flight
     * @throws EngineStopped if no replica serves or starts
     */
    public ObservedRequest submit(GenerationRequest request, long nanos) {
        return submit(request, nanos, request.maxNewTokens());
    }

    /**
     * Submits a request like {@link #submit(GenerationRequest, long)} that ends as by an end-of-text token.
     *
     * @param tokens length of the completion, unless the request's maximum is lower; policies do not see it
     */
    public ObservedRequest submit(GenerationRequest request, long nanos, int tokens) {
        BadInput.require(tokens >= 1, "the length of a completion", tokens, "positive");
        return submit(request, nanos, tokens, OptionalInt.empty());
    }

    /**
     * Submits a request like {@link #submit(GenerationRequest, long, int)} whose prompt another engine has computed. It decodes
     * from its admission on, as its keys and values are in its blocks then. If it is preempted, this engine computes them again;
     * if its replica stops after its admission, it ends.
     *
     * @param firstToken the first token of the completion, which the other engine has delivered
     * @param tokens length of the completion with that token, at least 2
     * @return the request, whose timeline lacks the first token
     */
    public ObservedRequest submitPrefilled(GenerationRequest request, long nanos, int tokens, int firstToken) {
        int possible = Math.min(tokens, request.maxNewTokens());
        BadInput.require(possible >= 2, "the length of a completion", possible, "at least 2");
        return submit(request, nanos, tokens, OptionalInt.of(firstToken));
    }

    private ObservedRequest submit(GenerationRequest request, long nanos, int tokens, OptionalInt firstToken) {
        advanceTo(nanos);
        if (haveAllStopped()) {
            throw new EngineStopped("all engines stopped");
        }
        requireServable(request);
        int[] prompt = prompt(request);
        LogitConstraints constraints = RequestConstraints.of(request, spec, Optional.empty());
        inFlight.reserve();
        LiveRequest live = newRequest(request, nanos).setConstraints(constraints);
        if (tokens < request.maxNewTokens()) {
            live.endAfter(firstToken.isPresent() ? tokens - 1 : tokens);
        }
        live.tokenized(prompt.length, nanos);
        try {
            observer.on(new RequestEvent.Accepted(live));
            observer.on(new RequestEvent.Tokenized(live));
            enqueue(live, prompt, firstToken);
            recordViews();
        } catch (RuntimeException | Error e) {
            boolean unused = inFlight.discard(live);
            throw e;
        }
        return live;
    }

    /**
     * Checks that a request can be served.
     *
     * @throws BadInput if it cannot
     */
    public void requireServable(GenerationRequest request) {
        EngineLimits.requireServable(prompt(request), request.maxNewTokens(), spec, kv);
    }

    private void enqueue(LiveRequest live, int[] prompt, OptionalInt firstToken) {
        Optional<ReplicaLoad> chosen = liveCount == 0 ? Optional.empty() : router.choose(live, prompt);
        Sequence sequence = live.newSequence(prompt, spec);
        firstToken.ifPresent(token -> {
            live.setHasOutput();
            var unused = sequence.setComputedPrompt(token);
        });
        inFlight.watch(live);
        if (chosen.isPresent() && !agedViews.isEmpty()) {
            AgedView view = agedViews.get(chosen.get().index());
            view.send(sequence, live.uncomputedPromptTokens(view, sequence));
        }
        Check.that(router.enqueue(live, sequence, chosen), "a request has ended before it was queued");
        if (chosen.isPresent()) {
            replicas[chosen.get().index()].wake();
        }
        idle.wakeOne();
    }

    private static int[] prompt(GenerationRequest request) {
        EngineLimits.requireNoTokenizer(request, "virtual time", "give token ids");
        return ((Prompt.Tokens) request.prompt()).own();
    }

    private LiveRequest newRequest(GenerationRequest asked, long nanos) {
        GenerationRequest servable = asked.withSampling(EngineLimits.servable(asked.sampling(), spec));
        GenerationRequest request = servable.options().timeout().isPresent() ? servable.startingAt(nanos) : servable;
        long id = nextId++;
        long seed = request.seed().orElseGet(() -> SplitMix64.at(options.seed(), id));
        LiveRequest live = new LiveRequest(id, request, seed, spec.contextLength(), Optional.empty());
        live.submitted(nanos);
        return live;
    }

    /**
     * Stops a replica as if its device had failed. Other replicas serve its requests without a token; those with one
     * end with {@link io.roseinfer.scheduler.FinishReason#ERROR}, and if no replica is left that serves or starts, all.
     *
     * @param nanos like {@link #submit}
     */
    public void stop(int replica, long nanos) {
        advanceTo(nanos);
        VirtualReplica stopped = replicas[replica];
        if (stopped.phase != Phase.STOPPED) {
            liveCount -= stopped.phase == Phase.SERVING ? 1 : 0;
            startingCount -= stopped.phase == Phase.STARTING ? 1 : 0;
            stopped.stop();
            idle.wakeOne();
            recordViews();
        }
    }

    /** Returns the ids of the tokens that a request of this engine has generated so far. */
    public int[] generatedIds(ObservedRequest request) {
        LiveRequest live = (LiveRequest) request;
        return IntStream.range(0, live.generatedTokens()).map(live.tokens()::id).toArray();
    }

    /**
     * Drains a replica that serves: others admit its waiting requests, and it is {@link Phase#OFF off} when those it
     * has admitted have ended.
     *
     * @param nanos like {@link #submit}
     * @throws BadInput if it is the only one that serves
     */
    public void drain(int replica, long nanos) {
        require(replica, phase(replica) == Phase.SERVING, "SERVING");
        if (liveCount == 1) {
            throw new BadInput("replica " + replica + " is the only one that serves; start another before it drains");
        }
        advanceTo(nanos);
        liveCount--;
        replicas[replica].drain();
        idle.wakeOne();
        recordViews();
    }

    /**
     * Announces that a replica that is {@link Phase#OFF off} will {@link #start}. Until then requests wait, rather than
     * fail, if no other serves.
     *
     * @param nanos like {@link #submit}
     */
    public void beginStart(int replica, long nanos) {
        require(replica, phase(replica) == Phase.OFF, "OFF");
        advanceTo(nanos);
        startingCount++;
        replicas[replica].phase = Phase.STARTING;
    }

    /**
     * Turns a replica off that {@link Phase#STARTING starts}.
     *
     * @param nanos like {@link #submit}
     * @throws BadInput if no other serves or starts
     */
    public void cancelStart(int replica, long nanos) {
        require(replica, phase(replica) == Phase.STARTING, "STARTING");
        if (liveCount + startingCount == 1) {
            throw new BadInput("replica " + replica + " is the only one that starts, and none serves; let it start");
        }
        advanceTo(nanos);
        startingCount--;
        replicas[replica].phase = Phase.OFF;
    }

    /**
     * Starts a replica that is {@link Phase#OFF off} or {@link Phase#STARTING starts}. It serves at once, with an empty
     * prefix cache.
     *
     * @param nanos like {@link #submit}
     */
    public void start(int replica, long nanos) {
        Phase seen = phase(replica);
        require(replica, seen == Phase.OFF || seen == Phase.STARTING, "OFF or STARTING");
        advanceTo(nanos);
        startingCount -= seen == Phase.STARTING ? 1 : 0;
        liveCount++;
        replicas[replica].start();
        recordViews();
    }

    private void require(int replica, boolean isAllowed, String allowed) {
        BadInput.require(isAllowed, "the phase of replica " + replica, phase(replica), allowed);
    }

    private boolean haveAllStopped() {
        return liveCount + startingCount == 0;
    }

    /** Returns the phase of a replica. */
    public Phase phase(int replica) {
        return replicas[replica].phase;
    }

    /** Returns what policies see of the replicas that serve, by number. */
    public List<? extends ReplicaView> views() {
        return router.views();
    }

    /** Returns the number of waiting requests that any replica may admit. */
    public int sharedRequests() {
        return inFlight.waitingQueue().sharedCount();
    }

    /** Checks that no request is in flight and no replica that serves holds KV blocks. */
    public void checkIdle() {
        Check.that(inFlight.count() == 0, "requests have not ended");
        Arrays.stream(replicas)
                .filter(replica -> replica.phase != Phase.STOPPED)
                .forEach(replica -> {
                    replica.loop.check();
                    replica.loop.checkIdle();
                });
    }

    /** Returns the counters of each replica. */
    public List<EngineStats> replicaStats() {
        return Arrays.stream(replicas).map(replica -> replica.loop.stats()).toList();
    }
}
