package io.roseinfer.bench.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.FleetUse;
import io.roseinfer.bench.http.FleetUse.Count;
import io.roseinfer.bench.http.FleetUse.EngineUse;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.load.OfferedRequest;
import io.roseinfer.engine.Dice;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.Prompt;
import io.roseinfer.engine.routing.FleetView;
import io.roseinfer.engine.routing.ReplicaView;
import io.roseinfer.engine.routing.RoutedRequest;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.engine.routing.ScalePolicy;
import io.roseinfer.engine.routing.ViewAge;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.SpecBuilder;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.RequestEvents;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests of fleets whose engines differ, fail, start and drain. {@code -Droseinfer.iters} sets the number of seeds. */
@Tag("sim")
class FleetTest {
    private static final int SEEDS = Math.max(100, Integer.getInteger("roseinfer.iters", 0));
    private static final long MILLI = 1_000_000;
    private static final StepTimes MILLISECOND_STEPS = times(1e6, 0);

    private static final ModelSpec SPEC =
            SpecBuilder.named("fleet").vocabulary(50).context(128).build();

    private static StepTimes times(double step, double token) {
        return new StepTimes(CostTable.linear(step, token, 0), Pace.EVEN, HostTimes.NONE);
    }

    private static SimulatedServer server(
            int engines, RoutingPolicy routing, FleetPlan plan, IntFunction<StepTimes> times) {
        EngineOptions options = EngineOptions.defaults()
                .withScheduler(SchedulerOptions.builder()
                        .maxBatchSize(8)
                        .prefixCache(false)
                        .build());
        return new SimulatedServer(engines(engines, options, routing, plan), times, Integer.MAX_VALUE, 0);
    }

    private static SimulatedServer.Engines engines(
            int engines, EngineOptions options, RoutingPolicy routing, FleetPlan plan) {
        return engines(engines, options, routing, plan, Optional.empty());
    }

    private static SimulatedServer.Engines engines(
            int engines, EngineOptions options, RoutingPolicy routing, FleetPlan plan, Optional<Split> split) {
        SimOptions sim = split.isPresent()
                ? SimOptions.defaults().ofShapes()
                : SimOptions.defaults().withReadBack(false);
        return new SimulatedServer.Engines(
                engines,
                engine -> new SimRunner(SPEC, EngineLimits.runnerLimits(options, SPEC), sim),
                options,
                routing,
                plan,
                split);
    }

    /** Returns requests at these times in milliseconds, each with a prompt of two tokens. */
    private static OfferedLoad at(int output, long... millis) {
        return new OfferedLoad(
                Arrays.stream(millis)
                        .mapToObj(each -> OfferedRequest.of(each * MILLI, new Prompt.Tokens(1, 2), output))
                        .toList(),
                OfferedLoad.Pacing.SCHEDULED);
    }

    private static FleetPlan scaled(ScalePolicy policy, long startUpMillis, long intervalMillis) {
        return new FleetPlan(
                List.of(),
                ViewAge.NONE,
                Optional.of(new FleetPlan.Scaling(policy, startUpMillis * MILLI, intervalMillis * MILLI)));
    }

    private static FleetUse fleet(LoadResult result) {
        return result.fleet().orElseThrow();
    }

    /** The policy lets one request wait for any engine, and binds the next ones to the last engine. */
    @Test
    void routing_policy_of_a_fleet_sees_facts_of_requests_and_the_shared_queue() {
        List<String> seen = new ArrayList<>();
        RoutingPolicy policy = (request, engines) -> {
            int shared = engines.getFirst().sharedRequests();
            seen.add(request.tenant() + " " + request.priority() + " " + request.predictedNewTokens() + " "
                    + (request.deadlineNanos() - request.arrivalNanos()) + " " + shared + " "
                    + engines.getLast().predictedTokens());
            return shared == 0 ? RoutingPolicy.SHARED_QUEUE : 1;
        };
        OfferedRequest.Traits traits = OfferedRequest.Traits.NONE
                .withTenant("a")
                .withPriority(4)
                .withPredictedTokens(9)
                .withDeadlineMillis(1.5);
        List<OfferedRequest> requests = at(30, 1, 2, 3, 4, 5).requests().stream()
                .map(request -> request.withTraits(traits))
                .toList();
        EngineOptions options = EngineOptions.defaults()
                .withScheduler(SchedulerOptions.builder().maxActiveRequests(1).build());
        LoadResult result = new SimulatedServer(
                        engines(2, options, policy, FleetPlan.NONE), engine -> MILLISECOND_STEPS, Integer.MAX_VALUE, 0)
                .run(new OfferedLoad(requests, OfferedLoad.Pacing.SCHEDULED));
        String facts = "a 4 9 1500000";
        assertThat(seen)
                .containsExactly(facts + " 0 0", facts + " 0 0", facts + " 0 11", facts + " 1 11", facts + " 1 22");
        assertThat(result.calls().subList(3, 5))
                .extracting(call -> call.server().orElseThrow().served().engine())
                .containsOnly(1);
    }

