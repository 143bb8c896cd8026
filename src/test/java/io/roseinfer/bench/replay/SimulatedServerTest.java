package io.roseinfer.bench.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.SyntheticDrafter;
import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.Speculation;
import io.roseinfer.bench.load.Arrivals;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.load.OfferedRequest;
import io.roseinfer.bench.load.RandomPrompts;
import io.roseinfer.bench.load.SyntheticTrace;
import io.roseinfer.bench.load.Trace;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.Prompt;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.Drafter;
import io.roseinfer.scheduler.policy.QueueView;
import io.roseinfer.scheduler.policy.WaitingRequest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.node.JsonNodeFactory;

class SimulatedServerTest {
    private static final CostTable MILLISECOND_STEPS = CostTable.linear(1e6, 0, 0);

    private static StepTimes exact(CostTable costs) {
        return new StepTimes(costs, Pace.EVEN, HostTimes.NONE);
    }

    private static OfferedLoad one(int prompt, int output) {
        return new OfferedLoad(
                List.of(OfferedRequest.of(5_000_000, new Prompt.Tokens(new int[prompt]), output)),
                OfferedLoad.Pacing.SCHEDULED);
    }

    @Test
    void lone_request_takes_one_step_per_token() {
        CallResult call = SimulatedRuns.server(exact(MILLISECOND_STEPS), 0)
                .run(one(10, 4))
                .calls()
                .getFirst();
        assertThat(call.times().sentNanos()).isEqualTo(5_000_000);
        assertThat(call.ttftNanos()).hasValue(1e6);
        assertThat(call.tokenTimes().tpotNanos()).hasValue(1e6);
        assertThat(call.tokens()).isEqualTo(4);
    }

    @Test
    void results_of_completed_requests_take_no_memory() {
        LoadResult run = SimulatedRuns.server(exact(MILLISECOND_STEPS), 0).run(one(10, 4));
        assertThat(run.completed().getFirst())
                .isNotSameAs(run.completed().getFirst())
                .isEqualTo(run.calls().getFirst());
    }

    @Test
    void host_times_are_added_to_their_phases() {
        HostTimes host = new HostTimes(10, 200, List.of(3_000L), List.of(40_000L), List.of(70_000L));
        CallResult call = SimulatedRuns.server(new StepTimes(MILLISECOND_STEPS, Pace.EVEN, host), 0)
                .run(one(10, 3))
                .calls()
                .getFirst();
        assertThat(call.ttftNanos()).hasValue(3_000 + 200 + 1e6 + 40_000);
        assertThat(call.tokenTimes().itlNanos()).containsExactly(10 + 1e6 + 30_000, 10 + 1e6);
    }

    /** Returns the second of two requests: it arrives at 1.5 ms, in the second step of the first. */
    private static CallResult arrivingInAStep(int inFlight) {
        OfferedLoad load = new OfferedLoad(
                List.of(
                        OfferedRequest.of(0, new Prompt.Tokens(new int[] {1, 2}), 9),
                        OfferedRequest.of(1_500_000, new Prompt.Tokens(new int[] {3}), 2)),
                OfferedLoad.Pacing.SCHEDULED);
        return SimulatedRuns.server(
                        exact(MILLISECOND_STEPS),
                        SchedulerOptions.builder().maxBatchSize(8),
                        Integer.MAX_VALUE,
                        inFlight,
                        0)
                .run(load)
                .calls()
                .getLast();
    }

    @Test
    void request_waits_for_the_running_step_with_one_step_in_flight() {
        assertThat(arrivingInAStep(1).ttftNanos()).hasValue(0.5e6 + 1e6);
    }

    @Test
    void request_waits_for_both_steps_with_two_in_flight() {
        assertThat(arrivingInAStep(2).ttftNanos()).hasValue(0.5e6 + 1e6 + 1e6);
        assertThat(arrivingInAStep(2).tokenTimes().tpotNanos()).hasValue(1e6);
    }

    @Test
    void steps_in_flight_are_detected() {
        for (int inFlight = 1; inFlight <= 2; inFlight++) {
            LoadResult run = SimulatedRuns.server(
                            exact(SimulatedRuns.costs()),
                            SchedulerOptions.builder().maxBatchSize(8),
                            Integer.MAX_VALUE,
                            inFlight,
                            0)
                    .run(SimulatedRuns.load(50, 60, 5));
            assertThat(SimulatedRuns.recorded(run).inFlight()).isEqualTo(inFlight);
        }
    }

