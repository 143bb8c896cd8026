package io.roseinfer.bench.replay;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.VirtualEngine;
import io.roseinfer.engine.VirtualEngine.Durations;
import io.roseinfer.engine.VirtualEngine.Phase;
import io.roseinfer.engine.routing.ReplicaView;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.engine.routing.ViewAge;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.observe.ObservedRequest;
import io.roseinfer.observe.Observers;
import io.roseinfer.observe.RequestEvent;
import io.roseinfer.observe.RequestObserver;
import io.roseinfer.observe.StepEvent;
import io.roseinfer.observe.StepObserver;
import io.roseinfer.scheduler.FinishReason;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The engines of a simulated server, by number: one {@link VirtualEngine}, or, with a {@link Split}, one of the prefill
 * engines and one of the decode engines. Calls must be in order of time, as for a virtual engine.
 *
 * <p>On a prefill engine a request has a maximum of one token. With that token its blocks there are free and its keys and
 * values are sent; then it waits for a decode engine, outside of the blocks of any. What a prefill engine has not sent when
 * it stops is lost, and those requests end. At equal times prefill engines have their events first, then transfers end,
 * then decode engines have their events. Not thread-safe.
 */
final class SimulatedFleet {
    private static final long NEVER = Long.MAX_VALUE;

    /** The durations of steps, and who is notified of them and of requests. Steps have the numbers of their engines. */
    interface Listener extends Durations, RequestObserver {
        /** A step has been applied; the record is reused. */
        void applied(StepRecord step);

        /** A request with its first token has been sent, and waits for a decode engine. */
        void moved(ObservedRequest request);
    }

    private final Listener listener;
    private final Optional<Split> split;
    /** All engines, or the prefill engines. */
    private final VirtualEngine first;

    private final int firstCount;
    private final Optional<VirtualEngine> decode;

    /** Requests that are being sent, by the end of the transfer. */
    private final PriorityQueue<MovingRequest> sending = new PriorityQueue<>(
            Comparator.comparingLong(MovingRequest::arrivalNanos).thenComparingLong(MovingRequest::id));

    /** The requests with a split, by their stays that have not ended. */
    private final Map<ObservedRequest, MovingRequest> stays = new HashMap<>();

    /** For each prefill engine, when it can send another request. */
    private final long[] linkFreeNanos;

    /**
     * Creates idle engines that serve, one per runner; the caller closes the runners.
     *
     * @param observers notified of the steps of all engines, but not of requests
     */
    SimulatedFleet(List<ModelRunner> runners, SimulatedServer.Engines engines, Listener listener, Observers observers) {
        this.listener = listener;
        this.split = engines.split();
        this.firstCount = split.map(Split::prefillEngines).orElse(runners.size());
        this.linkFreeNanos = new long[firstCount];
        ViewAge age = engines.fleet().age();
        RequestObserver ofFirst = split.isPresent() ? new Prefilling() : listener;
        this.first = new Numbered(0, listener, observers)
                .engine(runners.subList(0, firstCount), engines.options(), engines.routing(), age, ofFirst);
        this.decode = split.map(own -> new Numbered(firstCount, listener, observers)
                .engine(
                        runners.subList(firstCount, runners.size()),
                        own.options(),
                        own.routing(),
                        age,
                        new Decoding()));
    }

    /** Passes on the steps of consecutive engines with their numbers. */
    private record Numbered(int from, Listener listener, Observers observers) implements Durations {
        private VirtualEngine engine(
                List<ModelRunner> runners,
                EngineOptions options,
                RoutingPolicy routing,
                ViewAge age,
                RequestObserver requests) {
            StepObserver onStep =
                    StepObserver.only(Set.of(StepEvent.APPLIED), (event, step) -> listener.applied(numbered(step)));
            return new VirtualEngine(
                    runners,
                    options.withMaxInflightRequests(Integer.MAX_VALUE),
                    routing,
                    age,
                    this,
                    Observers.ofSteps(onStep)
                            .and(Observers.ofStepsOfEach(this::steps))
                            .and(Observers.ofRequests(requests)));
        }

