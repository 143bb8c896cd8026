package io.roseinfer.scheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.metrics.WritableStep;
import io.roseinfer.sampling.LogitConstraints;
import io.roseinfer.sampling.MaskSource;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.Drafter;
import io.roseinfer.scheduler.policy.PolicyRequest;
import io.roseinfer.scheduler.policy.QueueView;
import io.roseinfer.scheduler.policy.StepBuilder;
import io.roseinfer.scheduler.policy.StepPolicy;
import io.roseinfer.scheduler.policy.WaitingRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Steps that a policy fills row by row. */
class StepPlannerTest {
    private static final int BLOCK = 4;

    private final KvBlockPool pool = new KvBlockPool(100, BLOCK, false);
    private Consumer<StepBuilder> policy = StepPlannerTest::nothing;
    private long nextId;

    private Scheduler scheduler(SchedulerOptions.Builder options, int maxStepTokens, int maxStepSamples) {
        SchedulerOptions all =
                options.prefixCache(false).step(step -> policy.accept(step)).build();
        return new Scheduler(
                all,
                pool,
                maxStepTokens,
                maxStepSamples,
                Drafter.MAX_ROW_TOKENS,
                100,
                new WaitingQueue(1, all.policies()),
                0,
                admitted -> {});
    }

    private Scheduler scheduler(SchedulerOptions.Builder options) {
        return scheduler(options, 1000, 1000);
    }

    private Sequence sequence(int promptLength, int maxNewTokens) {
        return new Sequence(
                nextId++,
                this,
                new int[promptLength],
                promptLength + maxNewTokens,
                SamplingParams.greedy(),
                0,
                new int[0]);
    }

    private Sequence add(Scheduler scheduler, int promptLength, int maxNewTokens) {
        Sequence sequence = sequence(promptLength, maxNewTokens);
        scheduler.add(sequence);
        return sequence;
    }

    private StepPlan plan(Scheduler scheduler, Consumer<StepBuilder> filled) {
        policy = filled;
        return scheduler.plan(scheduler.newPlan());
    }

    /** Plans and applies one step with token 1 for every sample, and describes it as {@code id:count …}. */
    private String step(Scheduler scheduler, Consumer<StepBuilder> filled) {
        StepPlan plan = plan(scheduler, filled);
        if (!plan.isEmpty()) {
            scheduler.apply(plan, sample -> 1);
        }
        return rows(plan);
    }

    private static String rows(StepPlan plan) {
        List<String> rows = new ArrayList<>();
        for (int row = 0; row < plan.rows(); row++) {
            rows.add(plan.sequence(row).id() + ":" + plan.count(row));
        }
        return String.join(" ", rows);
    }

    private static void nothing(StepBuilder step) {}

    private static void prefill(StepBuilder step) {
        step.prefill(100);
    }

    private static void decodeEach(StepBuilder step) {
        for (int i = 0; i < step.decoding(); i++) {
            step.decode(step.decoding(i));
        }
    }

    @Test
    void rows_that_a_policy_adds_one_by_one_are_at_most_the_decode_batch_in_round_robin_order() {
        Scheduler scheduler =
                scheduler(SchedulerOptions.builder().maxBatchSize(2).prefillMaxBatchSize(3));
        for (int i = 0; i < 3; i++) {
            add(scheduler, 1, 10);
        }
        step(scheduler, StepPlannerTest::prefill);
        assertThat(step(scheduler, StepPlannerTest::decodeEach)).isEqualTo("0:1 1:1");
        assertThat(step(scheduler, StepPlannerTest::decodeEach)).isEqualTo("2:1 0:1");
    }

    @Test
    void prompts_that_a_policy_continues_one_by_one_are_at_most_the_prefill_batch() {
        Scheduler scheduler = scheduler(
                SchedulerOptions.builder().chunkedPrefill(true).maxBatchSize(8).prefillMaxBatchSize(2));
        for (int i = 0; i < 3; i++) {
            add(scheduler, 9, 1);
            step(scheduler, step -> step.admit(1));
        }
        assertThat(step(scheduler, step -> {
                    for (int i = 0; i < step.prefilling(); i++) {
                        step.prefill(step.prefilling(i), 2);
                    }
                }))
                .isEqualTo("0:2 1:2");
    }