    @Test
    void concurrency_limit_makes_requests_wait_in_the_client() {
        LoadResult run = SimulatedRuns.server(
                        exact(MILLISECOND_STEPS), SchedulerOptions.builder().maxBatchSize(8), 1, 0)
                .run(SimulatedRuns.load(20, 1e6, 3));
        List<CallResult> calls = run.calls();
        for (int i = 1; i < calls.size(); i++) {
            assertThat(calls.get(i).times().sentNanos())
                    .isEqualTo(calls.get(i - 1).times().endNanos());
            assertThat(calls.get(i).heldNanos()).isPositive();
            assertThat(calls.get(i).lagNanos()).isZero();
        }
    }

    @Test
    void equal_seeds_give_equal_runs() {
        StepTimes times = new StepTimes(SimulatedRuns.costs(), Pace.logNormal(0.2, 9), HostTimes.NONE);
        OfferedLoad load = SimulatedRuns.load(50, 80, 1);
        assertThat(SimulatedRuns.server(times, 4).run(load))
                .isEqualTo(SimulatedRuns.server(times, 4).run(load));
    }

    @Test
    void request_with_a_grammar_is_rejected() {
        OfferedRequest constrained = OfferedRequest.of(0, new Prompt.Tokens(1), 4)
                .withConstraints(
                        Optional.of(JsonNodeFactory.instance.objectNode().put("tools", true)));
        OfferedLoad load = new OfferedLoad(List.of(constrained), OfferedLoad.Pacing.SCHEDULED);
        assertThatThrownBy(
                        () -> SimulatedRuns.server(exact(MILLISECOND_STEPS), 0).run(load))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("request 0 has tools");
    }

    @Test
    void policies_see_the_traits_of_requests() {
        OfferedRequest request = OfferedRequest.of(2_000_000, new Prompt.Tokens(1, 2), 3)
                .withTraits(OfferedRequest.Traits.NONE
                        .withTenant("a")
                        .withPriority(4)
                        .withMaxTokens(50)
                        .withPredictedTokens(9));
        List<String> seen = new ArrayList<>();
        AdmissionPolicy policy = new AdmissionPolicy() {
            @Override
            public int lookahead() {
                return 2;
            }

            @Override
            public long rank(WaitingRequest waiting, QueueView queue) {
                seen.add(waiting.tenant() + " " + waiting.priority() + " " + waiting.predictedNewTokens() + " "
                        + waiting.remainingNewTokens() + " " + queue.nowNanos());
                return 0;
            }
        };
        OfferedRequest other = OfferedRequest.of(2_000_000, new Prompt.Tokens(3), 3);
        LoadResult unused = SimulatedRuns.server(
                        exact(MILLISECOND_STEPS),
                        SchedulerOptions.builder().maxBatchSize(8).admission(policy),
                        Integer.MAX_VALUE,
                        1,
                        0)
                .run(new OfferedLoad(List.of(request, other), OfferedLoad.Pacing.SCHEDULED));
        assertThat(seen).contains("a 4 9 50 2000000");
    }

    @Test
    void policies_see_the_deadline_of_a_request_which_does_not_end_it() {
        List<Long> seen = new ArrayList<>();
        AdmissionPolicy policy = new AdmissionPolicy() {
            @Override
            public int lookahead() {
                return 8;
            }

            @Override
            public long rank(WaitingRequest waiting, QueueView queue) {
                seen.add(waiting.deadlineNanos());
                return 0;
            }
        };
        OfferedRequest request = OfferedRequest.of(5_000_000, new Prompt.Tokens(1, 2), 9)
                .withTraits(OfferedRequest.Traits.NONE.withDeadlineMillis(1.5));
        LoadResult run = SimulatedRuns.server(
                        exact(MILLISECOND_STEPS), SchedulerOptions.builder().admission(policy), Integer.MAX_VALUE, 1, 0)
                .run(new OfferedLoad(List.of(request), OfferedLoad.Pacing.SCHEDULED));
        assertThat(seen).containsOnly(6_500_000L);
        assertThat(run.calls().getFirst().tokens()).isEqualTo(9);
    }

    /** Returns a run of one request of 3 tokens, which may have {@code maxTokens}. */
    private static LoadResult ofThreeTokens(int maxTokens, int inFlight) {
        OfferedRequest request = OfferedRequest.of(0, new Prompt.Tokens(1, 2), 3)
                .withTraits(OfferedRequest.Traits.NONE.withMaxTokens(maxTokens).withTenant("a"));
        return SimulatedRuns.server(
                        exact(MILLISECOND_STEPS),
                        SchedulerOptions.builder().maxBatchSize(8),
                        Integer.MAX_VALUE,
                        inFlight,
                        0)
                .run(new OfferedLoad(List.of(request), OfferedLoad.Pacing.SCHEDULED));
    }

