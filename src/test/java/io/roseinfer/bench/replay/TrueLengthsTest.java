package io.roseinfer.bench.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.ServerStamps;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.load.OfferedRequest;
import io.roseinfer.bench.load.OfferedRequest.Traits;
import io.roseinfer.engine.Dice;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.Prompt;
import io.roseinfer.engine.routing.ReplicaView;
import io.roseinfer.engine.routing.RoutedRequest;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.engine.routing.ViewAge;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.SpecBuilder;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Checks that no policy knows the true lengths of completions: runs of the same requests with permuted lengths have the same decisions until
 * the first token or end that differs.
 */
@Tag("sim")
class TrueLengthsTest {
    private static final int SEEDS = Math.max(100, Integer.getInteger("roseinfer.iters", 0));
    private static final int ENGINES = 3;
    private static final long MILLI = 1_000_000;

    private static final ModelSpec SPEC =
            SpecBuilder.named("fleet").vocabulary(50).context(128).build();

    /** A choice of an engine or an admission, at a time. */
    private record Decision(long nanos, int request, int engine) {}

    /** The decisions of a run, and the times of each request's tokens. */
    private record Run(List<Decision> routed, List<Decision> admitted, List<List<Long>> tokens) {}

    /** Records the choices of another policy. */
    private record Recorder(RoutingPolicy of, OfferedLoad load, List<Decision> choices) implements RoutingPolicy {
        @Override
        public int choose(RoutedRequest request, List<? extends ReplicaView> liveReplicas) {
            int chosen = of.choose(request, liveReplicas);
            int id = (int) request.id();
            choices.add(new Decision(load.requests().get(id).dueNanos(), id, chosen));
            return chosen;
        }

        @Override
        public boolean usesPrefixes() {
            return of.usesPrefixes();
        }
    }

    /** A policy that knows the true lengths. */
    private record Oracle(OfferedLoad load) implements RoutingPolicy {
        @Override
        public int choose(RoutedRequest request, List<? extends ReplicaView> liveReplicas) {
            return load.requests().get((int) request.id()).outputTokens() % liveReplicas.size();
        }
    }

    private static OfferedLoad load(long seed, int shift) {
        Dice dice = new Dice(seed, "lengths");
        int count = dice.between(5, 50);
        int[] lengths = new int[count];
        Arrays.setAll(lengths, i -> dice.between(1, 12));
        List<OfferedRequest> requests = new ArrayList<>();
        long nanos = 0;
        for (int i = 0; i < count; i++) {
            nanos += dice.between(1, 5 * (int) MILLI);
            int[] prompt = new int[dice.between(1, 40)];
            Arrays.setAll(prompt, at -> at < 30 ? 7 : dice.below(40));
            requests.add(OfferedRequest.of(nanos, new Prompt.Tokens(prompt), lengths[(i + shift) % count])
                    .withTraits(Traits.NONE.withMaxTokens(12).withPredictedTokens(dice.between(1, 12))));
        }
        return new OfferedLoad(requests, OfferedLoad.Pacing.SCHEDULED);
    }

    private static Run run(long seed, OfferedLoad load, RoutingPolicy routing) {
        Dice dice = new Dice(seed, "engines");
        EngineOptions options = EngineOptions.defaults()
                .withBlockSize(4)
                .withKvBlocks(dice.between(20, 60))
                .withScheduler(SchedulerOptions.builder()
                        .maxBatchSize(dice.between(1, 6))
                        .maxActiveRequests(dice.between(1, 8))
                        .chunkedPrefill(dice.coin())
                        .admission(dice.coin() ? AdmissionPolicy.fifo() : AdmissionPolicy.pack(8, 0))
                        .build());
        List<Decision> routed = new ArrayList<>();
        SimOptions sim = SimOptions.defaults().withReadBack(false);
        FleetPlan plan =
                new FleetPlan(List.of(), new ViewAge(dice.oneOf(0, 10) * MILLI, dice.coin()), Optional.empty());
        List<CallResult> calls = new SimulatedServer(
                        new SimulatedServer.Engines(
                                ENGINES,
                                engine -> new SimRunner(SPEC, EngineLimits.runnerLimits(options, SPEC), sim),
                                options,
                                new Recorder(routing, load, routed),
                                plan),
                        engine -> new StepTimes(CostTable.linear(1e6, 1e4, 0), Pace.EVEN, HostTimes.NONE),
                        Integer.MAX_VALUE,
                        seed)
                .run(load)
                .calls();
        List<Decision> admitted = calls.stream()
                .map(call -> {
                    ServerStamps server = call.server().orElseThrow();
                    return new Decision(
                            server.admittedNanos(), call.id(), server.served().engine());
                })
                .toList();
        return new Run(
                routed,
                admitted,
                calls.stream()
                        .map(call ->
                                Arrays.stream(call.arrivals().nanos()).boxed().toList())
                        .toList());
    }

