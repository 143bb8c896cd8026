package io.roseinfer.bench.replay;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.base.MappedList;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.SplitMix64;
import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.ClientCost;
import io.roseinfer.bench.http.FleetUse;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.Oddities;
import io.roseinfer.bench.http.ServerStamps;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.load.OfferedRequest;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.Prompt;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.metrics.RequestTimeline;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.metrics.StepTable;
import io.roseinfer.observe.ObservedRequest;
import io.roseinfer.observe.Observers;
import io.roseinfer.observe.RequestEvent;
import io.roseinfer.observe.RequestObserver;
import io.roseinfer.scheduler.ExtensionFailure;
import io.roseinfer.scheduler.FinishReason;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.PriorityQueue;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * A server in simulated time, with its clients: a {@link SimulatedFleet} over simulated runners, with the step durations
 * of {@link StepTimes}. Up to the runner's limit, steps are launched ahead: the device starts one when the previous
 * ends, and requests that arrive meanwhile wait for the steps already launched. A run takes only as long as its
 * scheduling.
 *
 * <p>Completions have exactly the load's output tokens. A request whose maximum is higher ends as by an end-of-text token, after the step
 * that gave its last token; policies know the maximum only.
 */
public final class SimulatedServer {
    private static final long ARRIVING = 1;
    private static final long DELIVERY = 2;

    private final Engines engines;
    private final IntFunction<StepTimes> times;
    private final int maxConcurrency;
    private final long seed;

    /**
     * The engines of a server.
     *
     * @param count number of engines
     * @param runners opens a simulated runner for each, by its number
     * @param options options of each; any number of requests may be in flight
     * @param routing chooses the engine of a request; not used with a single engine
     * @param fleet failures, scaling and views of the engines; with a split there is no scaling
     * @param split prefill and decode engines; empty if each serves whole requests
     */
    public record Engines(
            int count,
            IntFunction<? extends ModelRunner> runners,
            EngineOptions options,
            RoutingPolicy routing,
            FleetPlan fleet,
            Optional<Split> split) {
        public Engines {
            fleet.scaling()
                    .ifPresent(scaling -> ExtensionFailure.requireNotified(
                            "scaling policy",
                            scaling.policy(),
                            options.scheduler().policies()));
        }

        /** Creates engines that serve whole requests. */
        public Engines(
                int count,
                IntFunction<? extends ModelRunner> runners,
                EngineOptions options,
                RoutingPolicy routing,
                FleetPlan fleet) {
            this(count, runners, options, routing, fleet, Optional.empty());
        }

        /** Returns a single engine. */
        public static Engines one(Supplier<? extends ModelRunner> runner, EngineOptions options) {
            return new Engines(1, engine -> runner.get(), options, RoutingPolicy.pull(), FleetPlan.NONE);
        }
    }

    /**
     * Creates a server. Every run starts with empty caches.
     *
     * @param engines the engines; the state of policies is kept from run to run
     * @param times the durations of each engine, by its number; those of the host and its network are the first engine's
     * @param maxConcurrency maximum requests in flight
     * @param seed seed of random samples
     */
    public SimulatedServer(Engines engines, IntFunction<StepTimes> times, int maxConcurrency, long seed) {
        this.engines = engines;
        this.times = times;
        this.maxConcurrency = maxConcurrency;
        this.seed = seed;
    }

    /**
     * Runs a load whose prompts are token ids; the run starts at 0.
     *
     * @throws BadInput if a prompt is text, or a request has a grammar
     */
    public LoadResult run(OfferedLoad load) {
        return run(load, Observers.NONE);
    }

    /** Runs a load as {@link #run(OfferedLoad)} does, with observers of the engines. */
    public LoadResult run(OfferedLoad load, Observers observers) {
        List<ModelRunner> runners = new ArrayList<>();
        try {
            for (int i = 0; i < engines.count(); i++) {
                runners.add(engines.runners().apply(i));
            }
            return new Run(runners, load, observers).run();
        } finally {
            runners.forEach(ModelRunner::close);
        }
    }

