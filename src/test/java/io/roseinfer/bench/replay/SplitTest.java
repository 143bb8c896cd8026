package io.roseinfer.bench.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.FleetUse.EngineUse;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.ServerStamps;
import io.roseinfer.bench.load.Arrivals;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.load.OfferedRequest;
import io.roseinfer.bench.load.RandomPrompts;
import io.roseinfer.bench.report.Attribution;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.Prompt;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.engine.routing.ViewAge;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.SpecBuilder;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.QueueView;
import io.roseinfer.scheduler.policy.WaitingRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of prefill and decode engines apart. Steps take 1 ms and 0.1 ms per token. */
@Tag("sim")
class SplitTest {
    private static final int SEEDS = Math.max(20, Integer.getInteger("roseinfer.iters", 0));
    private static final KvTransfer FREE = new KvTransfer(0, 0);
    /** 0.25 ms per token, and 0.05 ms. */
    private static final KvTransfer SLOW = new KvTransfer(250_000, 50_000);

    private static final ModelSpec SPEC =
            SpecBuilder.named("split").vocabulary(500).context(256).build();

    private static EngineOptions options(boolean chunkedPrefill) {
        return EngineOptions.defaults()
                .withScheduler(SchedulerOptions.builder()
                        .maxBatchSize(8)
                        .chunkedPrefill(chunkedPrefill)
                        .prefillMaxTokens(64)
                        .prefixCache(false)
                        .build());
    }

    private static Optional<Split> split(int prefillEngines, KvTransfer transfer, EngineOptions options) {
        return Optional.of(new Split(prefillEngines, transfer, options, RoutingPolicy.leastTokens()));
    }

    private static LoadResult run(
            int engines, Optional<Split> split, EngineOptions options, FleetPlan plan, OfferedLoad load) {
        return new SimulatedServer(
                        new SimulatedServer.Engines(
                                engines,
                                engine -> new SimRunner(
                                        SPEC,
                                        EngineLimits.runnerLimits(options, SPEC),
                                        SimOptions.defaults().ofShapes()),
                                options,
                                RoutingPolicy.leastTokens(),
                                plan,
                                split),
                        engine -> new StepTimes(CostTable.linear(1e6, 1e5, 0), Pace.EVEN, HostTimes.NONE),
                        Integer.MAX_VALUE,
                        0)
                .run(load);
    }

    private static LoadResult apart(KvTransfer transfer, FleetPlan plan, OfferedRequest... requests) {
        return run(2, split(1, transfer, options(false)), options(false), plan, at(requests));
    }

    private static OfferedLoad at(OfferedRequest... requests) {
        return new OfferedLoad(List.of(requests), OfferedLoad.Pacing.SCHEDULED);
    }

    private static OfferedRequest request(long nanos, int output) {
        return OfferedRequest.of(nanos, new Prompt.Tokens(1, 2), output);
    }

    private static FleetPlan death(long nanos, int engine) {
        return new FleetPlan(List.of(new FleetPlan.Death(nanos, engine)), ViewAge.NONE, Optional.empty());
    }

    private static long[] tokenNanos(LoadResult result, int call) {
        return result.calls().get(call).arrivals().nanos();
    }

    /**
     * Both prompts are in one step of 1.4 ms, and are sent one after the other: until 1.95 and 2.45 ms. The first request
     * decodes alone until 3.05 ms, then both do.
     */
    @Test
    void times_of_two_requests_are_exact() {
        LoadResult result = apart(SLOW, FleetPlan.NONE, request(0, 3), request(0, 2));
        assertThat(tokenNanos(result, 0)).containsExactly(1_400_000, 3_050_000, 4_250_000);
        assertThat(tokenNanos(result, 1)).containsExactly(1_400_000, 4_250_000);
        assertThat(result.steps())
                .extracting(
                        step -> step.get(Fact.ENGINE),
                        step -> step.get(Fact.PREFILL_TOKENS),
                        step -> step.get(Fact.DECODE_ROWS))
                .containsExactly(tuple(0L, 4L, 0L), tuple(1L, 0L, 1L), tuple(1L, 0L, 2L));
    }

    /** Records the tags of waiting requests. */
    private record TagRecorder(List<Optional<Object>> tags) implements AdmissionPolicy {
        @Override
        public int lookahead() {
            return 2;
        }

        @Override
        public long rank(WaitingRequest waiting, QueueView queue) {
            tags.add(waiting.tag());
            return 0;
        }
    }

    @Test
    void policies_see_no_object_of_the_simulation() {
        List<Optional<Object>> tags = new ArrayList<>();
        EngineOptions recorded = options(false)
                .withScheduler(SchedulerOptions.builder()
                        .maxActiveRequests(1)
                        .admission(new TagRecorder(tags))
                        .build());
        for (Optional<Split> split : List.of(split(1, FREE, recorded), Optional.<Split>empty())) {
            LoadResult unused = run(
                    2, split, recorded, FleetPlan.NONE, at(request(0, 3), request(0, 3), request(0, 3), request(0, 3)));
            assertThat(tags).isNotEmpty().containsOnly(Optional.empty());
            tags.clear();
        }
    }

    /** Records when waiting requests should be complete. */
    private record DeadlineRecorder(List<Long> nanos) implements AdmissionPolicy {
        @Override
        public int lookahead() {
            return 2;
        }

        @Override
        public long rank(WaitingRequest waiting, QueueView queue) {
            nanos.add(waiting.deadlineNanos());
            return 0;
        }
    }

