package io.roseinfer.engine;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.metrics.RequestTimeline;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.SpecBuilder;
import io.roseinfer.observe.ObservedRequest;
import io.roseinfer.observe.Observers;
import io.roseinfer.observe.RequestEvent;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.scheduler.SchedulerOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Runs a {@link VirtualEngine} whose steps take 2 ms plus 20 µs per token. Runs are reproducible to the nanosecond.
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

    /** A replica's failure. */
    private record Death(int replica, long nanos) {}

    private final VirtualEngine engine;
    private final List<ObservedRequest> requests = new ArrayList<>();
    private final Set<ObservedRequest> admitted = new HashSet<>();
    private final Set<ObservedRequest> onTheDead = new HashSet<>();
    private Optional<Death> death = Optional.empty();

    /** Creates idle replicas, each with a pool of {@code poolTokens} tokens. */
    VirtualReplicas(int replicas, int poolTokens, RoutingPolicy routing) {
        EngineOptions options = EngineOptions.defaults()
                .withBlockSize(BLOCK)
                .withKvBlocks(poolTokens / BLOCK)
                .withScheduler(SchedulerOptions.builder()
                        .maxBatchSize(64)
                        .chunkedPrefill(true)
                        .prefillMaxTokens(2048)
                        .build());
        List<SimRunner> runners = Stream.generate(() -> new SimRunner(
                        spec(),
                        EngineLimits.runnerLimits(options, spec()),
                        SimOptions.defaults().withReadBack(false)))
                .limit(replicas)
                .toList();
        this.engine = new VirtualEngine(
                runners,
                options,
                routing,
                (step, startNanos) -> startNanos + STEP_NANOS + step.get(Fact.TOKENS) * TOKEN_NANOS,
                Observers.ofRequests(event -> {
                    if (event instanceof RequestEvent.Admitted(ObservedRequest again) && !admitted.add(again)) {
                        onTheDead.add(again);
                    }
                    if (event instanceof RequestEvent.Ended(ObservedRequest failed, FinishReason reason)
                            && reason == FinishReason.ERROR) {
                        onTheDead.add(failed);
                    }
                }));
    }

    /** Makes a replica's device fail at a time. */
    VirtualReplicas withDeath(int replica, long nanos) {
        death = Optional.of(new Death(replica, nanos));
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
        for (Arrival arrival : arrivals) {
            stopUntil(arrival.nanos());
            engine.runUntil(arrival.nanos());
            requests.add(engine.submit(
                    GenerationRequest.ofTokens(arrival.prompt())
                            .withMaxNewTokens(arrival.newTokens())
                            .withIgnoreEndOfText(true),
                    arrival.nanos()));
        }
        stopUntil(Long.MAX_VALUE);
        engine.runUntil(Long.MAX_VALUE);
        engine.checkIdle();
    }

    private void stopUntil(long nanos) {
        if (death.isPresent() && death.get().nanos() <= nanos) {
            engine.runUntil(death.get().nanos());
            engine.stop(death.get().replica(), death.get().nanos());
            death = Optional.empty();
        }
    }

    private Outcome outcome(List<Arrival> arrivals) {
        long[] ttft = new long[arrivals.size()];
        long cached = 0;
        long prompts = 0;
        long last = 0;
        for (int i = 0; i < ttft.length; i++) {
            ObservedRequest request = requests.get(i);
            ttft[i] = request.timeline().tokenNanos()[0] - arrivals.get(i).nanos();
            cached += request.cachedTokens();
            prompts += request.promptTokens();
            last = Math.max(last, request.timeline().finishedNanos());
        }
        Arrays.sort(ttft);
        return new Outcome((double) cached / prompts, ttft[ttft.length / 2], p99(ttft), last);
    }

    /** Returns all requests in order of arrival. */
    List<ObservedRequest> requests() {
        return List.copyOf(requests);
    }

    /**
     * Returns whether a replica had the request when it failed: the request failed with it, or was admitted again by
     * another.
     */
    boolean wasOnTheDead(ObservedRequest request) {
        return onTheDead.contains(request);
    }

    /** Returns the waits of requests that have all their tokens. */
    static Latencies latencies(List<ObservedRequest> requests) {
        List<RequestTimeline> timelines =
                requests.stream().map(ObservedRequest::timeline).toList();
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
