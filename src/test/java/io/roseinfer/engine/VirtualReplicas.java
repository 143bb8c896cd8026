package io.roseinfer.engine;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.base.RoseException.ReplicaStopped;
import io.roseinfer.engine.routing.ReplicaLoad;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.kv.PublishedPrefixes;
import io.roseinfer.metrics.RequestTimeline;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.SpecBuilder;
import io.roseinfer.observe.Observers;
import io.roseinfer.observe.StepEvent;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.Sequence;
import io.roseinfer.scheduler.WaitingQueue;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Runs the real loops, schedulers, pools and policies in virtual time: a step takes 2 ms plus 20 µs per token, and the
 * replica with the earliest clock runs next. Runs are reproducible to the nanosecond.
 */
final class VirtualReplicas {
    static final int BLOCK = 16;
    private static final int VOCABULARY = 50_000;
    private static final int CONTEXT = 2560;
    private static final long STEP_NANOS = 2_000_000;
    private static final long TOKEN_NANOS = 20_000;

    /** The result of a run. */
    record Outcome(double hitRate, long medianNanos, long p99Nanos, long lastNanos) {}

    /** Waits for the first token and between tokens. */
    record Latencies(long ttftP99Nanos, long itlP99Nanos, long itlMaxNanos) {}

    /** A request with its arrival time. */
    record Arrival(long nanos, int[] prompt, int newTokens) {}

    /** One replica and its clock. */
    private static final class Lane {
        private final EngineLoop loop;
        private final InFlight inFlight;
        private final Set<LiveRequest> givenBack = new HashSet<>();
        private long nanos;
        private long stepNanos;
        private long deathNanos = Long.MAX_VALUE;
        private boolean dead;

        Lane(int index, EngineOptions options, InFlight inFlight, boolean publishes) {
            this.inFlight = inFlight;
            SimOptions sim = SimOptions.defaults().withReadBack(false).withOnStep(this::onStep);
            SimRunner runner = new SimRunner(spec(), EngineLimits.runnerLimits(options, spec()), sim);
            this.loop = new EngineLoop(
                    index, runner, options, () -> nanos, Observers.ofSteps(this::onEvent), publishes, inFlight);
        }

        private void onStep(long step) {
            nanos += stepNanos;
            if (nanos >= deathNanos) {
                throw new DeviceFailure("the device is lost", false);
            }
        }

        /** Stops the replica as if its loop had failed. */
        private void fail() {
            dead = true;
            inFlight.unbindAll(loop.load().index());
            loop.requeueRestartable(request -> {
                givenBack.add(request);
                inFlight.requeue(request);
            });
            loop.endAll(RequestOutcome.failed(
                    new ReplicaStopped("engine " + loop.load().index() + " stopped")));
        }

        private void onEvent(StepEvent event, StepRecord step) {
            if (event == StepEvent.SUBMITTED) {
                stepNanos = STEP_NANOS + step.get(Fact.TOKENS) * TOKEN_NANOS;
            }
        }
    }

    private final RoutingPolicy routing;
    private final InFlight inFlight;
    private final List<Lane> lanes = new ArrayList<>();
    private List<ReplicaLoad> loads;
    private final List<LiveRequest> requests = new ArrayList<>();

    /** Creates idle replicas, each with a pool of {@code poolTokens} tokens. */
    VirtualReplicas(int replicas, int poolTokens, RoutingPolicy routing) {
        this.routing = routing;
        EngineOptions options = EngineOptions.defaults()
                .withBlockSize(BLOCK)
                .withKvBlocks(poolTokens / BLOCK)
                .withScheduler(SchedulerOptions.builder()
                        .maxBatchSize(64)
                        .chunkedPrefill(true)
                        .prefillMaxTokens(2048)
                        .build());
        inFlight = new InFlight(
                Integer.MAX_VALUE,
                () -> 0,
                Observers.NONE.requests(),
                new WaitingQueue(replicas),
                new TokenizeWorkers(0, request -> {}),
                () -> {});
        for (int i = 0; i < replicas; i++) {
            lanes.add(new Lane(i, options, inFlight, routing.usesPrefixes()));
        }
        loads = lanes.stream().map(lane -> lane.loop.load()).toList();
    }

    /** Makes a replica's device fail in its first step that ends at or after a time. */
    VirtualReplicas withDeath(int replica, long nanos) {
        lanes.get(replica).deathNanos = nanos;
        return this;
    }

    private static ModelSpec spec() {
        return SpecBuilder.named("virtual")
                .vocabulary(VOCABULARY)
                .context(CONTEXT)
                .endOfText(VOCABULARY - 1)
                .build();
    }

    /** Serves all requests in order of arrival. */
    Outcome run(List<Arrival> arrivals) {
        serve(arrivals);
        return outcome(arrivals);
    }

    /** Serves all requests like {@link #run}, with the results in {@link #requests}. */
    void serve(List<Arrival> arrivals) {
        int next = 0;
        Optional<Lane> earliest = earliest();
        while (next < arrivals.size() || earliest.isPresent()) {
            if (next < arrivals.size()
                    && (earliest.isEmpty() || arrivals.get(next).nanos() <= earliest.get().nanos)) {
                submit(arrivals.get(next++));
            } else {
                runIteration(earliest.orElseThrow());
            }
            earliest = earliest();
        }
    }