    @Test
    void request_below_its_maximum_ends_after_the_step_of_its_last_token() {
        LoadResult run = ofThreeTokens(100, 1);
        assertThat(run.calls().getFirst().tokens()).isEqualTo(3);
        assertThat(run.steps()).hasSize(3);
        assertThat(run.calls().getFirst().traits().tenant()).hasValue("a");
    }

    @Test
    void step_in_flight_computes_a_row_of_an_ended_request_in_vain() {
        LoadResult run = ofThreeTokens(100, 2);
        assertThat(run.calls().getFirst().tokens()).isEqualTo(3);
        assertThat(run.steps()).hasSize(4);
        assertThat(ofThreeTokens(3, 2).steps()).hasSize(3);
    }

    @Test
    void prompt_that_never_fits_fails_alone() {
        OfferedLoad load = new OfferedLoad(
                List.of(
                        OfferedRequest.of(0, new Prompt.Tokens(new int[5000]), 4),
                        OfferedRequest.of(1, new Prompt.Tokens(new int[5]), 4)),
                OfferedLoad.Pacing.SCHEDULED);
        LoadResult run = SimulatedRuns.server(exact(MILLISECOND_STEPS), 0).run(load);
        assertThat(run.calls()).extracting(CallResult::isComplete).containsExactly(false, true);
    }

    @Test
    void fitted_costs_equal_the_simulated_ones() {
        LoadResult run = SimulatedRuns.server(exact(SimulatedRuns.costs()), 0).run(SimulatedRuns.load(300, 60, 5));
        CostModel fitted = SimulatedRuns.recorded(run).times().costs();
        for (StepRecord step : run.steps()) {
            StepShape shape = StepShape.of(step);
            double truth = SimulatedRuns.costs().nanos(shape);
            assertThat(fitted.nanos(shape)).as("%s", shape).isBetween(0.97 * truth, 1.03 * truth);
        }
    }

    /** Chunks, drafts, preemptions and cached prefixes do not depend on the tokens that steps of shapes lack. */
    @Test
    void steps_of_shapes_give_the_results_of_steps_with_all_tokens() {
        StepTimes times = new StepTimes(SimulatedRuns.costs(), Pace.EVEN, HostTimes.NONE);
        OfferedLoad load = OfferedLoad.of(
                new SyntheticTrace(40, 20, 1, 3)
                        .trace(60)
                        .replay(new Trace.Terms(20, 400, 256, 3))
                        .requests(),
                new Arrivals(40, 1, 3));
        long preemptions = 0;
        for (int i = 0; i < 8; i++) {
            SchedulerOptions.Builder scheduler = SchedulerOptions.builder()
                    .maxBatchSize(8)
                    .chunkedPrefill(i % 2 == 0)
                    .prefillMaxTokens(i % 2 == 0 ? 50 : 512);
            if (i >= 4) {
                scheduler.drafter(Drafter.ngram(4));
            }
            EngineOptions options =
                    EngineOptions.defaults().withScheduler(scheduler.build()).withKvBlocks(26);
            SimOptions all = SimOptions.defaults().withReadBack(false).withMaxInFlight(1 + i / 2 % 2);
            LoadResult expected =
                    SimulatedRuns.server(times, options, 12, all, 1).run(load);
            assertThat(SimulatedRuns.server(times, options, 12, all.ofShapes(), 1)
                            .run(load))
                    .as("setting %d", i)
                    .isEqualTo(expected);
            assertThat(expected.steps().sum(Fact.CACHED_TOKENS)).isPositive();
            preemptions += expected.steps().sum(Fact.PREEMPTIONS);
        }
        assertThat(preemptions).isPositive();
    }

    /** Returns a run of eight closed-loop clients on steps of 1 ms and a time per token. */
    private static LoadResult speculating(double tokenNanos, Drafter drafter) {
        StepTimes times = new StepTimes(CostTable.linear(1e6, tokenNanos, 0), Pace.EVEN, HostTimes.NONE);
        SchedulerOptions.Builder options =
                SchedulerOptions.builder().maxBatchSize(8).drafter(drafter);
        OfferedLoad load = OfferedLoad.of(
                new RandomPrompts(20, 200, 0, 0, 1000, 3).requests(160), new Arrivals(Double.POSITIVE_INFINITY, 1, 3));
        return SimulatedRuns.server(times, options, 8, 0).run(load);
    }