    @Test
    void engine_has_its_own_step_times() {
        LoadResult result = server(
                        2,
                        RoutingPolicy.roundRobin(),
                        FleetPlan.NONE,
                        engine -> engine == 0 ? MILLISECOND_STEPS : times(5e6, 0))
                .run(at(2, 0, 0));
        assertThat(result.calls()).extracting(call -> call.times().endNanos()).containsExactly(2 * MILLI, 10 * MILLI);
        assertThat(fleet(result).engines()).extracting(EngineUse::busyS).containsExactly(0.002, 0.01);
    }

    @Test
    void engine_that_fails_ends_requests_with_a_token_and_leaves_the_others_to_the_rest() {
        FleetPlan plan = new FleetPlan(List.of(new FleetPlan.Death(3_500_000, 0)), ViewAge.NONE, Optional.empty());
        LoadResult result = server(2, RoutingPolicy.roundRobin(), plan, engine -> MILLISECOND_STEPS)
                .run(at(9, 0, 0, 3, 20));
        assertThat(result.calls())
                .extracting(call -> call.error().orElse("completed"))
                .containsExactly("engine 0 stopped", "completed", "completed", "completed");
        assertThat(result.calls().get(0).tokens()).isEqualTo(3);
        assertThat(fleet(result).engines().getFirst())
                .isEqualTo(new EngineUse(0, 0.0035, 0.0035, OptionalDouble.of(0.0035), 1, 1, 0, 4));
        assertThat(fleet(result).counts()).containsExactly(new Count(0, 2, 0, 0), new Count(0.0035, 1, 0, 0));
    }

    @Test
    void requests_fail_if_no_engine_serves() {
        FleetPlan plan = new FleetPlan(
                List.of(new FleetPlan.Death(MILLI, 0), new FleetPlan.Death(MILLI, 1)), ViewAge.NONE, Optional.empty());
        LoadResult result = server(2, RoutingPolicy.pull(), plan, engine -> MILLISECOND_STEPS)
                .run(at(3, 5));
        assertThat(result.calls().getFirst().error().orElseThrow()).contains("all engines stopped");
    }

    /** The policy wants two engines from 10 ms on, which takes until 40 ms; the only one that serves fails at 20 ms. */
    @Test
    void requests_wait_for_an_engine_that_starts_while_none_serves() {
        ScalePolicy policy = fleet -> fleet.nowNanos() < 10 * MILLI ? 1 : 2;
        FleetPlan plan = new FleetPlan(
                List.of(new FleetPlan.Death(20 * MILLI, 0)),
                ViewAge.NONE,
                Optional.of(new FleetPlan.Scaling(policy, 30 * MILLI, 10 * MILLI)));
        LoadResult result = server(2, RoutingPolicy.pull(), plan, engine -> MILLISECOND_STEPS)
                .run(at(3, 0, 25, 30));
        assertThat(result.completed()).hasSize(3);
        assertThat(result.calls())
                .extracting(call -> call.times().endNanos())
                .containsExactly(3 * MILLI, 43 * MILLI, 43 * MILLI);
        assertThat(fleet(result).counts())
                .containsExactly(
                        new Count(0, 1, 0, 0),
                        new Count(0.01, 1, 1, 0),
                        new Count(0.02, 0, 1, 0),
                        new Count(0.04, 1, 0, 0));
    }

    @Test
    void requests_fail_if_the_engine_that_they_wait_for_fails() {
        ScalePolicy policy = fleet -> 2 - (fleet.nowNanos() == 0 ? 1 : 0);
        FleetPlan plan = new FleetPlan(
                List.of(new FleetPlan.Death(20 * MILLI, 0), new FleetPlan.Death(27 * MILLI, 1)),
                ViewAge.NONE,
                Optional.of(new FleetPlan.Scaling(policy, 30 * MILLI, 10 * MILLI)));
        LoadResult result = server(2, RoutingPolicy.pull(), plan, engine -> MILLISECOND_STEPS)
                .run(at(3, 25));
        assertThat(result.calls().getFirst().error()).contains("no engine serves");
    }