    /** A request with its timestamps so far. All that a run keeps for each of its requests: its result is created on access. */
    private static final class Request {
        private static final long[] NO_TOKENS = {};
        private static final int[] NO_COUNTS = {};

        private final int id;
        private OfferedRequest offered;
        private Optional<Request> next = Optional.empty();
        private long dueNanos;
        private long sentNanos;
        private long queuedNanos;
        private long admittedNanos = ServerStamps.UNKNOWN;
        private ServerStamps.Served served = ServerStamps.Served.UNTOLD;
        private long[] tokens = NO_TOKENS;
        private long[] seen = NO_TOKENS;
        /** The number of tokens of each event, 1; shared by all completions of a length. */
        private int[] counts = NO_COUNTS;

        private Optional<String> error = Optional.empty();
        private long failedNanos;
        private boolean wasAdmitted;

        private Request(int id, OfferedRequest offered) {
            this.id = id;
            this.offered = offered;
        }

        private Prompt prompt() {
            offered.constraints().ifPresent(fields -> {
                throw new BadInput("simulated time computes no masks, but request " + id + " has "
                        + String.join(", ", fields.propertyNames()) + "; leave it out");
            });
            if (offered.promptTokens() < 0) {
                throw new BadInput("simulated time needs token ids, but request " + id + " is text");
            }
            return offered.prompt();
        }

        private GenerationRequest asked() {
            return offered.traits()
                    .addTo(GenerationRequest.of(prompt())
                            .withMaxNewTokens(offered.maxTokens())
                            .withIgnoreEndOfText(true));
        }

        private long endNanos() {
            long lastNanos = seen.length == 0 ? sentNanos : seen[seen.length - 1];
            return error.isPresent() ? Math.max(lastNanos, failedNanos) : lastNanos;
        }

        private CallResult result() {
            int prompt = offered.promptTokens();
            return new CallResult(
                    id,
                    prompt,
                    offered.outputTokens(),
                    new CallResult.Times(dueNanos, sentNanos, sentNanos, endNanos(), endNanos()),
                    new CallResult.Arrived(CallResult.Counted.IDS, seen, counts),
                    new CallResult.Usage(prompt, seen.length, prompt + seen.length),
                    Optional.of(new ServerStamps(
                            sentNanos,
                            ServerStamps.UNKNOWN,
                            queuedNanos,
                            admittedNanos,
                            tokens,
                            NO_TOKENS,
                            NO_TOKENS,
                            served)),
                    error,
                    Optional.empty(),
                    offered.traits());
        }
    }

    /** Counters of the requests that an engine has served. */
    private static final class Served {
        private int requests;
        private int failed;
        private long outputTokens;

        private void add(Request request) {
            requests++;
            if (request.error.isEmpty()) {
                outputTokens +=
                        request.tokens.length - (request.served.prefillEngine().isPresent() ? 1 : 0);
            } else {
                failed++;
            }
        }

        /** Adds a request that moved to a decode engine after its first token. */
        private void addPrefilled(Request request) {
            requests++;
            outputTokens += request.error.isEmpty() ? 1 : 0;
        }
    }

    /** The state of one run. */
    private final class Run implements SimulatedFleet.Listener {
        private final SimulatedFleet engine;
        /** The requests that the engines have, by what they call them. */
        private final Map<ObservedRequest, Request> submitted = new HashMap<>();

        private final List<StepTimes> each;
        private final HostTimes host;
        private final OfferedLoad load;
        private final List<Request> requests = new ArrayList<>();
        /** Requests sent but not yet queued in an engine, by arrival time. */
        private final PriorityQueue<Request> arriving =
                new PriorityQueue<>(Comparator.comparingLong((Request request) -> request.queuedNanos)
                        .thenComparingInt(request -> request.id));

