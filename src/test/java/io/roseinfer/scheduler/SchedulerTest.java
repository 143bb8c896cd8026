package io.roseinfer.scheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.kv.BlockTable;
import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.kv.KvProbe;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.WritableStep;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.sampling.TokenHistory;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.Drafter;
import io.roseinfer.scheduler.policy.PolicyRequest;
import io.roseinfer.scheduler.policy.QueueView;
import io.roseinfer.scheduler.policy.RequestEvents;
import io.roseinfer.scheduler.policy.RunningRequest;
import io.roseinfer.scheduler.policy.WaitingRequest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SchedulerTest {
    private static final int END = 9;
    private static final int VOCABULARY = 100;

    private final List<String> log = new ArrayList<>();
    private long nextId;

    private static KvBlockPool pool(int blocks) {
        return new KvBlockPool(blocks, 4, false);
    }

    private static Scheduler scheduler(SchedulerOptions.Builder options, KvBlockPool pool) {
        return new Scheduler(options.prefixCache(false).build(), pool, 1000);
    }

    private Sequence sequence(int promptLength, int maxNewTokens) {
        return new Sequence(
                nextId++,
                this,
                new int[promptLength],
                promptLength + maxNewTokens,
                SamplingParams.greedy(),
                0,
                new int[] {END});
    }

    private Sequence add(Scheduler scheduler, int promptLength, int maxNewTokens) {
        Sequence sequence = sequence(promptLength, maxNewTokens);
        scheduler.add(sequence);
        return sequence;
    }

    /** Plans and applies one step with token 1 for every sample, and describes it as {@code id:count …}. */
    private String step(Scheduler scheduler) {
        StepPlan plan = scheduler.plan(scheduler.newPlan());
        if (plan.isEmpty()) {
            return "";
        }
        List<String> rows = new ArrayList<>();
        for (int row = 0; row < plan.rows(); row++) {
            rows.add(plan.sequence(row).id() + ":" + plan.count(row));
        }
        scheduler.apply(plan, sample -> 1);
        scheduler.check();
        log.add(String.join(" ", rows));
        return log.getLast();
    }

    private static List<Long> finishedIds(Scheduler scheduler) {
        List<Long> ids = new ArrayList<>();
        scheduler.pollFinished().ifPresent(s -> ids.add(s.id()));
        while (!ids.isEmpty()) {
            var next = scheduler.pollFinished();
            if (next.isEmpty()) {
                break;
            }
            ids.add(next.get().id());
        }
        return ids;
    }

    @Test
    void requests_admitted_in_one_iteration_share_a_prefill_step() {
        Scheduler scheduler =
                scheduler(SchedulerOptions.builder().maxBatchSize(2).prefillMaxBatchSize(3), pool(50));
        add(scheduler, 5, 2);
        add(scheduler, 3, 2);
        add(scheduler, 7, 2);
        add(scheduler, 1, 2);
        assertThat(step(scheduler)).isEqualTo("0:5 1:3 2:7");
    }

    @Test
    void iteration_is_a_prefill_step_and_a_decode_step() {
        Scheduler scheduler =
                scheduler(SchedulerOptions.builder().maxBatchSize(2).prefillMaxBatchSize(1), pool(50));
        add(scheduler, 5, 3);
        add(scheduler, 6, 3);
        for (int i = 0; i < 6; i++) {
            step(scheduler);
        }
        assertThat(log).containsExactly("0:5", "0:1", "1:6", "0:1 1:1", "1:1");
    }

    @Test
    void decode_rows_beyond_the_batch_run_round_robin() {
        Scheduler scheduler =
                scheduler(SchedulerOptions.builder().maxBatchSize(2).prefillMaxBatchSize(3), pool(50));
        for (int i = 0; i < 3; i++) {
            add(scheduler, 1, 3);
        }
        for (int i = 0; i < 4; i++) {
            step(scheduler);
        }
        assertThat(log).containsExactly("0:1 1:1 2:1", "0:1 1:1", "2:1 0:1", "1:1 2:1");
    }

    @Test
    void decode_batch_does_not_limit_admission() {
        Scheduler scheduler =
                scheduler(SchedulerOptions.builder().maxBatchSize(1).prefillMaxBatchSize(4), pool(50));
        for (int i = 0; i < 4; i++) {
            add(scheduler, 2, 2);
        }
        assertThat(step(scheduler)).isEqualTo("0:2 1:2 2:2 3:2");
    }

    @Test
    void token_budget_limits_admission_and_admits_one_oversized_prompt() {
        Scheduler scheduler =
                scheduler(SchedulerOptions.builder().maxBatchSize(8).prefillMaxTokens(10), pool(100));
        add(scheduler, 6, 1);
        add(scheduler, 4, 1);
        add(scheduler, 1, 1);
        add(scheduler, 25, 1);
        add(scheduler, 1, 1);
        for (int i = 0; i < 4; i++) {
            step(scheduler);
        }
        assertThat(log).containsExactly("0:6 1:4", "2:1", "3:25", "4:1");
    }

    @Test
    void pack_admits_short_prompts_before_a_long_one() {
        Scheduler scheduler = scheduler(
                SchedulerOptions.builder().maxBatchSize(8).prefillMaxTokens(10).admission(AdmissionPolicy.pack(4, 0)),
                pool(100));
        add(scheduler, 9, 1);
        add(scheduler, 3, 1);
        add(scheduler, 4, 1);
        assertThat(step(scheduler)).isEqualTo("1:3 2:4");
        assertThat(step(scheduler)).isEqualTo("0:9");
    }

    @Test
    void pack_is_fifo_every_nth_iteration() {
        Scheduler scheduler = scheduler(
                SchedulerOptions.builder().maxBatchSize(8).prefillMaxTokens(10).admission(AdmissionPolicy.pack(4, 2)),
                pool(100));
        add(scheduler, 9, 1);
        add(scheduler, 8, 1);
        add(scheduler, 4, 1);
        add(scheduler, 5, 1);
        add(scheduler, 6, 1);
        assertThat(step(scheduler)).isEqualTo("2:4 3:5");
        assertThat(step(scheduler)).isEqualTo("0:9");
    }

    @Test
    void pack_admits_a_long_prompt_eventually() {
        Scheduler scheduler = scheduler(
                SchedulerOptions.builder().maxBatchSize(8).prefillMaxTokens(10).admission(AdmissionPolicy.pack(4, 0)),
                pool(100));
        Sequence longPrompt = add(scheduler, 100, 1);
        int iterations = 0;
        while (longPrompt.isWaiting()) {
            add(scheduler, 5, 1);
            add(scheduler, 5, 1);
            step(scheduler);
            assertThat(iterations++).isLessThan(20);
        }
        assertThat(log.getLast()).isEqualTo("0:100");
    }

    @Test
    void requests_with_a_common_prefix_wait_until_one_has_computed_it() {
        KvBlockPool pool = new KvBlockPool(50, 4, true);
        Scheduler scheduler =
                new Scheduler(SchedulerOptions.builder().maxBatchSize(8).build(), pool, 1000);
        Sequence first = add(scheduler, 10, 3);
        Sequence second = add(scheduler, 11, 3);
        Sequence unrelated =
                new Sequence(nextId++, this, new int[] {5, 5, 5, 5, 5, 5}, 9, SamplingParams.greedy(), 0, new int[0]);
        scheduler.add(unrelated);
        assertThat(step(scheduler)).isEqualTo("0:10 2:6");
        step(scheduler);
        assertThat(step(scheduler)).isEqualTo("1:3");
        assertThat(first.cachedTokens()).isZero();
        assertThat(second.cachedTokens()).isEqualTo(8);
        assertThat(second.table().block(1)).isEqualTo(first.table().block(1));
    }

    /** The last token of a prompt is always computed, so its block is not reused. */
    @ParameterizedTest
    @CsvSource({"4, 8, 0:4", "3, 8, 0:3 1:8", "8, 4, 0:8 1:4", "8, 5, 0:8"})
    void request_waits_for_a_common_block_that_is_computed_whole_and_that_it_can_reuse(
            int first, int second, String rows) {
        Scheduler scheduler = new Scheduler(SchedulerOptions.defaults(), new KvBlockPool(50, 4, true), 1000);
        add(scheduler, first, 3);
        add(scheduler, second, 3);
        assertThat(step(scheduler)).isEqualTo(rows);
    }

    @Test
    void max_active_requests_limits_the_requests_that_hold_blocks() {
        Scheduler scheduler =
                scheduler(SchedulerOptions.builder().maxBatchSize(8).maxActiveRequests(2), pool(100));
        for (int i = 0; i < 3; i++) {
            add(scheduler, 2, 2);
        }
        step(scheduler);
        assertThat(scheduler.active()).isEqualTo(2);
        step(scheduler);
        assertThat(step(scheduler)).isEqualTo("2:2");
    }

    @Test
    void decode_first_decodes_before_it_prefills_new_requests() {
        for (boolean decodeFirst : new boolean[] {false, true}) {
            Scheduler scheduler =
                    scheduler(SchedulerOptions.builder().maxBatchSize(2).decodeFirst(decodeFirst), pool(50));
            Sequence first = add(scheduler, 1, 20);
            step(scheduler);
            step(scheduler);
            add(scheduler, 5, 2);
            String next = step(scheduler);
            assertThat(next).isEqualTo(decodeFirst ? first.id() + ":1" : (first.id() + 1) + ":5");
        }
    }

    @Test
    void chunked_prefill_shares_the_budget_with_decode() {
        Scheduler scheduler = scheduler(
                SchedulerOptions.builder().maxBatchSize(4).prefillMaxTokens(6).chunkedPrefill(true), pool(50));
        add(scheduler, 2, 4);
        step(scheduler);
        add(scheduler, 12, 2);
        for (int i = 0; i < 3; i++) {
            step(scheduler);
        }
        assertThat(log).containsExactly("0:2", "0:1 1:5", "0:1 1:5", "0:1 1:2");
    }

    @Test
    void finished_sequences_are_polled_once_in_order_and_release_all_blocks() {
        Scheduler scheduler = scheduler(SchedulerOptions.builder().maxBatchSize(4), pool(50));
        add(scheduler, 2, 1);
        add(scheduler, 2, 2);
        step(scheduler);
        assertThat(finishedIds(scheduler)).containsExactly(0L);
        step(scheduler);
        assertThat(finishedIds(scheduler)).containsExactly(1L);
        assertThat(finishedIds(scheduler)).isEmpty();
        assertThat(scheduler.pool().held()).isZero();
    }

    @Test
    void end_of_text_is_the_last_token_of_a_sequence() {
        Scheduler scheduler = scheduler(SchedulerOptions.builder(), pool(50));
        Sequence sequence = add(scheduler, 2, 10);
        StepPlan plan = scheduler.plan(scheduler.newPlan());
        scheduler.apply(plan, sample -> END);
        assertThat(sequence.finishReason()).contains(FinishReason.STOP);
        assertThat(sequence.length()).isEqualTo(3);
        assertThat(plan.sampledToken(0, 0)).isEqualTo(END);
    }

    @Test
    void unusable_logits_fail_only_their_row() {
        Scheduler scheduler = scheduler(SchedulerOptions.builder(), pool(50));
        Sequence bad = add(scheduler, 2, 10);
        Sequence good = add(scheduler, 2, 10);
        StepPlan plan = scheduler.plan(scheduler.newPlan());
        scheduler.apply(plan, new Scheduler.SampledTokens() {
            @Override
            public int token(int sample) {
                return 5;
            }

            @Override
            public boolean isUsable(int sample) {
                return sample != 0;
            }
        });
        assertThat(plan.sampledTokens(0)).isZero();
        assertThat(plan.sampledTokens(1)).isOne();
        assertThat(bad.finishReason()).contains(FinishReason.ERROR);
        assertThat(good.finishReason()).isEmpty();
        assertThat(good.token(2)).isEqualTo(5);
    }

    @Test
    void row_with_an_unusable_sample_publishes_no_block() {
        KvBlockPool pool = new KvBlockPool(50, 4, true);
        Scheduler scheduler = new Scheduler(SchedulerOptions.defaults(), pool, 1000);
        add(scheduler, 9, 5);
        scheduler.apply(scheduler.plan(scheduler.newPlan()), new UsableUntil(0));
        assertThat(new BlockTable(pool, 9).reusable(new int[9], 9)).isZero();
        scheduler.check();
    }

    @Test
    void prompt_without_new_tokens_ends_when_all_of_it_is_computed() {
        Scheduler scheduler =
                scheduler(SchedulerOptions.builder().chunkedPrefill(true).prefillMaxTokens(4), pool(50));
        Sequence sequence = sequence(9, 0).setPromptLogprobs(0);
        scheduler.add(sequence);
        step(scheduler);
        assertThat(sequence.finishReason()).isEmpty();
        step(scheduler);
        assertThat(log).containsExactly("0:4", "0:4");
        assertThat(sequence.finishReason()).contains(FinishReason.LENGTH);
    }

    @Test
    void record_of_a_step_has_its_own_counts() {
        Scheduler scheduler = scheduler(SchedulerOptions.builder(), pool(50));
        add(scheduler, 5, 3);
        WritableStep record = new WritableStep();
        for (int tokens : new int[] {5, 1}) {
            StepPlan plan = scheduler.plan(scheduler.newPlan());
            scheduler.record(plan, record);
            scheduler.apply(plan, sample -> 1);
            assertThat(record.get(StepRecord.Fact.TOKENS)).isEqualTo(tokens);
        }
        assertThat(scheduler.total(StepRecord.Fact.TOKENS)).isEqualTo(6);
    }

    @Test
    void blocks_of_a_sequence_ended_in_flight_are_released_when_the_step_is_applied() {
        Scheduler scheduler = scheduler(SchedulerOptions.builder(), pool(50));
        Sequence sequence = add(scheduler, 6, 10);
        StepPlan plan = scheduler.plan(scheduler.newPlan());
        scheduler.end(sequence, FinishReason.CANCELLED);
        assertThat(scheduler.pool().held()).isEqualTo(2);
        scheduler.apply(plan, sample -> 1);
        assertThat(scheduler.pool().held()).isZero();
        assertThat(plan.sampledTokens(0)).isZero();
        scheduler.end(sequence, FinishReason.ERROR);
        assertThat(sequence.finishReason()).contains(FinishReason.CANCELLED);
    }

    @Test
    void exhausted_pool_preempts_the_youngest_and_the_oldest_continues() {
        Scheduler scheduler = scheduler(SchedulerOptions.builder().maxBatchSize(4), pool(5));
        Sequence oldest = add(scheduler, 4, 12);
        Sequence youngest = add(scheduler, 4, 12);
        while (scheduler.hasWork()) {
            step(scheduler);
        }
        assertThat(oldest.preemptions()).isZero();
        assertThat(youngest.preemptions()).isPositive();
        assertThat(oldest.length()).isEqualTo(16);
        assertThat(youngest.length()).isEqualTo(16);
        assertThat(finishedIds(scheduler)).containsExactly(0L, 1L);
        assertThat(scheduler.pool().held()).isZero();
    }

    @Test
    void preempted_sequence_recomputes_all_known_tokens_in_one_row() {
        Scheduler scheduler = scheduler(SchedulerOptions.builder().maxBatchSize(4), pool(5));
        add(scheduler, 4, 12);
        Sequence youngest = add(scheduler, 4, 12);
        while (youngest.preemptions() == 0) {
            step(scheduler);
        }
        int known = youngest.length();
        while (!step(scheduler).contains("1:")) {
            assertThat(scheduler.hasWork()).isTrue();
        }
        assertThat(log.getLast()).isEqualTo("1:" + known);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void every_sequence_gets_all_tokens_with_steps_in_flight(int maxInFlight) {
        KvBlockPool pool = pool(40);
        Scheduler scheduler = new Scheduler(
                SchedulerOptions.builder().maxBatchSize(3).prefixCache(false).build(), pool, 1000);
        List<Sequence> sequences = IntStream.range(0, 7)
                .mapToObj(i -> add(scheduler, 1 + i, 5 + i % 3))
                .toList();
        List<StepPlan> inFlight = new ArrayList<>();
        int guard = 0;
        while (scheduler.hasWork() || !inFlight.isEmpty()) {
            while (inFlight.size() < maxInFlight) {
                StepPlan plan = scheduler.plan(scheduler.newPlan());
                if (plan.isEmpty()) {
                    break;
                }
                inFlight.add(plan);
            }
            scheduler.apply(inFlight.removeFirst(), sample -> 1);
            assertThat(guard++).isLessThan(1000);
        }
        for (Sequence sequence : sequences) {
            assertThat(sequence.length()).isEqualTo(sequence.maxLength());
        }
        assertThat(pool.held()).isZero();
    }

    /**
     * Random arrivals, ends, depths and pools: the reference counts match whenever nothing is in flight, and every
     * request ends.
     */
    @ParameterizedTest
    @ValueSource(longs = {11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
    void random_load_releases_every_block(long seed) {
        Random random = new Random(seed);
        KvBlockPool pool = new KvBlockPool(12 + random.nextInt(30), 1 + random.nextInt(6), random.nextBoolean());
        SchedulerOptions options = SchedulerOptions.builder()
                .maxBatchSize(1 + random.nextInt(6))
                .prefillMaxBatchSize(1 + random.nextInt(6))
                .prefillMaxTokens(1 + random.nextInt(30))
                .decodeFirst(random.nextBoolean())
                .chunkedPrefill(random.nextBoolean())
                .admission(
                        random.nextBoolean() ? AdmissionPolicy.fifo() : AdmissionPolicy.pack(1 + random.nextInt(5), 2))
                .build();
        Scheduler scheduler = new Scheduler(options, pool, 1000);
        List<Sequence> all = new ArrayList<>();
        for (int i = 0; i < 1500; i++) {
            if (random.nextInt(4) == 0) {
                int room = pool.blocks() * pool.blockSize();
                int prompt = 1 + random.nextInt(Math.min(30, room - 1));
                Sequence sequence = add(scheduler, prompt, 1 + random.nextInt(Math.min(20, room - prompt)));
                all.add(sequence);
            }
            if (!all.isEmpty() && random.nextInt(10) == 0) {
                scheduler.end(all.get(random.nextInt(all.size())), FinishReason.CANCELLED);
            }
            step(scheduler);
        }
        int guard = 0;
        while (scheduler.hasWork()) {
            step(scheduler);
            assertThat(guard++).as("seed %d makes no progress", seed).isLessThan(50_000);
        }
        assertThat(pool.held()).as("seed %d", seed).isZero();
        assertThat(all).as("seed %d", seed).allMatch(s -> s.finishReason().isPresent());
        long ended = 0;
        while (scheduler.pollFinished().isPresent()) {
            ended++;
        }
        assertThat(ended).as("outcomes, seed %d", seed).isEqualTo(all.size());
    }

    @Test
    void options_above_the_step_limits_are_rejected_by_name() {
        int tooMany = SchedulerOptions.MAX_ROWS + 1;
        assertThatThrownBy(
                        () -> SchedulerOptions.builder().maxBatchSize(tooMany).build())
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("maxBatchSize is 65537; it must be 1 to 65536");
        assertThatThrownBy(() ->
                        SchedulerOptions.builder().prefillMaxBatchSize(tooMany).build())
                .hasMessageContaining("prefillMaxBatchSize is 65537; it must be 1 to");
        assertThatThrownBy(() -> AdmissionPolicy.pack(tooMany, 0))
                .hasMessageContaining("lookahead is 65537; it must be 1 to");
    }

    @Test
    void nonpositive_options_are_rejected_by_name() {
        assertThatThrownBy(
                        () -> SchedulerOptions.builder().prefillMaxBatchSize(0).build())
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("prefillMaxBatchSize is 0; it must be 1 to 65536");
        assertThatThrownBy(() -> SchedulerOptions.builder().maxBatchSize(0).build())
                .hasMessageContaining("maxBatchSize is 0; it must be 1 to 65536");
        assertThatThrownBy(() -> SchedulerOptions.builder().prefillMaxTokens(-1).build())
                .hasMessageContaining("prefillMaxTokens is -1; it must be positive");
        assertThatThrownBy(() -> SchedulerOptions.builder().maxActiveRequests(0).build())
                .hasMessageContaining("maxActiveRequests is 0; it must be positive");
        assertThatThrownBy(() -> AdmissionPolicy.pack(0, 1)).hasMessageContaining("lookahead");
        assertThatThrownBy(() -> AdmissionPolicy.pack(1, -1)).hasMessageContaining("non-negative");
    }

    @Test
    void prefill_batch_defaults_to_the_decode_batch() {
        assertThat(SchedulerOptions.builder().maxBatchSize(5).build().prefillMaxBatchSize())
                .isEqualTo(5);
    }

    /** Drafts token 1, which the device of these tests samples, {@code right} times, then token 2. */
    private record Drafts(int maxTokens, int right) implements Drafter {
        @Override
        public Drafter.Drafts newDrafts(PolicyRequest request) {
            return (tokens, max, into) -> {
                for (int i = 0; i < max; i++) {
                    into[i] = i < right ? 1 : 2;
                }
                return max;
            };
        }
    }

    private static Scheduler speculating(SchedulerOptions.Builder options, KvBlockPool pool, Drafter drafter) {
        SchedulerOptions all = options.drafter(drafter).prefixCache(false).build();
        int samples = Scheduler.maxRows(all) + Drafter.MAX_ROW_TOKENS;
        return new Scheduler(
                all,
                pool,
                1000,
                samples,
                Drafter.MAX_ROW_TOKENS,
                VOCABULARY,
                new WaitingQueue(1, all.policies()),
                0,
                admitted -> {});
    }

    @ParameterizedTest
    @CsvSource({"0, 1, 6", "1, 2, 7", "4, 5, 10"})
    void row_accepts_its_drafts_up_to_the_first_wrong_one(int right, int tokens, int length) {
        KvBlockPool pool = pool(50);
        Scheduler scheduler = speculating(SchedulerOptions.builder(), pool, new Drafts(8, right));
        Sequence sequence = add(scheduler, 4, 100);
        StepPlan plan = scheduler.newPlan();
        scheduler.apply(scheduler.plan(plan), sample -> 1);
        scheduler.plan(plan);
        assertThat(plan.count(0)).isEqualTo(5);
        assertThat(plan.samples()).isEqualTo(5);
        scheduler.apply(plan, sample -> 1);
        assertThat(plan.sampledTokens(0)).isEqualTo(tokens);
        assertThat(plan.acceptedTokens()).isEqualTo(tokens - 1);
        assertThat(sequence.length()).isEqualTo(length);
        assertThat(sequence.computed).isEqualTo(length - 1);
        assertThat(pool.held()).isEqualTo(Math.ceilDiv(length - 1, 4));
        scheduler.check();
    }

    @Test
    void sequence_ends_at_the_first_end_of_text_among_its_drafts() {
        Scheduler scheduler = speculating(SchedulerOptions.builder(), pool(50), new Drafts(8, 8));
        Sequence sequence = add(scheduler, 4, 100);
        StepPlan plan = scheduler.newPlan();
        scheduler.apply(scheduler.plan(plan), sample -> 1);
        scheduler.apply(scheduler.plan(plan), sample -> sample == 1 ? END : 1);
        assertThat(sequence.finishReason()).contains(FinishReason.STOP);
        assertThat(sequence.length()).isEqualTo(7);
        assertThat(plan.sampledToken(0, 1)).isEqualTo(END);
    }

    @Test
    void drafts_do_not_exceed_the_maximum_length() {
        Scheduler scheduler = speculating(SchedulerOptions.builder(), pool(50), new Drafts(8, 8));
        Sequence sequence = add(scheduler, 4, 4);
        StepPlan plan = scheduler.newPlan();
        scheduler.apply(scheduler.plan(plan), sample -> 1);
        assertThat(scheduler.plan(plan).count(0)).isEqualTo(3);
        scheduler.apply(plan, sample -> 1);
        assertThat(sequence.finishReason()).contains(FinishReason.LENGTH);
        assertThat(sequence.length()).isEqualTo(8);
    }

    @Test
    void unusable_sample_after_a_rejected_draft_fails_nothing() {
        Scheduler scheduler = speculating(SchedulerOptions.builder(), pool(50), new Drafts(8, 1));
        Sequence sequence = add(scheduler, 4, 100);
        StepPlan plan = scheduler.newPlan();
        scheduler.apply(scheduler.plan(plan), sample -> 1);
        scheduler.apply(scheduler.plan(plan), new UsableUntil(2));
        assertThat(plan.failedSample(0)).isEqualTo(StepPlan.NO_SAMPLE);
        assertThat(sequence.finishReason()).isEmpty();
        assertThat(sequence.length()).isEqualTo(7);
    }

    @Test
    void unusable_sample_fails_its_sequence_after_the_tokens_before_it() {
        Scheduler scheduler = speculating(SchedulerOptions.builder(), pool(50), new Drafts(8, 8));
        Sequence sequence = add(scheduler, 4, 100);
        StepPlan plan = scheduler.newPlan();
        scheduler.apply(scheduler.plan(plan), sample -> 1);
        scheduler.apply(scheduler.plan(plan), new UsableUntil(2));
        assertThat(plan.failedSample(0)).isEqualTo(2);
        assertThat(plan.sampledTokens(0)).isEqualTo(2);
        assertThat(sequence.finishReason()).contains(FinishReason.ERROR);
    }

    /** Samples token 1; from the given sample on, none. */
    private record UsableUntil(int end) implements Scheduler.SampledTokens {
        @Override
        public int token(int sample) {
            return 1;
        }

        @Override
        public boolean isUsable(int sample) {
            return sample < end;
        }
    }

    @Test
    void step_has_no_drafts_while_a_prompt_waits() {
        Scheduler scheduler = speculating(
                SchedulerOptions.builder().chunkedPrefill(true).prefillMaxTokens(4), pool(50), new Drafts(8, 8));
        add(scheduler, 3, 100);
        step(scheduler);
        assertThat(step(scheduler)).isEqualTo("0:5");
        add(scheduler, 6, 10);
        assertThat(step(scheduler)).isEqualTo("0:1 1:3");
        assertThat(step(scheduler)).isEqualTo("0:1 1:3");
        assertThat(step(scheduler)).isEqualTo("0:8 1:4");
    }

    /** A step of 9 rows has 7 drafts at most, so none of its first rows has one. */
    @ParameterizedTest
    @CsvSource({
        "4, 0, 0:1 1:3 2:3 3:3",
        "4, 1, 0:2 1:3 2:3 3:3",
        "4, 100, 0:3 1:3 2:3 3:3",
        "9, 100, 0:1 1:1 2:2 3:2 4:2 5:2 6:2 7:2 8:2"
    })
    void step_policy_limits_the_drafts_of_one_row(int requests, int maxDrafts, String rows) {
        SchedulerOptions.Builder options = SchedulerOptions.builder()
                .maxBatchSize(9)
                .step(step -> {
                    for (int i = 0; i < step.decoding(); i++) {
                        assertThat(step.decode(step.decoding(i), i == 0 ? maxDrafts : 100))
                                .isTrue();
                    }
                    step.admit(100);
                });
        Scheduler scheduler = speculating(options, pool(50), new Drafts(8, 8));
        for (int i = 0; i < requests; i++) {
            add(scheduler, 4, 100);
        }
        step(scheduler);
        assertThat(step(scheduler)).isEqualTo(rows);
    }

    @Test
    void drafts_take_no_block_that_another_sequence_needs() {
        KvBlockPool pool = pool(5);
        Scheduler scheduler = speculating(SchedulerOptions.builder(), pool, new Drafts(8, 0));
        add(scheduler, 4, 9);
        add(scheduler, 4, 9);
        for (int i = 0; i < 30 && scheduler.hasWork(); i++) {
            step(scheduler);
            assertThat(scheduler.total(StepRecord.Fact.PREEMPTIONS)).isLessThanOrEqualTo(1);
        }
        assertThat(scheduler.hasWork()).isFalse();
    }

    @Test
    void rejected_drafts_are_in_no_published_block() {
        Scheduler scheduler = speculating(SchedulerOptions.builder(), new KvBlockPool(50, 4, true), new Drafts(8, 0));
        Sequence sequence = add(scheduler, 4, 100);
        step(scheduler);
        assertThat(step(scheduler)).isEqualTo("0:5");
        assertThat(sequence.length()).isEqualTo(6);
        assertThat(KvProbe.published(sequence.table())).isOne();
    }

    @Test
    void accepted_drafts_change_the_totals() {
        Scheduler scheduler = speculating(SchedulerOptions.builder(), pool(50), new Drafts(8, 8));
        add(scheduler, 4, 100);
        step(scheduler);
        StepPlan plan = scheduler.plan(scheduler.newPlan());
        long before = scheduler.changesOfTotals();
        scheduler.apply(plan, sample -> 1);
        assertThat(scheduler.total(StepRecord.Fact.ACCEPTED_TOKENS)).isPositive();
        assertThat(scheduler.changesOfTotals()).isNotEqualTo(before);
    }

    @Test
    void end_of_text_that_is_its_draft_ends_the_sequence() {
        Drafter ends = new Proposing(4, (tokens, max, into) -> {
            Arrays.fill(into, 0, max, END);
            return max;
        });
        Scheduler scheduler = speculating(SchedulerOptions.builder(), pool(50), ends);
        Sequence sequence = add(scheduler, 4, 100);
        step(scheduler);
        StepPlan plan = scheduler.plan(scheduler.newPlan());
        assertThat(plan.count(0)).isEqualTo(5);
        scheduler.apply(plan, sample -> END);
        assertThat(plan.sampledTokens(0)).isOne();
        assertThat(sequence.length()).isEqualTo(6);
    }

    /** Drafts nothing, and counts the requests that have ended whole. */
    private static final class Ended implements Drafter.Drafts {
        private int count;

        @Override
        public int propose(TokenHistory tokens, int max, int[] into) {
            return 0;
        }

        @Override
        public void ended(TokenHistory tokens) {
            count++;
        }
    }

    @ParameterizedTest
    @CsvSource({"STOP, 1", "LENGTH, 1", "CANCELLED, 0", "ERROR, 0", "DEADLINE, 0"})
    void drafts_are_notified_of_the_end_of_a_request_with_all_its_tokens(FinishReason reason, int notified) {
        Ended drafts = new Ended();
        Scheduler scheduler = speculating(SchedulerOptions.builder(), pool(50), new Proposing(4, drafts));
        Sequence sequence = add(scheduler, 4, 9);
        step(scheduler);
        step(scheduler);
        scheduler.end(sequence, reason);
        assertThat(drafts.count).isEqualTo(notified);
    }

    /** Notes how many tokens each step computed and sampled. */
    private record Stepped(List<String> seen) implements AdmissionPolicy, RequestEvents {
        @Override
        public int lookahead() {
            return 1;
        }

        @Override
        public long rank(WaitingRequest request, QueueView queue) {
            return 0;
        }

        @Override
        public void stepped(RunningRequest request, int computedTokens, int newTokens) {
            seen.add(computedTokens + " computed, " + newTokens + " new");
        }
    }

    @Test
    void policies_are_not_notified_of_rejected_drafts() {
        List<String> seen = new ArrayList<>();
        Scheduler scheduler =
                speculating(SchedulerOptions.builder().admission(new Stepped(seen)), pool(50), new Drafts(8, 2));
        add(scheduler, 4, 100);
        step(scheduler);
        assertThat(step(scheduler)).isEqualTo("0:5");
        assertThat(seen).containsExactly("4 computed, 1 new", "3 computed, 3 new");
    }

    @Test
    void row_has_blocks_for_all_of_its_drafts() {
        Scheduler scheduler = speculating(SchedulerOptions.builder(), pool(3), new Drafts(8, 8));
        Sequence sequence = add(scheduler, 4, 9);
        step(scheduler);
        StepPlan plan = scheduler.plan(scheduler.newPlan());
        assertThat(plan.start(0) + plan.count(0)).isEqualTo(8);
        assertThat(sequence.table().capacity()).isEqualTo(8);
    }

    @Test
    void ended_sequence_does_not_keep_its_drafts() {
        Scheduler scheduler = speculating(SchedulerOptions.builder(), pool(50), new Drafts(8, 8));
        Sequence sequence = add(scheduler, 4, 9);
        step(scheduler);
        step(scheduler);
        assertThat(sequence.drafting).isNotNull();
        scheduler.end(sequence, FinishReason.CANCELLED);
        assertThat(sequence.drafting).isNull();
    }

    @Test
    void request_whose_drafts_are_rejected_pauses_longer_and_longer() {
        Scheduler scheduler = speculating(SchedulerOptions.builder(), pool(500), new Drafts(8, 0));
        add(scheduler, 4, 1000);
        for (int i = 0; i < 500; i++) {
            step(scheduler);
        }
        assertThat(scheduler.total(StepRecord.Fact.DRAFTS)).isBetween(5L, 10L);
        assertThat(scheduler.total(StepRecord.Fact.DRAFT_TOKENS)).isLessThan(20);
    }

    /** Drafts by {@code drafts}. */
    private record Proposing(int maxTokens, Drafter.@Nullable Drafts drafts) implements Drafter {
        @Override
        @SuppressWarnings("NullAway") // a faulty drafter
        public Drafter.Drafts newDrafts(PolicyRequest request) {
            return drafts;
        }
    }

    private void assertNamed(Drafter wrong, String message) {
        Scheduler scheduler = speculating(SchedulerOptions.builder(), pool(50), wrong);
        add(scheduler, 4, 100);
        step(scheduler);
        assertThatThrownBy(() -> step(scheduler))
                .isInstanceOf(EngineStopped.class)
                .hasMessageContaining("the drafter " + wrong.getClass().getName())
                .hasMessageContaining(message);
    }

    private static Drafter proposing(int token) {
        return new Proposing(4, (tokens, max, into) -> {
            into[0] = token;
            return 1;
        });
    }

    @Test
    void drafter_that_violates_its_contract_is_named() {
        assertNamed(new Proposing(4, (tokens, max, into) -> max + 1), "proposed 5 tokens, not 0 to 4");
        assertNamed(proposing(-1), "proposed token id -1; allowed are 0 to 99");
        assertNamed(proposing(VOCABULARY), "proposed token id 100; allowed are 0 to 99");
        assertNamed(new Proposing(4, null), "returned null from newDrafts");
    }

    @ParameterizedTest
    @ValueSource(ints = {-5, 16, 1000})
    void options_reject_a_drafter_whose_maximum_is_out_of_range(int maxTokens) {
        Drafter wrong = new Proposing(maxTokens, null);
        assertThatThrownBy(() -> SchedulerOptions.builder().drafter(wrong).build())
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("maxTokens of the drafter " + Proposing.class.getName() + " is " + maxTokens
                        + "; it must be 0 to 15");
    }
}