    /** The policy wants three engines from 10 ms on and one from 40 ms on. */
    @Test
    void engines_start_after_their_start_up_time_and_drain() {
        List<Long> calls = new ArrayList<>();
        ScalePolicy policy = fleet -> {
            calls.add(fleet.nowNanos() / MILLI);
            return fleet.nowNanos() < 10 * MILLI || fleet.nowNanos() >= 40 * MILLI ? 1 : 3;
        };
        LoadResult result = server(4, RoutingPolicy.leastTokens(), scaled(policy, 15, 10), engine -> MILLISECOND_STEPS)
                .run(at(20, 0, 30, 30, 30, 55));
        assertThat(calls).containsExactly(0L, 10L, 20L, 30L, 40L, 50L, 60L, 70L);
        assertThat(fleet(result).counts())
                .containsExactly(
                        new Count(0, 1, 0, 0),
                        new Count(0.01, 1, 2, 0),
                        new Count(0.025, 3, 0, 0),
                        new Count(0.04, 1, 0, 2),
                        new Count(0.05, 1, 0, 0));
        assertThat(fleet(result).engines())
                .extracting(EngineUse::usedS, EngineUse::requests)
                .containsExactly(tuple(0.075, 3), tuple(0.04, 1), tuple(0.04, 1), tuple(0.0, 0));
        assertThat(fleet(result).engineSeconds()).isEqualTo(0.155);
    }

    /** Requests arrive at 0, 5, 6 and 12 ms and take 3 ms, except the third, which is too long and is rejected. */
    @ParameterizedTest
    @CsvSource({"0, true, 0 0 3 3 5 5", "9, true, 0 0 3 0 5 3", "9, false, 0 0 1 0 3 3"})
    void scaling_policy_sees_how_many_requests_have_arrived_and_ended(
            long ageMillis, boolean countsSent, String counts) {
        List<Long> seen = new ArrayList<>();
        ScalePolicy policy = fleet -> {
            seen.addAll(List.of(fleet.arrivals(), fleet.completions()));
            return 2;
        };
        FleetPlan plan = new FleetPlan(
                List.of(),
                new ViewAge(ageMillis * MILLI, countsSent),
                Optional.of(new FleetPlan.Scaling(policy, 0, 10 * MILLI)));
        List<OfferedRequest> requests = new ArrayList<>(at(3, 0, 5, 12, 12, 25).requests());
        requests.add(2, OfferedRequest.of(6 * MILLI, new Prompt.Tokens(new int[200]), 3));
        LoadResult result = server(2, RoutingPolicy.pull(), plan, engine -> MILLISECOND_STEPS)
                .run(new OfferedLoad(requests, OfferedLoad.Pacing.SCHEDULED));
        assertThat(result.completed()).hasSize(5);
        assertThat(seen.stream().limit(6).map(String::valueOf)).containsExactly(counts.split(" "));
    }

    @Test
    void engines_that_start_are_cancelled_first_and_failed_ones_do_not_start() {
        ScalePolicy policy = fleet -> fleet.nowNanos() == 20 * MILLI ? 1 : 9;
        FleetPlan plan = new FleetPlan(
                List.of(new FleetPlan.Death(5 * MILLI, 1), new FleetPlan.Death(12 * MILLI, 2)),
                ViewAge.NONE,
                Optional.of(new FleetPlan.Scaling(
                        fleet -> fleet.nowNanos() == 0 ? 1 : policy.replicas(fleet), 50 * MILLI, 10 * MILLI)));
        LoadResult result = server(4, RoutingPolicy.pull(), plan, engine -> MILLISECOND_STEPS)
                .run(at(35, 0));
        assertThat(fleet(result).counts())
                .containsExactly(
                        new Count(0, 1, 0, 0),
                        new Count(0.01, 1, 2, 0),
                        new Count(0.012, 1, 1, 0),
                        new Count(0.02, 1, 0, 0),
                        new Count(0.03, 1, 1, 0));
        assertThat(fleet(result).engines()).extracting(EngineUse::usedS).containsExactly(0.035, 0.0, 0.002, 0.015);
    }

    @Test
    void scaling_policy_that_asks_for_no_engine_fails_by_name() {
        class Zero implements ScalePolicy {
            @Override
            public int replicas(FleetView fleet) {
                return 0;
            }
        }
        assertThatThrownBy(() -> server(2, RoutingPolicy.pull(), scaled(new Zero(), 0, 1), engine -> MILLISECOND_STEPS)
                        .run(at(1, 0)))
                .isInstanceOf(EngineStopped.class)
                .hasMessageContaining("the scaling policy")
                .hasMessageContaining("asked for 0 engines; allowed are 1 to 2");
    }