        /** The times at which concurrency slots become free; empty if there is one for each request. */
        private final PriorityQueue<Long> places = new PriorityQueue<>();

        private final boolean isLimited;

        private final StepTable.Builder steps = new StepTable.Builder();

        /** Later turns of conversations whose previous turn has ended, by scheduled time. */
        private final PriorityQueue<Request> later =
                new PriorityQueue<>(Comparator.comparingLong((Request request) -> request.dueNanos)
                        .thenComparingInt(request -> request.id));

        private final int firstTurns;
        private final FleetControl control;
        private final RequestObserver observer;

        /** For each engine, the time in which its device ran steps, and the end of the last one. */
        private final long[] busyNanos;

        private final long[] stepEndNanos;
        /** The {@link Request#counts} of completions by their length. */
        private final Map<Integer, int[]> counts = new HashMap<>();

        private int sent;
        /** Whether requests are sent only before the next event. */
        private final boolean sendsLate;

        private Run(List<ModelRunner> runners, OfferedLoad load, Observers observers) {
            this.load = load;
            this.observer = observers.requests();
            this.each = IntStream.range(0, runners.size()).mapToObj(times).toList();
            this.host = each.getFirst().host();
            for (OfferedRequest request : load.requests()) {
                requests.add(new Request(requests.size(), request));
            }
            this.firstTurns = requests.size();
            for (int i = 0; i < requests.size(); i++) {
                Optional<OfferedRequest.Turn> turn = requests.get(i).offered.next();
                if (turn.isPresent()) {
                    Request next = new Request(requests.size(), turn.get().request());
                    requests.get(i).next = Optional.of(next);
                    requests.add(next);
                }
            }
            this.isLimited = maxConcurrency < requests.size();
            if (isLimited) {
                places.addAll(Collections.nCopies(maxConcurrency, 0L));
            }
            this.sendsLate = !isLimited || firstTurns < requests.size();
            this.engine = new SimulatedFleet(runners, engines, this, observers);
            this.busyNanos = new long[runners.size()];
            this.stepEndNanos = new long[runners.size()];
            this.control = new FleetControl(engine, runners.size(), engines.fleet());
        }

        @Override
        public void applied(StepRecord step) {
            steps.add(step);
        }

        @Override
        public long stepEnd(StepRecord step, long startNanos) {
            long endNanos = times(step).endNanos(StepShape.of(step), startNanos, step.get(Fact.STEP));
            int number = (int) step.get(Fact.ENGINE);
            busyNanos[number] += endNanos - startNanos;
            stepEndNanos[number] = endNanos;
            return endNanos;
        }

        @Override
        public long nextIteration(StepRecord step, long endNanos) {
            StepTimes of = times(step);
            long nanos = of.host().iterationNanos();
            return nanos > 0 ? of.pace().endNanos(endNanos, (double) nanos, step.get(Fact.STEP) + 1) : endNanos;
        }

        private StepTimes times(StepRecord step) {
            return each.get((int) step.get(Fact.ENGINE));
        }

        @Override
        public long wakeUp(int replica, long arrivalNanos) {
            return arrivalNanos + each.get(replica).host().wakeNanos();
        }

        private LoadResult run() {
            send();
            for (long next = nextNanos(); next < Long.MAX_VALUE || engine.sharedRequests() > 0; next = nextNanos()) {
                // If requests wait and nothing else is due, they wait for an engine that starts.
                if (control.nextNanos() <= next) {
                    control.runNext();
                } else if (arrivalNanos() <= engine.nextNanos()) {
                    submit(arriving.remove());
                } else {
                    engine.runNext();
                }
                control.observe();
                send();
            }
            engine.checkIdle();
            long endNanos = requests.stream().mapToLong(Request::endNanos).max().orElse(0);
            LoadResult result = new LoadResult(
                    0,
                    Math.max(1, endNanos),
                    load.isScheduled(),
                    new MappedList<>(requests, Request::result),
                    ClientCost.NONE,
                    Oddities.NONE,
                    steps.build(),
                    Optional.empty(),
                    Optional.empty());
            return busyNanos.length == 1 ? result : result.withFleet(use(endNanos));
        }