        private StepObserver steps(int replica) {
            StepObserver steps = observers.steps(from + replica);
            return from == 0 ? steps : (event, step) -> steps.on(event, numbered(step));
        }

        private StepRecord numbered(StepRecord step) {
            if (from == 0) {
                return step;
            }
            long[] facts = new long[StepRecord.FACTS];
            step.copyTo(facts, 0);
            facts[Fact.ENGINE.ordinal()] += from;
            return StepRecord.copyOf(facts, 0);
        }

        @Override
        public long stepEnd(StepRecord step, long startNanos) {
            return listener.stepEnd(numbered(step), startNanos);
        }

        @Override
        public long nextIteration(StepRecord step, long endNanos) {
            return listener.nextIteration(numbered(step), endNanos);
        }

        @Override
        public long wakeUp(int replica, long arrivalNanos) {
            return listener.wakeUp(from + replica, arrivalNanos);
        }
    }

    /** Sends the requests that prefill engines have served. */
    private final class Prefilling implements RequestObserver {
        @Override
        public void on(RequestEvent event) {
            switch (event) {
                case RequestEvent.Admitted(ObservedRequest stay) -> admit(stay);
                case RequestEvent.Ended(ObservedRequest stay, FinishReason reason) ->
                    end(removeStay(stay), stay, reason);
                default -> {}
            }
        }

        private void end(MovingRequest request, ObservedRequest stay, FinishReason reason) {
            if (reason != FinishReason.LENGTH || request.tokens() == 1) {
                listener.on(new RequestEvent.Ended(request, reason));
                return;
            }
            KvTransfer transfer = split.orElseThrow().transfer();
            int engine = request.prefillEngine();
            long startNanos = Math.max(stay.timeline().finishedNanos(), linkFreeNanos[engine]);
            linkFreeNanos[engine] = startNanos + transfer.sendingNanos(stay.promptTokens());
            request.send(first.generatedIds(stay)[0], linkFreeNanos[engine] + transfer.latencyNanos());
            sending.add(request);
        }
    }

    private final class Decoding implements RequestObserver {
        @Override
        public void on(RequestEvent event) {
            switch (event) {
                case RequestEvent.Admitted(ObservedRequest stay) -> admit(stay);
                case RequestEvent.Ended(ObservedRequest stay, FinishReason reason) ->
                    listener.on(new RequestEvent.Ended(removeStay(stay), reason));
                default -> {}
            }
        }
    }

    private void admit(ObservedRequest stay) {
        listener.on(new RequestEvent.Admitted(Objects.requireNonNull(stays.get(stay))));
    }

    private MovingRequest removeStay(ObservedRequest stay) {
        return Objects.requireNonNull(stays.remove(stay));
    }

    /**
     * Submits a request whose prompt is token ids, like {@link VirtualEngine#submit(GenerationRequest, long, int)}.
     *
     * @return the request that the listener is notified of
     * @throws BadInput if it can never be served
     * @throws EngineStopped if no engine, or no prefill engine, serves or starts
     */
    ObservedRequest submit(GenerationRequest asked, long nanos, int tokens) {
        if (decode.isEmpty()) {
            return first.submit(asked, nanos, tokens);
        }
        decode.get().requireServable(asked);
        ObservedRequest stay = first.submit(asked.withMaxNewTokens(1), nanos, 1);
        MovingRequest request = new MovingRequest(stay, asked, nanos, tokens, firstCount);
        stays.put(stay, request);
        return request;
    }

    private void move(MovingRequest request) {
        listener.moved(request);
        GenerationRequest asked = request.arrive();
        try {
            ObservedRequest stay = decode.orElseThrow()
                    .submitPrefilled(asked, request.arrivalNanos(), request.tokens(), request.firstToken());
            request.setDecode(stay);
            stays.put(stay, request);
        } catch (EngineStopped noneServes) {
            lose(request, request.arrivalNanos());
        }
    }