    @Test
    void routing_or_scaling_policy_that_listens_to_events_is_rejected() {
        class Router implements RoutingPolicy, RequestEvents {
            @Override
            public int choose(RoutedRequest request, List<? extends ReplicaView> replicas) {
                return 0;
            }
        }
        class Scaler implements ScalePolicy, RequestEvents {
            @Override
            public int replicas(FleetView fleet) {
                return 1;
            }
        }
        assertThatThrownBy(() -> server(2, new Router(), FleetPlan.NONE, engine -> MILLISECOND_STEPS)
                        .run(at(1, 0)))
                .isInstanceOf(BadInput.class)
                .hasMessageStartingWith("the routing policy " + Router.class.getName() + " implements RequestEvents");
        assertThatThrownBy(
                        () -> server(2, RoutingPolicy.pull(), scaled(new Scaler(), 0, 1), engine -> MILLISECOND_STEPS))
                .isInstanceOf(BadInput.class)
                .hasMessageStartingWith("the scaling policy " + Scaler.class.getName() + " implements RequestEvents");
    }

    /** Chooses at random, also the shared queue. */
    private record RandomRouting(Dice dice) implements RoutingPolicy {
        @Override
        public int choose(RoutedRequest request, List<? extends ReplicaView> liveReplicas) {
            return dice.between(SHARED_QUEUE, liveReplicas.size() - 1);
        }
    }

    private static RoutingPolicy routing(Dice dice) {
        return switch (dice.below(8)) {
            case 0 -> RoutingPolicy.pull();
            case 1 -> RoutingPolicy.roundRobin();
            case 2 -> RoutingPolicy.leastTokens();
            case 3 -> RoutingPolicy.prefix();
            case 4 -> RoutingPolicy.vllm();
            case 5 -> RoutingPolicy.sglang();
            case 6 -> RoutingPolicy.dynamo();
            default -> new RandomRouting(dice);
        };
    }

    private static FleetPlan plan(Dice dice, int engines) {
        List<FleetPlan.Death> deaths = IntStream.range(0, dice.oneOf(0, 0, 1, 3))
                .mapToObj(i -> new FleetPlan.Death(dice.between(0, 300) * MILLI, dice.below(engines)))
                .toList();
        double changes = dice.oneOf(0.1, 0.5, 1);
        ScalePolicy policy = fleet -> {
            assertThat(fleet.serving().size() + fleet.starting() + fleet.draining())
                    .isLessThanOrEqualTo(fleet.maxReplicas());
            assertThat(fleet.completions()).isBetween(0L, fleet.arrivals());
            return dice.chance(changes)
                    ? dice.between(1, engines)
                    : Math.max(1, fleet.serving().size() + fleet.starting());
        };
        return new FleetPlan(
                deaths,
                new ViewAge(dice.oneOf(0, 0, 3, 40) * MILLI, dice.coin()),
                dice.chance(0.7)
                        ? Optional.of(new FleetPlan.Scaling(
                                policy, dice.oneOf(0, 1, 30) * MILLI, dice.oneOf(1, 7, 50) * MILLI))
                        : Optional.empty());
    }

    private static OfferedLoad load(Dice dice) {
        List<OfferedRequest> requests = new ArrayList<>();
        long nanos = 0;
        for (int i = dice.between(1, 60); i > 0; i--) {
            nanos += dice.oneOf(0, 0, 1, 5, 30) * MILLI;
            int[] prompt = new int[dice.between(1, 60)];
            Arrays.setAll(prompt, at -> at < 40 ? 7 : dice.below(40));
            requests.add(OfferedRequest.of(nanos, new Prompt.Tokens(prompt), dice.between(1, 12)));
        }
        return new OfferedLoad(requests, dice.coin() ? OfferedLoad.Pacing.SCHEDULED : OfferedLoad.Pacing.BURST);
    }

    private static LoadResult random(long seed) {
        Dice dice = new Dice(seed, "fleet");
        int engines = dice.between(2, 6);
        EngineOptions options = EngineOptions.defaults()
                .withBlockSize(4)
                .withKvBlocks(dice.between(20, 60))
                .withScheduler(SchedulerOptions.builder()
                        .maxBatchSize(dice.between(1, 6))
                        .maxActiveRequests(dice.between(1, 8))
                        .chunkedPrefill(dice.coin())
                        .prefillMaxTokens(dice.between(1, 40))
                        .prefixCache(dice.coin())
                        .admission(dice.coin() ? AdmissionPolicy.fifo() : AdmissionPolicy.pack(8, 0))
                        .build());
        RoutingPolicy routing = routing(dice);
        FleetPlan plan = plan(dice, engines);
        Optional<Split> split = plan.scaling().isEmpty() && dice.chance(0.7)
                ? Optional.of(new Split(
                        dice.between(1, engines - 1),
                        new KvTransfer(dice.oneOf(0, 1e3, 1e6), dice.oneOf(0, 1, 5) * MILLI),
                        options.withKvBlocks(dice.between(20, options.kvBlocks())),
                        routing(dice)))
                : Optional.empty();
        OfferedLoad load = load(dice);
        double token = dice.oneOf(0, 1e4, 1e6);
        return new SimulatedServer(
                        engines(engines, options, routing, plan, split),
                        engine -> times(1e6 * (1 + engine), token),
                        dice.oneOf(2, 10, Integer.MAX_VALUE),
                        seed)
                .run(load);
    }