    @Test
    void decode_rows_are_at_most_the_tokens_of_a_step() {
        Scheduler scheduler =
                scheduler(SchedulerOptions.builder().chunkedPrefill(true).maxBatchSize(8), 2, 100);
        for (int i = 0; i < 3; i++) {
            add(scheduler, 1, 10);
        }
        step(scheduler, StepPlannerTest::prefill);
        step(scheduler, StepPlannerTest::prefill);
        assertThat(step(scheduler, StepBuilder::decode)).isEqualTo("0:1 1:1");
        assertThat(step(scheduler, StepPlannerTest::decodeEach)).isEqualTo("2:1 0:1");
    }

    @Test
    void prompt_with_a_row_by_a_policy_gets_no_second_one_from_the_budget() {
        Scheduler scheduler = scheduler(SchedulerOptions.builder().chunkedPrefill(true));
        add(scheduler, 9, 1);
        step(scheduler, step -> step.admit(1));
        assertThat(step(scheduler, step -> {
                    step.prefill(step.prefilling(0), 2);
                    step.prefill(100);
                }))
                .isEqualTo("0:2");
    }

    @Test
    void unfinished_prompts_share_the_budget() {
        Scheduler scheduler = scheduler(SchedulerOptions.builder().chunkedPrefill(true));
        for (int i = 0; i < 3; i++) {
            add(scheduler, 4, 1);
            step(scheduler, step -> step.admit(1));
        }
        assertThat(step(scheduler, step -> step.prefill(5))).isEqualTo("0:3 1:2");
    }

    @Test
    void oversized_prompt_waits_for_a_step_that_has_room_for_it() {
        Scheduler scheduler = scheduler(SchedulerOptions.builder(), 10, 10);
        add(scheduler, 2, 8);
        add(scheduler, 2, 8);
        step(scheduler, StepPlannerTest::prefill);
        add(scheduler, 9, 1);
        Consumer<StepBuilder> both = step -> {
            step.decode();
            step.prefill(1);
        };
        assertThat(step(scheduler, both)).isEqualTo("0:1 1:1");
        assertThat(step(scheduler, step -> step.prefill(1))).isEqualTo("2:9");
    }

    @Test
    void policy_that_admits_none_may_prefill_afterwards() {
        Scheduler scheduler = scheduler(SchedulerOptions.builder().chunkedPrefill(true));
        add(scheduler, 4, 10);
        add(scheduler, 9, 1);
        step(scheduler, step -> step.admit(5));
        assertThat(step(scheduler, step -> {
                    step.decode();
                    step.admit(100);
                    step.prefill(100);
                }))
                .isEqualTo("0:1 1:8");
    }

    @Test
    void request_whose_last_token_is_being_sampled_gets_no_further_row() {
        Scheduler scheduler = scheduler(SchedulerOptions.builder());
        add(scheduler, 4, 1);
        assertThat(rows(plan(scheduler, StepPlannerTest::prefill))).isEqualTo("0:4");
        assertThat(plan(scheduler, StepBuilder::decode).isEmpty()).isTrue();
    }