    private void runIteration(Lane lane) {
        try {
            boolean leaves =
                    lane.loop.isBusy() && lanes.stream().anyMatch(other -> !other.dead && !other.loop.isBusy());
            lane.loop.doWork(
                    leaves
                            ? 0
                            : RequestRouter.share(
                                    lane.loop.load(),
                                    loads,
                                    inFlight.waitingQueue().sharedCount()));
        } catch (DeviceFailure failure) {
            lane.fail();
            loads = loads.stream().filter(load -> load != lane.loop.load()).toList();
            advanceIdle(lane.nanos);
        }
    }

    /** Returns the replica with work that has the earliest clock. */
    private Optional<Lane> earliest() {
        Lane earliest = null;
        for (Lane lane : lanes) {
            if (!lane.dead && lane.loop.hasWork() && (earliest == null || lane.nanos < earliest.nanos)) {
                earliest = lane;
            }
        }
        return Optional.ofNullable(earliest);
    }

    private void advanceIdle(long toNanos) {
        for (Lane lane : lanes) {
            if (!lane.loop.hasWork()) {
                lane.nanos = Math.max(lane.nanos, toNanos);
            }
        }
    }

    private void submit(Arrival arrival) {
        advanceIdle(arrival.nanos());
        GenerationRequest wanted = GenerationRequest.ofTokens(arrival.prompt())
                .withMaxNewTokens(arrival.newTokens())
                .withIgnoreEndOfText(true);
        LiveRequest live = new LiveRequest(requests.size(), wanted, 0, CONTEXT, Optional.empty());
        live.submitted(arrival.nanos());
        live.tokenized(arrival.prompt().length, arrival.nanos());
        if (routing.usesPrefixes()) {
            live.prefixes(PublishedPrefixes.prefixHashes(arrival.prompt(), BLOCK));
        }
        requests.add(live);
        int chosen = routing.choose(live, loads);
        Sequence sequence = live.newSequence(arrival.prompt(), spec());
        int engine = chosen == RoutingPolicy.SHARED_QUEUE
                ? WaitingQueue.ANY
                : loads.get(chosen).index();
        if (engine != WaitingQueue.ANY) {
            live.addLoad(loads.get(chosen), sequence);
        }
        inFlight.reserve();
        Require.that(inFlight.enqueue(live, sequence, engine), "a request has ended before it was queued");
    }

    private Outcome outcome(List<Arrival> arrivals) {
        long[] ttft = new long[arrivals.size()];
        long cached = 0;
        long prompts = 0;
        long last = 0;
        for (int i = 0; i < ttft.length; i++) {
            LiveRequest request = requests.get(i);
            ttft[i] = request.timeline().tokenNanos()[0] - arrivals.get(i).nanos();
            cached += request.cachedTokens();
            prompts += request.promptTokens();
            last = Math.max(last, request.timeline().finishedNanos());
        }
        Arrays.sort(ttft);
        return new Outcome((double) cached / prompts, ttft[ttft.length / 2], p99(ttft), last);
    }

    /** Returns all requests in order of arrival. */
    List<LiveRequest> requests() {
        return List.copyOf(requests);
    }

    /**
     * Returns whether a replica had the request when it failed: the request failed with it, or was served again by
     * another.
     */
    boolean wasOnTheDead(LiveRequest request) {
        return request.outcome().orElseThrow().failure().isPresent()
                || lanes.stream().anyMatch(lane -> lane.givenBack.contains(request));
    }

    /** Returns the waits of requests that have all their tokens. */
    static Latencies latencies(List<LiveRequest> requests) {
        List<RequestTimeline> timelines =
                requests.stream().map(LiveRequest::timeline).toList();
        long[] ttft = timelines.stream()
                .mapToLong(times -> times.tokenNanos()[0] - times.submittedNanos())
                .sorted()
                .toArray();
        long[] itl = timelines.stream()
                .map(RequestTimeline::tokenNanos)
                .flatMapToLong(nanos -> IntStream.range(1, nanos.length).mapToLong(i -> nanos[i] - nanos[i - 1]))
                .sorted()
                .toArray();
        return new Latencies(p99(ttft), p99(itl), itl[itl.length - 1]);
    }

    private static long p99(long[] sorted) {
        return sorted[(int) (sorted.length * 0.99)];
    }

    /**
     * Returns requests in groups with a common prefix.
     *
     * @param gapNanos mean time between two; exponentially distributed
     */
    static List<Arrival> grouped(long seed, int count, int groups, int sharedTokens, double gapNanos) {
        Dice dice = new Dice(seed, "arrivals");
        int[][] beginnings = new int[groups][sharedTokens];
        for (int[] beginning : beginnings) {
            Arrays.setAll(beginning, i -> dice.below(VOCABULARY - 1));
        }
        List<Arrival> arrivals = new ArrayList<>();
        double nanos = 0;
        for (int i = 0; i < count; i++) {
            nanos -= Math.log(1 - dice.below(1 << 24) / (double) (1 << 24)) * gapNanos;
            int[] beginning = beginnings[dice.below(groups)];
            int[] prompt = Arrays.copyOf(beginning, sharedTokens + 64);
            for (int at = sharedTokens; at < prompt.length; at++) {
                prompt[at] = dice.below(VOCABULARY - 1);
            }
            arrivals.add(new Arrival((long) nanos, prompt, 32));
        }
        return arrivals;
    }
}