    private void lose(MovingRequest request, long nanos) {
        request.setLost(nanos);
        listener.on(new RequestEvent.Ended(request, FinishReason.ERROR));
    }

    /** Returns the engine that gave a request its first token, if it moved to a decode engine then. */
    static OptionalInt prefillEngine(ObservedRequest request) {
        return request instanceof MovingRequest moving ? moving.movedFrom() : OptionalInt.empty();
    }

    /** Returns the ids of the tokens that a request has generated so far. */
    int[] generatedIds(ObservedRequest request) {
        return request instanceof MovingRequest moving
                ? moving.generatedIds(first, decode.orElseThrow())
                : first.generatedIds(request);
    }

    private long transferNanos() {
        return sending.isEmpty() ? NEVER : sending.element().arrivalNanos();
    }

    private long decodeNanos() {
        return decode.isEmpty() ? NEVER : decode.get().nextNanos();
    }

    /** Returns the time of the last event. */
    long nowNanos() {
        return roles().mapToLong(VirtualEngine::nowNanos).max().orElseThrow();
    }

    /** Returns the time of the next event, or {@link Long#MAX_VALUE} if there is none. */
    long nextNanos() {
        return Math.min(first.nextNanos(), Math.min(transferNanos(), decodeNanos()));
    }

    /** Runs the next event; there must be one. */
    void runNext() {
        long next = nextNanos();
        if (first.nextNanos() == next) {
            first.runNext();
        } else if (transferNanos() == next) {
            move(sending.remove());
        } else {
            decode.orElseThrow().runNext();
        }
    }

    /** Stops an engine as if its device had failed; what it is sending is lost. */
    void stop(int engine, long nanos) {
        with(engine).stop(indexOf(engine), nanos);
        List<MovingRequest> lost = new ArrayList<>(sending);
        lost.removeIf(request -> request.prefillEngine() != engine);
        sending.removeAll(lost);
        lost.sort(sending.comparator());
        lost.forEach(request -> lose(request, nanos));
    }

    /** Like {@link VirtualEngine#drain}. */
    void drain(int engine, long nanos) {
        with(engine).drain(indexOf(engine), nanos);
    }

    /** Like {@link VirtualEngine#beginStart}. */
    void beginStart(int engine, long nanos) {
        with(engine).beginStart(indexOf(engine), nanos);
    }

    /** Like {@link VirtualEngine#cancelStart}. */
    void cancelStart(int engine, long nanos) {
        with(engine).cancelStart(indexOf(engine), nanos);
    }

    /** Like {@link VirtualEngine#start}. */
    void start(int engine, long nanos) {
        with(engine).start(indexOf(engine), nanos);
    }

    Phase phase(int engine) {
        return with(engine).phase(indexOf(engine));
    }

    /** Returns the number of steps that an engine has run. */
    long steps(int engine) {
        return with(engine).replicaStats().get(indexOf(engine)).steps();
    }

    private VirtualEngine with(int engine) {
        return engine < firstCount ? first : decode.orElseThrow();
    }

    private int indexOf(int engine) {
        return engine < firstCount ? engine : engine - firstCount;
    }

    private Stream<VirtualEngine> roles() {
        return Stream.concat(Stream.of(first), decode.stream());
    }

    /** Returns what policies see of the engines that serve: prefill engines, then decode engines, each numbered from 0. */
    List<? extends ReplicaView> views() {
        return decode.isEmpty()
                ? first.views()
                : roles().flatMap(role -> role.views().stream()).toList();
    }

    /** Returns the number of waiting requests that any engine, or any one of its role, may admit. */
    int sharedRequests() {
        return first.sharedRequests()
                + decode.map(VirtualEngine::sharedRequests).orElse(0);
    }

    /** Checks that no request is in flight and no engine that serves holds KV blocks. */
    void checkIdle() {
        roles().forEach(VirtualEngine::checkIdle);
    }
}