    @Test
    void request_keeps_its_deadline_on_its_decode_engine() {
        List<Long> nanos = new ArrayList<>();
        EngineOptions recorded = options(false)
                .withScheduler(SchedulerOptions.builder()
                        .admission(new DeadlineRecorder(nanos))
                        .build());
        OfferedRequest request = request(1_000_000, 3).withTraits(OfferedRequest.Traits.NONE.withDeadlineMillis(50));
        LoadResult unused = run(2, split(1, SLOW, recorded), recorded, FleetPlan.NONE, at(request));
        assertThat(nanos).hasSize(2).containsOnly(51_000_000L);
    }

    @Test
    void request_belongs_to_both_engines() {
        LoadResult result = apart(SLOW, FleetPlan.NONE, request(0, 3), request(0, 1));
        assertThat(result.calls())
                .extracting(call -> call.server().orElseThrow().served())
                .containsExactly(
                        new ServerStamps.Served(1, 0, OptionalInt.of(0)),
                        new ServerStamps.Served(0, 0, OptionalInt.empty()));
        assertThat(result.fleet().orElseThrow().engines())
                .extracting(EngineUse::requests, EngineUse::failed, EngineUse::outputTokens)
                .containsExactly(tuple(2, 0, 2L), tuple(1, 0, 2L));
    }

    private static OfferedLoad load(long seed, int maxOutput) {
        OfferedLoad load =
                OfferedLoad.of(new RandomPrompts(60, 16, 0.9, 0, 400, seed).requests(60), new Arrivals(60, 1, seed));
        return new OfferedLoad(
                load.requests().stream()
                        .map(request -> request.withOutputTokens(Math.min(maxOutput, request.outputTokens())))
                        .toList(),
                OfferedLoad.Pacing.SCHEDULED);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void first_tokens_come_as_if_no_request_had_others(boolean chunkedPrefill) {
        for (long seed = 0; seed < SEEDS; seed++) {
            EngineOptions options = options(chunkedPrefill);
            LoadResult apart = run(2, split(1, FREE, options), options, FleetPlan.NONE, load(seed, 99));
            LoadResult alone = run(1, Optional.empty(), options, FleetPlan.NONE, load(seed, 1));
            assertThat(apart.calls())
                    .as("seed %d", seed)
                    .extracting(CallResult::ttftNanos)
                    .isEqualTo(alone.calls().stream().map(CallResult::ttftNanos).toList());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void prompts_never_delay_later_tokens(boolean chunkedPrefill) {
        EngineOptions options = options(chunkedPrefill);
        LoadResult result = run(3, split(1, SLOW, options), options, FleetPlan.NONE, load(1, 99));
        assertThat(result.completed()).hasSize(60);
        assertThat(result.steps())
                .allSatisfy(step -> assertThat(
                                step.get(Fact.ENGINE) == 0 ? step.get(Fact.DECODE_ROWS) : step.get(Fact.PREFILL_TOKENS))
                        .isZero());
        assertThat(Attribution.of(result).gaps().all()).containsEntry("prompts", 0.0);
        assertThat(Attribution.of(result).gapsWithoutSteps()).isZero();
    }

    /** The step of the prompt ends at 1.2 ms, and sending takes until 1.75 ms. */
    @Test
    void request_is_lost_with_the_engine_that_sends_it() {
        LoadResult result = apart(SLOW, death(1_700_000, 0), request(0, 3));
        assertThat(result.calls().getFirst().error()).hasValue("engine 0 stopped");
        assertThat(tokenNanos(result, 0)).containsExactly(1_200_000);
        assertThat(result.calls().getFirst().times().endNanos()).isEqualTo(1_700_000);
    }

    @Test
    void request_that_was_sent_survives_its_prefill_engine() {
        LoadResult result = apart(SLOW, death(1_800_000, 0), request(0, 3), request(2_000_000, 3));
        assertThat(result.calls())
                .extracting(call -> call.error().orElse("completed"))
                .containsExactly("completed", "all engines stopped");
    }

    @Test
    void request_fails_with_its_decode_engine_or_without_any() {
        LoadResult result = apart(SLOW, death(2_000_000, 1), request(0, 9), request(3_000_000, 9));
        assertThat(result.calls())
                .extracting(call -> call.error().orElse("completed"))
                .containsExactly("engine 1 stopped", "no engine serves");
        assertThat(result.calls()).extracting(CallResult::tokens).containsExactly(1, 1);
    }

    /** The decode engine has two blocks of 16 tokens. */
    @Test
    void request_that_never_fits_a_decode_engine_is_refused_before_its_first_token() {
        EngineOptions options = options(false);
        LoadResult result = run(
                2,
                split(1, FREE, options.withKvBlocks(2)),
                options,
                FleetPlan.NONE,
                at(OfferedRequest.of(0, new Prompt.Tokens(new int[30]), 7)));
        assertThat(result.calls().getFirst().error().orElseThrow()).contains("need 3 KV blocks, and the pool has 2");
        assertThat(result.steps()).isEmpty();
    }

    @Test
    void next_turn_of_a_conversation_follows_all_tokens_of_the_one_before() {
        OfferedRequest.Turn turn = new OfferedRequest.Turn(0, request(0, 2));
        LoadResult result = apart(SLOW, FleetPlan.NONE, request(0, 3).withNext(turn));
        assertThat(result.calls()).extracting(CallResult::inputTokens).containsExactly(2, 2 + 3 + 2);
    }
}