        private long arrivalNanos() {
            return arriving.isEmpty() ? Long.MAX_VALUE : arriving.element().queuedNanos;
        }

        /** Returns the time of the next arrival or event of the engines. */
        private long nextNanos() {
            return Math.min(arrivalNanos(), engine.nextNanos());
        }

        private FleetUse use(long endNanos) {
            Served[] served = new Served[busyNanos.length];
            Arrays.setAll(served, i -> new Served());
            for (Request request : requests) {
                request.served.prefillEngine().ifPresent(engine -> served[engine].addPrefilled(request));
                if (request.wasAdmitted) {
                    served[request.served.engine()].add(request);
                }
            }
            List<FleetUse.EngineUse> each = new ArrayList<>();
            for (int i = 0; i < busyNanos.length; i++) {
                each.add(use(i, served[i], endNanos));
            }
            double used = each.stream().mapToDouble(FleetUse.EngineUse::usedS).sum();
            return new FleetUse(used, each, control.counts());
        }

        private FleetUse.EngineUse use(int number, Served served, long endNanos) {
            OptionalLong failedNanos = control.failedNanos(number);
            // The steps in flight when it failed did not end.
            long lostNanos = failedNanos.isPresent() ? Math.max(0, stepEndNanos[number] - failedNanos.getAsLong()) : 0;
            return new FleetUse.EngineUse(
                    number,
                    control.usedNanos(number, endNanos) / 1e9,
                    (busyNanos[number] - lostNanos) / 1e9,
                    failedNanos.isPresent() ? OptionalDouble.of(failedNanos.getAsLong() / 1e9) : OptionalDouble.empty(),
                    served.requests,
                    served.failed,
                    served.outputTokens,
                    engine.steps(number));
        }

        /**
         * Sends every request that has a concurrency slot, even in the future: it then arrives later. Of conversations, only requests that
         * are sent before the next event, as a later turn may become due before the others; and so without a limit of requests in flight,
         * to keep few at a time.
         */
        private void send() {
            while ((sent < firstTurns || !later.isEmpty()) && !(isLimited && places.isEmpty())) {
                boolean isFirst = later.isEmpty()
                        || (sent < firstTurns && firstDueNanos(requests.get(sent)) <= later.peek().dueNanos);
                Request request = isFirst ? requests.get(sent) : later.element();
                long dueNanos = isFirst ? firstDueNanos(request) : request.dueNanos;
                if (sendsLate && Math.max(dueNanos, isLimited ? places.element() : 0) > nextNanos()) {
                    return;
                }
                if (isFirst) {
                    sent++;
                } else {
                    Request unused = later.remove();
                }
                long freeNanos = isLimited ? places.remove() : 0;
                request.dueNanos = isFirst && !load.isScheduled() ? freeNanos : dueNanos;
                request.sentNanos = Math.max(request.dueNanos, freeNanos);
                request.queuedNanos = request.sentNanos + HostTimes.draw(host.arriving(), key(ARRIVING, request.id, 0));
                arriving.add(request);
            }
        }

        /** Returns when a first turn is scheduled: in a burst as soon as it has a slot. */
        private long firstDueNanos(Request request) {
            return load.isScheduled() ? request.offered.dueNanos() : 0;
        }

        /** Makes the next turn of a conversation due; if this one failed, so do all that follow. */
        private void continueAfter(Request request, int... generated) {
            for (Request before = request; before.next.isPresent(); before = before.next.get()) {
                Request next = before.next.get();
                if (before.error.isEmpty()) {
                    next.offered = next.offered.after(((Prompt.Tokens) before.prompt()).ids(), generated);
                    next.dueNanos = before.endNanos()
                            + before.offered.next().orElseThrow().thinkNanos();
                    later.add(next);
                    return;
                }
                next.error = Optional.of("the previous turn of its conversation failed");
                next.dueNanos = before.endNanos();
                next.sentNanos = next.dueNanos;
                next.queuedNanos = next.dueNanos;
            }
        }

