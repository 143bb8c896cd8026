package io.roseinfer.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.metrics.WritableStep;
import io.roseinfer.sampling.LogitConstraints;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.sampling.TokenConstraints;
import java.util.List;
import org.junit.jupiter.api.Test;

class StepPlanTest {
    private final KvBlockPool pool = new KvBlockPool(100, 4, true);
    private final StepPlan plan = new StepPlan(8, 100, 100, SchedulerOptions.UNLIMITED);
    private long step;

    /** Returns a sequence with blocks for all of its tokens. */
    private Sequence sequence(int promptLength, int maxNewTokens) {
        Sequence sequence = new Sequence(
                0, this, new int[promptLength], promptLength + maxNewTokens, SamplingParams.greedy(), 0, new int[0]);
        sequence.table().setPool(pool);
        assertThat(sequence.table().grow(sequence.maxLength())).isTrue();
        return sequence;
    }

    /** Fills the plan with one row, whose draws then have tokens. */
    private void fill(Sequence sequence, int count) {
        plan.clear(step++);
        plan.addRow(sequence, count, sequence.computed == 0);
        for (int draw = plan.reports(0); draw < plan.samples(0); draw++) {
            sequence.resolve(1);
        }
    }

    private long fact(Fact fact) {
        WritableStep totals = new WritableStep();
        plan.addTo(totals);
        return totals.get(fact);
    }

    @Test
    void token_attends_to_itself_and_all_before_it_and_only_one_after_the_prompt_is_a_decode_row() {
        Sequence sequence = sequence(5, 10);
        fill(sequence, 1);
        assertThat(fact(Fact.DECODE_ROWS)).isZero();
        assertThat(fact(Fact.PREFILL_TOKENS)).isOne();
        fill(sequence, 4);
        assertThat(fact(Fact.PREFILL_TOKENS)).isEqualTo(4);
        assertThat(fact(Fact.ATTENDED)).isEqualTo(2 + 3 + 4 + 5);
        assertThat(fact(Fact.DECODE_ATTENDED)).isZero();
        assertThat(plan.longest()).isZero();
        fill(sequence, 1);
        assertThat(fact(Fact.DECODE_ROWS)).isOne();
        assertThat(fact(Fact.PREFILL_TOKENS)).isZero();
        assertThat(fact(Fact.DECODE_ATTENDED)).isEqualTo(6);
        assertThat(plan.longest()).isEqualTo(6);
        fill(sequence(5, 10), 5);
        assertThat(plan.longest()).isZero();
    }

    @Test
    void cached_tokens_are_those_of_the_first_admission() {
        Sequence sequence = sequence(9, 10);
        sequence.computed = 4;
        plan.clear(0);
        plan.addRow(sequence, 5, true);
        assertThat(fact(Fact.CACHED_TOKENS)).isEqualTo(4);
        sequence.preemptions = 1;
        sequence.computed = 8;
        plan.clear(1);
        plan.addRow(sequence, 1, true);
        assertThat(fact(Fact.CACHED_TOKENS)).isZero();
        assertThat(sequence.cachedTokens()).isEqualTo(4);
    }

    @Test
    void reports_of_a_row_are_not_among_its_sampled_tokens() {
        Sequence sequence = sequence(5, 10).setPromptLogprobs(0);
        fill(sequence, 2);
        assertThat(plan.hasReports(0)).isFalse();
        plan.setApplied(0, 2);
        assertThat(plan.hasReports(0)).isTrue();
        assertThat(plan.sampledTokens(0)).isZero();
        fill(sequence, 3);
        plan.setApplied(0, 3);
        assertThat(plan.sampledTokens(0)).isOne();
        plan.keepSampledTokens(0, 1);
        assertThat(plan.sampledTokens(0)).isOne();
        assertThat(plan.hasReports(0)).isTrue();
    }

    @Test
    void plan_filled_again_has_no_results_of_the_step_before() {
        Sequence sequence = sequence(5, 10);
        fill(sequence, 5);
        plan.skipDraw(0);
        plan.setFailedSample(0, 0);
        plan.addAccepted(2);
        fill(sequence, 1);
        assertThat(plan.skipsDraw(0)).isFalse();
        assertThat(plan.failedSample(0)).isEqualTo(StepPlan.NO_SAMPLE);
        plan.addAccepted(1);
        WritableStep record = new WritableStep();
        plan.recordAccepted(record);
        assertThat(record.get(Fact.ACCEPTED_TOKENS)).isOne();
        assertThat(record.acceptedAt(0)).isOne();
        assertThat(record.acceptedAt(1)).isZero();
    }

    @Test
    void record_filled_again_has_no_accepted_drafts_of_the_step_before() {
        WritableStep record = new WritableStep();
        plan.addAccepted(2);
        plan.recordAccepted(record);
        plan.clear(1);
        plan.recordAccepted(record);
        assertThat(record.acceptedAt(0)).isZero();
    }

    /** Whether a bad word of two tokens is forbidden depends on the token before. */
    @Test
    void draws_wait_for_tokens_only_in_a_step_in_which_one_needs_them() {
        Sequence constrained = sequence(5, 10)
                .setConstraints(
                        new LogitConstraints(TokenConstraints.NONE, 100, new int[0], List.of(new int[] {7, 8})));
        plan.clear(0);
        plan.addRow(constrained, 5, true);
        assertThat(plan.samplesLater()).isFalse();
        plan.clear(1);
        plan.addRow(constrained, 1, false);
        assertThat(plan.samplesLater()).isTrue();
        plan.clear(2);
        plan.addRow(sequence(5, 10), 5, true);
        assertThat(plan.samplesLater()).isFalse();
    }
}