    private static Drafter accepted(String rates) {
        return new SyntheticDrafter(rates).withNextToken((last, length) -> SimRunner.nextToken(last, length, 1000));
    }

    @Test
    void drafts_are_accepted_at_the_rates_of_a_synthetic_drafter() {
        LoadResult run = speculating(1000, accepted("0.9/0.8"));
        Speculation seen = Speculation.of(run).orElseThrow();
        double first = (double) seen.acceptedTokensPerPos().getFirst() / seen.drafts();
        double second = (double) seen.acceptedTokensPerPos().get(1)
                / seen.acceptedTokensPerPos().getFirst();
        assertThat(first).isBetween(0.88, 0.92);
        assertThat(second).isBetween(0.77, 0.83);
        assertThat(run.seconds()).isLessThan(speculating(1000, Drafter.none()).seconds() / 2);
    }

    /** A step of 2 tokens per row takes 1.8 times as long as one of 1, so drafts never pay. */
    @Test
    void drafts_that_cost_more_than_they_gain_are_seldom_made() {
        LoadResult run = speculating(1e6, accepted("0.5/0.5/0.5/0.5"));
        assertThat(run.seconds())
                .isLessThan(1.05 * speculating(1e6, Drafter.none()).seconds());
        assertThat(Speculation.of(run).orElseThrow().draftTokens()).isLessThan(run.outputTokens() / 10);
    }

    /** Returns two requests of two turns each, with ten tokens a turn and 20 ms between the turns. */
    private static OfferedLoad conversations(OfferedLoad.Pacing pacing) {
        return new OfferedLoad(
                IntStream.range(0, 2)
                        .mapToObj(i -> OfferedRequest.of(i * 1_000_000L, ids(i, 40), 10)
                                .withNext(new OfferedRequest.Turn(20_000_000, OfferedRequest.of(0, ids(7 + i, 5), 10))))
                        .toList(),
                pacing);
    }

    private static Prompt ids(int first, int length) {
        return new Prompt.Tokens(IntStream.range(first, first + length).toArray());
    }

    @ParameterizedTest
    @EnumSource(
            value = OfferedLoad.Pacing.class,
            names = {"BURST", "SCHEDULED"})
    void later_turn_is_due_a_think_time_after_the_answer_and_contains_it(OfferedLoad.Pacing pacing) {
        LoadResult run = SimulatedRuns.server(
                        exact(MILLISECOND_STEPS), SchedulerOptions.builder().maxBatchSize(8), Integer.MAX_VALUE, 0)
                .run(conversations(pacing));
        assertThat(run.completed()).hasSize(4);
        for (int i = 0; i < 2; i++) {
            CallResult first = run.calls().get(i);
            CallResult second = run.calls().get(2 + i);
            assertThat(second.times().dueNanos()).isEqualTo(first.times().endNanos() + 20_000_000);
            assertThat(second.lagNanos()).isZero();
            assertThat(second.promptTokens()).isEqualTo(40 + 10 + 5);
            // Whole blocks of the previous prompt and answer, whose last token has no keys yet.
            assertThat(second.cachedTokens()).isEqualTo(48);
        }
    }

    @Test
    void limit_on_requests_in_flight_holds_later_turns_too() {
        LoadResult run = SimulatedRuns.server(
                        exact(MILLISECOND_STEPS), SchedulerOptions.builder().maxBatchSize(8), 1, 0)
                .run(conversations(OfferedLoad.Pacing.SCHEDULED));
        List<CallResult> bySend = run.completed().stream()
                .sorted(Comparator.comparingLong(call -> call.times().sentNanos()))
                .toList();
        assertThat(bySend).hasSize(4);
        for (int i = 1; i < 4; i++) {
            assertThat(bySend.get(i).times().sentNanos())
                    .isGreaterThanOrEqualTo(bySend.get(i - 1).times().endNanos());
        }
    }

    @Test
    void turns_after_a_failed_one_fail() {
        OfferedRequest third = OfferedRequest.of(0, ids(3, 5), 10);
        OfferedRequest second =
                OfferedRequest.of(0, ids(2, 1 << 20), 10).withNext(new OfferedRequest.Turn(1000, third));
        OfferedRequest first = OfferedRequest.of(0, ids(1, 5), 10).withNext(new OfferedRequest.Turn(1000, second));
        LoadResult run = SimulatedRuns.server(exact(MILLISECOND_STEPS), 0)
                .run(new OfferedLoad(List.of(first), OfferedLoad.Pacing.BURST));
        assertThat(run.completed()).hasSize(1);
        assertThat(run.calls().getLast().error()).hasValue("the previous turn of its conversation failed");
    }
}