        private void submit(Request request) {
            GenerationRequest asked = request.asked();
            control.arrived(request.queuedNanos);
            ObservedRequest observed;
            try {
                observed = engine.submit(asked, request.queuedNanos, request.offered.outputTokens());
            } catch (BadInput | RoseException.EngineStopped refused) {
                request.error = Optional.of(refused.jsonMessage());
                request.failedNanos = request.queuedNanos;
                control.ended(request.queuedNanos);
                free(request);
                continueAfter(request);
                return;
            }
            submitted.put(observed, request);
            observer.on(new RequestEvent.Accepted(observed));
            observer.on(new RequestEvent.Tokenized(observed));
        }

        /** Passes on admissions and ends. {@link #submit} reports acceptances, as a failure there would only reject the request. */
        @Override
        public void on(RequestEvent event) {
            switch (event) {
                case RequestEvent.Admitted(ObservedRequest observed) -> {
                    Objects.requireNonNull(submitted.get(observed)).wasAdmitted = true;
                    observer.on(event);
                }
                case RequestEvent.Ended(ObservedRequest observed, FinishReason reason) -> {
                    observer.on(event);
                    end(Objects.requireNonNull(submitted.remove(observed)), observed, reason);
                }
                default -> {}
            }
        }

        /** No engine has it until a decode engine admits it. */
        @Override
        public void moved(ObservedRequest observed) {
            Objects.requireNonNull(submitted.get(observed)).wasAdmitted = false;
        }

        private void end(Request request, ObservedRequest observed, FinishReason reason) {
            RequestTimeline timeline = observed.timeline();
            request.admittedNanos = timeline.admittedNanos();
            request.served = new ServerStamps.Served(
                    timeline.replica(), observed.cachedTokens(), SimulatedFleet.prefillEngine(observed));
            deliver(request, timeline.tokenNanos());
            if (reason == FinishReason.ERROR) {
                request.error = Optional.of(
                        request.wasAdmitted ? "engine " + timeline.replica() + " stopped" : "no engine serves");
                request.failedNanos = timeline.finishedNanos();
            }
            control.ended(timeline.finishedNanos());
            free(request);
            if (request.next.isPresent()) {
                continueAfter(request, engine.generatedIds(observed));
            }
        }

        private void free(Request request) {
            if (isLimited) {
                places.add(request.endNanos());
            }
        }

        private void deliver(Request request, long[] tokenNanos) {
            request.tokens = tokenNanos;
            request.seen = tokenNanos;
            request.counts = counts.computeIfAbsent(tokenNanos.length, Run::ones);
            if (host.first().isEmpty() && host.later().isEmpty()) {
                return;
            }
            long[] seen = new long[tokenNanos.length];
            // One delay for all later tokens of a request. Recorded delays are correlated; with independent delays a
            // token would also wait for every late token before it.
            long firstDelay = HostTimes.draw(host.first(), key(DELIVERY, request.id, 0));
            long delay = HostTimes.draw(host.later(), key(DELIVERY, request.id, 1));
            long lastNanos = 0;
            for (int i = 0; i < tokenNanos.length; i++) {
                lastNanos = Math.max(lastNanos, tokenNanos[i] + (i == 0 ? firstDelay : delay));
                seen[i] = lastNanos;
            }
            request.seen = seen;
        }

        private static int[] ones(int length) {
            int[] ones = new int[length];
            Arrays.fill(ones, 1);
            return ones;
        }

        private long key(long purpose, int request, int token) {
            return SplitMix64.at(SplitMix64.at(seed ^ purpose, request), token);
        }
    }
}