    @Test
    void prompt_with_reports_takes_as_many_steps_as_its_samples() {
        Scheduler scheduler = scheduler(SchedulerOptions.builder().maxBatchSize(1), 100, 3);
        scheduler.add(sequence(7, 2).setPromptLogprobs(0));
        List<String> steps = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            StepPlan plan = plan(scheduler, i < 3 ? StepPlannerTest::prefill : StepBuilder::decode);
            steps.add(rows(plan) + ", " + plan.reports(0) + " of " + plan.samples());
            scheduler.apply(plan, sample -> 1);
        }
        assertThat(steps).containsExactly("0:3, 3 of 3", "0:3, 3 of 3", "0:1, 0 of 1", "0:1, 0 of 1");
    }

    /** The keys and values that came with it are lost by a preemption. */
    @Test
    void request_with_a_computed_prompt_computes_it_after_a_preemption() {
        Scheduler scheduler = scheduler(SchedulerOptions.builder());
        add(scheduler, 3, 10);
        step(scheduler, StepPlannerTest::prefill);
        scheduler.add(sequence(6, 10).setComputedPrompt(1));
        assertThat(step(scheduler, step -> {
                    step.admit(100);
                    step.decode();
                }))
                .isEqualTo("1:1 0:1");
        assertThat(step(scheduler, step -> step.preempt(step.decoding(0)))).isEmpty();
        assertThat(step(scheduler, StepPlannerTest::prefill)).isEqualTo("1:8");
    }

    @Test
    void request_with_a_computed_prompt_admitted_after_a_full_decode_batch_decodes_in_the_next_step() {
        Scheduler scheduler = scheduler(SchedulerOptions.builder().maxBatchSize(1));
        add(scheduler, 3, 10);
        step(scheduler, StepPlannerTest::prefill);
        scheduler.add(sequence(6, 10).setComputedPrompt(1));
        assertThat(step(scheduler, step -> {
                    step.decode();
                    step.admit(100);
                }))
                .isEqualTo("0:1");
        assertThat(scheduler.active()).isEqualTo(2);
        assertThat(step(scheduler, step -> step.decode(step.decoding(1)))).isEqualTo("1:1");
    }

    @Test
    void tokens_computed_before_a_preemption_are_recomputed_once() {
        Scheduler scheduler = scheduler(SchedulerOptions.builder().chunkedPrefill(true));
        add(scheduler, 1, 20);
        step(scheduler, StepPlannerTest::prefill);
        add(scheduler, 12, 20);
        step(scheduler, step -> step.prefill(5));
        step(scheduler, step -> step.prefill(4));
        step(scheduler, step -> step.preempt(step.prefilling(0)));
        List<Long> recomputed = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            long before = scheduler.total(Fact.RECOMPUTED_TOKENS);
            step(scheduler, i < 4 ? step -> step.prefill(3) : StepBuilder::decode);
            recomputed.add(scheduler.total(Fact.RECOMPUTED_TOKENS) - before);
        }
        assertThat(recomputed).containsExactly(3L, 3L, 3L, 0L, 0L);
    }

    /** Drafts a token that the device of these tests does not sample. */
    private record Wrong(int maxTokens) implements Drafter {
        @Override
        public Drafts newDrafts(PolicyRequest request) {
            return (tokens, max, into) -> {
                for (int i = 0; i < max; i++) {
                    into[i] = 2;
                }
                return max;
            };
        }
    }

    @Test
    void positions_of_rejected_drafts_are_not_recomputed_tokens() {
        Scheduler scheduler = scheduler(SchedulerOptions.builder().drafter(new Wrong(8)));
        add(scheduler, 4, 20);
        step(scheduler, StepPlannerTest::prefill);
        for (int i = 0; i < 3; i++) {
            step(scheduler, StepBuilder::decode);
        }
        assertThat(scheduler.total(Fact.DRAFT_TOKENS)).isPositive();
        assertThat(scheduler.total(Fact.RECOMPUTED_TOKENS)).isZero();
    }

    @Test
    void request_whose_drafts_up_to_its_maximum_are_rejected_continues() {
        Scheduler scheduler = scheduler(SchedulerOptions.builder().drafter(new Wrong(8)));
        Sequence sequence = add(scheduler, 4, 4);
        step(scheduler, StepPlannerTest::prefill);
        assertThat(step(scheduler, StepBuilder::decode)).isEqualTo("0:3");
        assertThat(sequence.length()).isEqualTo(6);
        step(scheduler, StepBuilder::decode);
        step(scheduler, StepBuilder::decode);
        assertThat(sequence.finishReason()).contains(FinishReason.LENGTH);
    }

    @Test
    void next_step_awaits_no_drafts_of_a_request_that_lacks_one_token() {
        Scheduler scheduler = scheduler(SchedulerOptions.builder().drafter(new Wrong(8)));
        add(scheduler, 4, 3);
        step(scheduler, StepPlannerTest::prefill);
        assertThat(scheduler.awaitsDrafts()).isTrue();
        step(scheduler, StepBuilder::decode);
        assertThat(scheduler.awaitsDrafts()).isFalse();
    }

    /** Its row draws nothing, so no draft of the row before counts again. */
    @Test
    void prompt_computed_again_after_a_preemption_accepts_no_drafts() {
        Scheduler scheduler =
                scheduler(SchedulerOptions.builder().chunkedPrefill(true).drafter(new Wrong(8)));
        add(scheduler, 1, 20);
        add(scheduler, 4, 20);
        step(scheduler, StepPlannerTest::prefill);
        step(scheduler, step -> step.decode(step.decoding(1), 8));
        step(scheduler, step -> step.preempt(step.decoding(0).id() == 1 ? step.decoding(0) : step.decoding(1)));
        assertThat(step(scheduler, step -> step.prefill(2))).isEqualTo("1:2");
        assertThat(scheduler.total(Fact.ACCEPTED_TOKENS)).isZero();
    }

    /** Ranks all requests alike, and holds them back if {@code holds}. */
    private record Alike(long rank, boolean holds) implements AdmissionPolicy {
        @Override
        public int lookahead() {
            return 64;
        }

        @Override
        public long rank(WaitingRequest request, QueueView queue) {
            return rank;
        }

        @Override
        public boolean holds(WaitingRequest request, QueueView queue) {
            return holds;
        }
    }

    @Test
    void request_at_the_skip_limit_is_admitted_before_one_of_the_lowest_rank() {
        Scheduler scheduler = scheduler(
                SchedulerOptions.builder().prefillMaxBatchSize(1).admission(new Alike(Long.MIN_VALUE, false)));
        add(scheduler, 4, 1);
        add(scheduler, 4, 1).timesPassedOver = AdmissionPolicy.MAX_PASSES;
        assertThat(step(scheduler, StepPlannerTest::prefill)).isEqualTo("1:4");
    }

    @Test
    void request_at_the_skip_limit_is_not_held() {
        Scheduler scheduler = scheduler(SchedulerOptions.builder().admission(new Alike(0, true)));
        add(scheduler, 4, 9);
        step(scheduler, StepPlannerTest::prefill);
        Sequence held = add(scheduler, 4, 1);
        assertThat(step(scheduler, StepPlannerTest::prefill)).isEmpty();
        held.timesPassedOver = AdmissionPolicy.MAX_PASSES;
        assertThat(step(scheduler, StepPlannerTest::prefill)).isEqualTo("1:4");
    }

    @Test
    void request_admitted_with_a_later_one_is_not_passed_over() {
        Scheduler scheduler = scheduler(SchedulerOptions.builder());
        Sequence first = add(scheduler, 4, 1);
        add(scheduler, 4, 1);
        assertThat(step(scheduler, StepPlannerTest::prefill)).isEqualTo("0:4 1:4");
        assertThat(first.timesPassedOver).isZero();
    }

    @Test
    void iteration_considers_as_many_preempted_requests_as_the_policy_looks_at() {
        Scheduler scheduler =
                scheduler(SchedulerOptions.builder().prefillMaxBatchSize(1).maxPasses(SchedulerOptions.UNLIMITED));
        for (int i = 0; i < 3; i++) {
            add(scheduler, 4, 9);
            step(scheduler, StepPlannerTest::prefill);
        }
        step(scheduler, step -> {
            for (int i = 0; i < step.decoding(); i++) {
                step.preempt(step.decoding(i));
            }
        });
        assertThat(scheduler.restarting()).isEqualTo(3);
        assertThat(plan(scheduler, StepPlannerTest::prefill).rows()).isOne();
    }

    /** The device has started the second step when it had ended the first. */
    @Test
    void step_planned_during_another_takes_the_time_after_it() {
        Scheduler scheduler = scheduler(SchedulerOptions.builder());
        for (int start : new int[] {100, 103}) {
            WritableStep step = new WritableStep();
            step.set(Fact.START_NANOS, start);
            step.set(Fact.DEVICE_NANOS, 10);
            scheduler.learn(scheduler.newPlan(), step);
        }
        List<Long> seen = new ArrayList<>();
        step(scheduler, step -> seen.add(step.queue().lastStepNanos()));
        assertThat(seen).containsExactly(3L);
    }

    @Test
    void running_request_shows_when_the_step_of_its_last_token_ended() {
        Scheduler scheduler =
                scheduler(SchedulerOptions.builder().chunkedPrefill(true).prefillMaxTokens(6));
        add(scheduler, 4, 20);
        add(scheduler, 4, 20);
        List<List<Long>> seen = new ArrayList<>();
        Consumer<StepBuilder> recording = step -> {
            List<Long> nanos = new ArrayList<>();
            for (int i = 0; i < step.decoding(); i++) {
                nanos.add(step.decoding(i).lastTokenNanos());
            }
            for (int i = 0; i < step.prefilling(); i++) {
                nanos.add(step.prefilling(i).lastTokenNanos());
            }
            seen.add(nanos);
            StepPolicy.mixed().plan(step);
        };
        for (int start : new int[] {100, 200, 300}) {
            WritableStep times = new WritableStep();
            times.set(Fact.START_NANOS, start);
            StepPlan plan = plan(scheduler, recording);
            scheduler.apply(plan, sample -> 1);
            scheduler.learn(plan, times);
        }
        assertThat(seen).containsExactly(List.of(), List.of(100L, 0L), List.of(200L, 200L));
    }

    @Test
    void requests_that_an_iteration_may_not_admit_neither_begin_admission_nor_prevent_drafts() {
        Scheduler scheduler = scheduler(SchedulerOptions.builder().drafter(new Wrong(8)));
        add(scheduler, 4, 20);
        step(scheduler, StepPlannerTest::prefill);
        scheduler.waitingQueue().add(sequence(4, 20), WaitingQueue.ANY);
        scheduler.onAdmission(
                () -> {
                    throw new AssertionError("admission begins");
                },
                () -> {});
        policy = step -> {
            step.decode();
            step.prefill(100);
        };
        StepPlan plan = scheduler.plan(scheduler.newPlan(), 0, 0);
        assertThat(rows(plan)).isEqualTo("0:5");
    }

    @Test
    void empty_steps_are_counted_since_the_last_one_with_a_row() {
        Scheduler scheduler = scheduler(SchedulerOptions.builder());
        add(scheduler, 4, 20);
        step(scheduler, StepPlannerTest::prefill);
        for (int i = 1; i < 3 * Scheduler.MAX_EMPTY_PLANS; i++) {
            boolean isEmpty = i % Scheduler.MAX_EMPTY_PLANS > 0;
            assertThat(step(scheduler, isEmpty ? StepPlannerTest::nothing : StepBuilder::decode))
                    .isEqualTo(isEmpty ? "" : "0:1");
        }
    }

    @Test
    void steps_left_empty_while_others_may_admit_what_waits_are_not_the_policys() {
        Scheduler scheduler = scheduler(SchedulerOptions.builder());
        scheduler.waitingQueue().add(sequence(4, 20), WaitingQueue.ANY);
        for (int i = 0; i <= Scheduler.MAX_EMPTY_PLANS; i++) {
            assertThat(scheduler.plan(scheduler.newPlan(), 0, 0).isEmpty()).isTrue();
        }
    }

    /** A mask that depends on the tokens and is ready when the test says so. */
    private static final class Mask implements MaskSource {
        private boolean isReady;

        @Override
        public boolean needsTokens() {
            return true;
        }

        @Override
        public boolean isReady() {
            return isReady;
        }

        @Override
        public void append(int token) {
            isReady = false;
        }

        @Override
        public int likelyTokens(int max, int[] into) {
            into[0] = 2;
            return isReady ? 1 : 0;
        }

        @Override
        public void apply(int ahead, LogitConstraints.Target target) {}
    }

    private Sequence addMasked(Scheduler scheduler, Mask mask) {
        Sequence sequence = sequence(4, 20);
        sequence.setMasks(mask);
        scheduler.add(sequence);
        return sequence;
    }

    /** Computes a row of the sequence, whose draw is skipped. */
    private void skipDraw(Scheduler scheduler, Consumer<StepBuilder> filled, int row) {
        StepPlan plan = plan(scheduler, filled);
        assertThat(plan.samplesLater()).isTrue();
        scheduler.skipDraw(plan, row);
        scheduler.apply(plan, sample -> 1);
    }

    @Test
    void request_with_a_late_mask_is_left_out_until_it_is_ready_and_no_other_is() {
        Scheduler scheduler = scheduler(SchedulerOptions.builder());
        Mask mask = new Mask();
        addMasked(scheduler, mask);
        add(scheduler, 4, 20);
        skipDraw(scheduler, StepPlannerTest::prefill, 0);
        assertThat(step(scheduler, StepBuilder::decode)).isEqualTo("1:1");
        assertThat(step(scheduler, StepPlannerTest::decodeEach)).isEqualTo("1:1");
        mask.isReady = true;
        assertThat(step(scheduler, StepBuilder::decode)).isEqualTo("0:1 1:1");
        assertThat(scheduler.total(Fact.RECOMPUTED_TOKENS)).isZero();
        assertThat(plan(scheduler, StepBuilder::decode).rows()).isEqualTo(2);
    }

    @Test
    void skipped_draw_adds_no_token_and_its_request_draws_later_also_if_it_was_the_last() {
        Scheduler scheduler = scheduler(SchedulerOptions.builder());
        Mask mask = new Mask();
        Sequence sequence = sequence(4, 1);
        sequence.setMasks(mask);
        scheduler.add(sequence);
        skipDraw(scheduler, StepPlannerTest::prefill, 0);
        assertThat(sequence.length()).isEqualTo(4);
        mask.isReady = true;
        assertThat(step(scheduler, StepBuilder::decode)).isEqualTo("0:1");
        assertThat(sequence.finishReason()).contains(FinishReason.LENGTH);
    }

    @Test
    void steps_left_empty_for_a_late_mask_are_not_the_policys_but_those_after_it_are() {
        Scheduler scheduler = scheduler(SchedulerOptions.builder());
        Mask mask = new Mask();
        addMasked(scheduler, mask);
        skipDraw(scheduler, StepPlannerTest::prefill, 0);
        for (int i = 0; i <= Scheduler.MAX_EMPTY_PLANS; i++) {
            assertThat(step(scheduler, StepBuilder::decode)).isEmpty();
        }
        mask.isReady = true;
        assertThatThrownBy(() -> {
                    for (int i = 0; i < Scheduler.MAX_EMPTY_PLANS; i++) {
                        step(scheduler, StepPlannerTest::nothing);
                    }
                })
                .isInstanceOf(EngineStopped.class)
                .hasMessageContaining("left 100 steps in a row empty");
    }

    @Test
    void preempted_request_with_a_late_mask_is_not_admitted_and_its_empty_steps_are_not_the_policys() {
        Scheduler scheduler = scheduler(SchedulerOptions.builder().maxPasses(SchedulerOptions.UNLIMITED));
        Mask mask = new Mask();
        addMasked(scheduler, mask);
        skipDraw(scheduler, StepPlannerTest::prefill, 0);
        assertThat(step(scheduler, step -> step.preempt(step.decoding(0)))).isEmpty();
        for (int i = 0; i <= Scheduler.MAX_EMPTY_PLANS; i++) {
            assertThat(step(scheduler, StepPlannerTest::prefill)).isEmpty();
        }
        mask.isReady = true;
        assertThat(step(scheduler, StepPlannerTest::prefill)).isEqualTo("0:4");
    }

    @Test
    void row_has_no_drafts_while_a_row_whose_draw_was_skipped_is_in_flight() {
        Scheduler scheduler = scheduler(SchedulerOptions.builder().drafter(new Wrong(8)));
        Mask mask = new Mask();
        addMasked(scheduler, mask);
        StepPlan prompt = plan(scheduler, StepPlannerTest::prefill);
        scheduler.skipDraw(prompt, 0);
        mask.isReady = true;
        assertThat(rows(plan(scheduler, StepBuilder::decode))).isEqualTo("0:1");
    }

    @Test
    void applied_empty_plan_is_not_counted_as_a_step_in_flight() {
        Scheduler scheduler = scheduler(SchedulerOptions.builder());
        scheduler.apply(plan(scheduler, StepPlannerTest::nothing), sample -> 1);
        add(scheduler, 4, 1);
        assertThatThrownBy(() -> {
                    for (int i = 0; i < Scheduler.MAX_EMPTY_PLANS; i++) {
                        step(scheduler, StepPlannerTest::nothing);
                    }
                })
                .isInstanceOf(EngineStopped.class)
                .hasMessageContaining("left 100 steps in a row empty");
    }

    @Test
    void reports_of_a_row_whose_draw_was_skipped_are_applied() {
        Scheduler scheduler = scheduler(SchedulerOptions.builder());
        Sequence sequence = addMasked(scheduler, new Mask());
        sequence.setPromptLogprobs(0);
        StepPlan plan = plan(scheduler, StepPlannerTest::prefill);
        scheduler.skipDraw(plan, 0);
        scheduler.apply(plan, sample -> 1);
        assertThat(plan.hasReports(0)).isTrue();
        assertThat(plan.sampledTokens(0)).isZero();
    }

    @Test
    void prompt_that_exceeds_the_budget_and_is_not_split_is_admitted_next_to_decode_rows() {
        Scheduler scheduler = scheduler(SchedulerOptions.builder().prefillMaxTokens(4));
        add(scheduler, 1, 10);
        step(scheduler, StepPlannerTest::prefill);
        add(scheduler, 6, 10);
        assertThat(step(scheduler, step -> {
                    step.decode();
                    step.prefill(4);
                }))
                .isEqualTo("0:1 1:6");
    }
}