    private static void check(LoadResult result) {
        FleetUse use = fleet(result);
        long computed = 0;
        for (CallResult call : result.calls()) {
            assertThat(call.tokens()).isLessThanOrEqualTo(call.askedTokens());
            if (call.isComplete()) {
                assertThat(call.tokens()).isEqualTo(call.askedTokens());
            }
            computed += call.tokens();
        }
        boolean failed = use.engines().stream().anyMatch(each -> each.failedS().isPresent());
        if (!failed) {
            assertThat(result.completed()).hasSameSizeAs(result.calls());
            // The keys and values of a last token are never computed.
            assertThat(total(result, Fact.TOKENS))
                    .isEqualTo(result.inputTokens()
                            + computed
                            - result.calls().size()
                            - total(result, Fact.CACHED_TOKENS)
                            + total(result, Fact.RECOMPUTED_TOKENS));
        }
        // A request that moved to a decode engine was served by two.
        int moved = (int) result.calls().stream()
                .filter(call ->
                        call.server().orElseThrow().served().prefillEngine().isPresent())
                .count();
        assertThat(use.engines().stream().mapToInt(EngineUse::requests).sum())
                .isLessThanOrEqualTo(result.calls().size() + moved);
        assertThat(use.engines().stream()
                        .mapToInt(each -> each.requests() - each.failed())
                        .sum())
                .isEqualTo(result.completed().size() + moved);
        assertThat(use.engines().stream().mapToLong(EngineUse::outputTokens).sum())
                .isEqualTo(result.outputTokens());
        for (EngineUse each : use.engines()) {
            assertThat(each.usedS()).isBetween(0.0, result.seconds() + 1e-9);
            assertThat(each.busyS()).isBetween(0.0, each.usedS() + 1e-9);
        }
        double used = 0;
        for (int i = 0; i < use.counts().size(); i++) {
            Count count = use.counts().get(i);
            double until = i + 1 < use.counts().size() ? use.counts().get(i + 1).s() : result.seconds();
            used += Math.max(0, Math.min(until, result.seconds()) - count.s())
                    * (count.serving() + count.starting() + count.draining());
        }
        assertThat(use.engineSeconds()).isCloseTo(used, within(1e-6));
    }

    private static long total(LoadResult result, Fact fact) {
        return result.steps().stream().mapToLong(step -> step.get(fact)).sum();
    }

    @Test
    void trimmed_result_keeps_the_use_of_the_whole_run() {
        LoadResult result = random(0);
        assertThat(result.trimmed(1, 0).fleet()).isPresent().isEqualTo(result.fleet());
    }

    @Test
    void requests_and_tokens_are_conserved_in_random_fleets_and_runs_are_reproducible() {
        for (long seed = 0; seed < SEEDS; seed++) {
            LoadResult result = random(seed);
            try {
                check(result);
            } catch (AssertionError e) {
                throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
            }
            assertThat(random(seed)).as("seed %d", seed).isEqualTo(result);
        }
    }

    /** The policy wants a further engine at 10 ms and another at 20 ms, and from 30 ms on one less. */
    @Test
    void engine_that_was_asked_for_last_is_the_first_whose_start_is_cancelled() {
        ScalePolicy policy = fleet -> switch ((int) (fleet.nowNanos() / (10 * MILLI))) {
            case 0 -> 1;
            case 2 -> 3;
            default -> 2;
        };
        LoadResult result = server(3, RoutingPolicy.pull(), scaled(policy, 35, 10), engine -> MILLISECOND_STEPS)
                .run(at(3, 0, 60));
        assertThat(fleet(result).counts())
                .containsExactly(
                        new Count(0, 1, 0, 0),
                        new Count(0.01, 1, 1, 0),
                        new Count(0.02, 1, 2, 0),
                        new Count(0.03, 1, 1, 0),
                        new Count(0.045, 2, 0, 0));
    }
}