    /** Returns when the first token or end differs; a request ends with its last token. */
    private static long firstDifference(Run one, Run other) {
        long first = Long.MAX_VALUE;
        for (int i = 0; i < one.tokens.size(); i++) {
            List<Long> a = one.tokens.get(i);
            List<Long> b = other.tokens.get(i);
            int same = 0;
            while (same < Math.min(a.size(), b.size()) && a.get(same).equals(b.get(same))) {
                same++;
            }
            if (same < a.size() || same < b.size()) {
                long token = Math.min(
                        same < a.size() ? a.get(same) : Long.MAX_VALUE, same < b.size() ? b.get(same) : Long.MAX_VALUE);
                boolean oneEnded = same == a.size() || same == b.size();
                first = Math.min(first, oneEnded && same > 0 ? a.get(same - 1) : token);
            }
        }
        return first;
    }

    private static List<Decision> before(long nanos, List<Decision> decisions) {
        return decisions.stream().filter(decision -> decision.nanos < nanos).toList();
    }

    /** Returns the number of decisions before the first difference; empty if they differ. */
    private static Optional<Integer> sameDecisions(Run one, Run other) {
        long until = firstDifference(one, other);
        List<Decision> routed = before(until, one.routed);
        List<Decision> admitted = before(until, one.admitted);
        return routed.equals(before(until, other.routed)) && admitted.equals(before(until, other.admitted))
                ? Optional.of(routed.size() + admitted.size())
                : Optional.empty();
    }

    private static List<Supplier<RoutingPolicy>> policies() {
        return List.of(
                RoutingPolicy::pull,
                RoutingPolicy::roundRobin,
                RoutingPolicy::leastTokens,
                RoutingPolicy::prefix,
                RoutingPolicy::vllm,
                RoutingPolicy::sglang,
                RoutingPolicy::dynamo,
                () -> TrueLengthsTest::choosePredicted);
    }

    /** Chooses the engine with the fewest predicted tokens, unless they are more than the shared ones: then any. */
    private static int choosePredicted(RoutedRequest request, List<? extends ReplicaView> engines) {
        ReplicaView least = engines.stream()
                .min(Comparator.comparingLong(ReplicaView::predictedTokens))
                .orElseThrow();
        return least.predictedTokens() + request.predictedNewTokens() > least.sharedPredictedTokens()
                ? RoutingPolicy.SHARED_QUEUE
                : engines.indexOf(least);
    }

    @Test
    void permuted_true_lengths_change_no_decision_before_the_first_token_or_end_that_differs() {
        int compared = 0;
        for (long seed = 0; seed < SEEDS; seed++) {
            Supplier<RoutingPolicy> policy =
                    policies().get((int) (seed % policies().size()));
            Run one = run(seed, load(seed, 0), policy.get());
            Run other = run(seed, load(seed, 1), policy.get());
            Optional<Integer> same = sameDecisions(one, other);
            assertThat(same).as("seed %d", seed).isPresent();
            compared += same.orElseThrow();
        }
        System.out.printf("%d decisions of %d pairs of runs are equal%n", compared, SEEDS);
        assertThat(compared).isGreaterThan(4 * SEEDS);
    }

    @Test
    void policy_that_knows_the_lengths_is_found() {
        long found = Stream.iterate(0L, seed -> seed + 1)
                .limit(20)
                .filter(seed -> {
                    OfferedLoad load = load(seed, 0);
                    OfferedLoad permuted = load(seed, 1);
                    return sameDecisions(run(seed, load, new Oracle(load)), run(seed, permuted, new Oracle(permuted)))
                            .isEmpty();
                })
                .count();
        assertThat(found).isGreaterThan(10);
    }
}
