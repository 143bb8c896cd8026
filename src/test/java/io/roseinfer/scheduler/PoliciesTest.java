package io.roseinfer.scheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.sampling.TokenHistory;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.CachedBlock;
import io.roseinfer.scheduler.policy.Drafter;
import io.roseinfer.scheduler.policy.EvictionPolicy;
import io.roseinfer.scheduler.policy.PolicyRequest;
import io.roseinfer.scheduler.policy.PreemptionPolicy;
import io.roseinfer.scheduler.policy.QueueView;
import io.roseinfer.scheduler.policy.RequestEvents;
import io.roseinfer.scheduler.policy.RunningRequest;
import io.roseinfer.scheduler.policy.StepBuilder;
import io.roseinfer.scheduler.policy.StepPolicy;
import io.roseinfer.scheduler.policy.WaitingRequest;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Custom policies: their arguments, their effect, and the guarantees of the scheduler that override them. */
class PoliciesTest {
    private static final int BLOCK_SIZE = 4;

    private long nextId;

    private Sequence add(Scheduler scheduler, int[] prompt, int maxNewTokens, int priority) {
        Sequence sequence = new Sequence(
                nextId++, this, prompt, prompt.length + maxNewTokens, SamplingParams.greedy(), 0, new int[0]);
        scheduler.add(sequence.setTraits(new RequestTraits(
                0, PolicyRequest.NO_DEADLINE, priority, "", Optional.of("tag " + sequence.id()), OptionalInt.empty())));
        return sequence;
    }

    private static StepPlan step(Scheduler scheduler) {
        StepPlan plan = scheduler.plan(scheduler.newPlan());
        if (!plan.isEmpty()) {
            scheduler.apply(plan, sample -> 1);
        }
        return plan;
    }

    private static Scheduler scheduler(SchedulerOptions.Builder options, int blocks) {
        return new Scheduler(options.build(), new KvBlockPool(blocks, BLOCK_SIZE, true), 1000);
    }

    /** Admits the highest priority first and records its arguments. */
    private static final class Urgent implements AdmissionPolicy {
        private final List<String> seen = new ArrayList<>();

        @Override
        public int lookahead() {
            return 8;
        }

        @Override
        public long rank(WaitingRequest request, QueueView queue) {
            seen.add(request.arrival() + " at " + request.arrivalStep() + ": "
                    + request.tag().orElseThrow() + ", "
                    + request.cachedLength() + " of " + request.promptLength() + "; step " + queue.step() + ", "
                    + queue.freeBlocks() + " free, " + queue.runningRows() + " running, " + queue.waiting()
                    + " waiting");
            return -request.priority();
        }
    }

    @Test
    void admission_policy_sees_the_request_and_the_scheduler_state() {
        Urgent policy = new Urgent();
        Scheduler scheduler =
                scheduler(SchedulerOptions.builder().prefillMaxBatchSize(1).admission(policy), 10);
        int[] prompt = IntStream.range(1, 10).toArray();
        add(scheduler, prompt, 5, 0);
        step(scheduler);
        add(scheduler, prompt, 5, 1);
        step(scheduler);
        step(scheduler);
        assertThat(policy.seen)
                .containsExactly(
                        "0 at 0: tag 0, 0 of 9; step 0, 10 free, 0 running, 1 waiting",
                        "1 at 1: tag 1, 8 of 9; step 2, 7 free, 1 running, 1 waiting");
    }

    @Test
    void requests_are_admitted_by_priority() {
        Scheduler scheduler =
                scheduler(SchedulerOptions.builder().prefillMaxBatchSize(1).admission(new Urgent()), 100);
        List.of(1, 3, 2).forEach(priority -> add(scheduler, new int[] {5}, 1, priority));
        List<Long> admitted = new ArrayList<>();
        while (scheduler.hasWork()) {
            admitted.add(step(scheduler).sequence(0).id());
        }
        assertThat(admitted).containsExactly(1L, 2L, 0L);
    }

    /** Preempts the lowest priority. */
    private static final PreemptionPolicy LOWEST_PRIORITY =
            (one, other, queue) -> one.priority() < other.priority() ? one : other;

    /** Runs three requests that grow until the pool is exhausted; returns the one preempted first. */
    private Sequence firstVictim(PreemptionPolicy policy, int... priorities) {
        Scheduler scheduler =
                scheduler(SchedulerOptions.builder().prefixCache(false).preemption(policy), 9);
        List<Sequence> sequences = IntStream.of(priorities)
                .mapToObj(priority -> add(scheduler, new int[BLOCK_SIZE], 4 * BLOCK_SIZE, priority))
                .toList();
        while (scheduler.total(Fact.PREEMPTIONS) == 0) {
            step(scheduler);
        }
        return sequences.stream().filter(s -> s.preemptions() > 0).findFirst().orElseThrow();
    }

    @Test
    void policy_chooses_the_victim_and_the_default_is_the_youngest() {
        assertThat(firstVictim(LOWEST_PRIORITY, 5, 1, 3).arrival).isEqualTo(1);
        assertThat(firstVictim(LOWEST_PRIORITY, 5, 3, 1).arrival).isEqualTo(2);
        assertThat(firstVictim(PreemptionPolicy.youngest(), 5, 1, 3).arrival).isEqualTo(2);
    }

    @Test
    void oldest_is_never_preempted_regardless_of_the_policy() {
        PreemptionPolicy oldest = (one, other, queue) -> one.arrival() < other.arrival() ? one : other;
        assertThat(firstVictim(oldest, 0, 0, 0).arrival).isEqualTo(1);
        assertThat(firstVictim(LOWEST_PRIORITY, 0, 5, 5).arrival).isPositive();
    }

    /** Ranks by priority, and records its arguments and events. */
    private static final class Precious implements EvictionPolicy, RequestEvents {
        private final List<String> seen = new ArrayList<>();
        private final List<Long> evicted = new ArrayList<>();
        private @Nullable CachedBlock last;
        private @Nullable QueueView lastView;

        @Override
        public void evicted(long rank) {
            evicted.add(rank);
        }

        @Override
        public long rank(CachedBlock block, QueueView queue) {
            last = block;
            lastView = queue;
            assertThat(queue.blockSize()).isEqualTo(BLOCK_SIZE);
            seen.add(block.request().tag().orElseThrow() + ": " + block.tokensBefore() + " before, " + block.hits()
                    + " hits" + (block.request() instanceof WaitingRequest ? ", waits" : ""));
            return block.request().priority();
        }

        @Override
        public void preempted(PolicyRequest request) {
            seen.add(request.tag().orElseThrow() + " is preempted");
        }

        @Override
        public void ended(PolicyRequest request) {
            seen.add(request.tag().orElseThrow() + " ends");
        }
    }

    private void run(Scheduler scheduler, int[] prompt, int priority) {
        add(scheduler, prompt, 1, priority);
        while (scheduler.hasWork()) {
            step(scheduler);
        }
    }

    private static int[] prompt(int first) {
        return new int[] {first, 2, 3, 4, 5, 6, 7, 8, 9};
    }

    @Test
    void eviction_policy_sees_the_request_that_releases_a_block_its_place_and_its_hits() {
        Precious policy = new Precious();
        Scheduler scheduler = scheduler(SchedulerOptions.builder().eviction(policy), 10);
        run(scheduler, prompt(1), 0);
        run(scheduler, prompt(1), 0);
        assertThat(policy.seen)
                .containsExactly(
                        "tag 0 ends",
                        "tag 0: 4 before, 0 hits",
                        "tag 0: 0 before, 0 hits",
                        "tag 1 ends",
                        "tag 1: 4 before, 1 hits",
                        "tag 1: 0 before, 1 hits");
    }

    @Test
    void eviction_policy_keeps_the_blocks_that_it_ranks_higher() {
        for (EvictionPolicy policy : List.of(new Precious(), EvictionPolicy.lru())) {
            Scheduler scheduler = scheduler(SchedulerOptions.builder().eviction(policy), 6);
            run(scheduler, prompt(1), 9);
            run(scheduler, prompt(2), 0);
            run(scheduler, prompt(3), 0);
            run(scheduler, prompt(4), 0);
            run(scheduler, prompt(1), 0);
            assertThat(scheduler.total(Fact.CACHED_TOKENS))
                    .as(policy.toString())
                    .isEqualTo(policy instanceof EvictionPolicy.Lru ? 0 : 2 * BLOCK_SIZE);
        }
    }

    @Test
    void eviction_policy_learns_the_rank_of_each_evicted_block() {
        Precious policy = new Precious();
        Scheduler scheduler = scheduler(SchedulerOptions.builder().eviction(policy), 6);
        run(scheduler, prompt(1), 9);
        run(scheduler, prompt(2), 1);
        run(scheduler, prompt(3), 8);
        run(scheduler, prompt(4), 7);
        assertThat(policy.evicted).containsExactly(1L, 1L, 8L);
    }

    @Test
    void cached_block_cannot_be_used_after_its_call() {
        Precious policy = new Precious();
        run(scheduler(SchedulerOptions.builder().eviction(policy), 6), prompt(1), 0);
        assertThatThrownBy(() -> Objects.requireNonNull(policy.last).request())
                .isInstanceOf(ExtensionFailure.Misuse.class)
                .hasMessage("uses a CachedBlock after the call that it was passed to");
    }

    private static void assertClosed(Consumer<QueueView> use, @Nullable QueueView view) {
        assertThatThrownBy(() -> use.accept(Objects.requireNonNull(view)))
                .isInstanceOf(ExtensionFailure.Misuse.class)
                .hasMessage("uses a QueueView after the call that it was passed to");
    }

    @Test
    void queue_view_cannot_be_used_after_the_call_of_an_eviction_policy() {
        Precious policy = new Precious();
        run(scheduler(SchedulerOptions.builder().eviction(policy), 6), prompt(1), 0);
        assertClosed(QueueView::freeBlocks, policy.lastView);
    }

    @Test
    void queue_view_cannot_be_used_after_the_step_is_planned() {
        List<QueueView> kept = new ArrayList<>();
        Scheduler scheduler = scheduler(stepping(step -> kept.add(step.queue())), 6);
        scheduler.plan(scheduler.newPlan());
        List<Consumer<QueueView>> uses = List.of(
                QueueView::replica,
                QueueView::iteration,
                QueueView::step,
                QueueView::nowNanos,
                QueueView::lastStepNanos,
                QueueView::lastStepTokens,
                QueueView::lastStepPromptTokens,
                QueueView::lastStepDecodeRows,
                QueueView::lastStepAttended,
                QueueView::blockSize,
                QueueView::totalBlocks,
                QueueView::freeBlocks,
                QueueView::runningRows,
                QueueView::waiting);
        assertThat(uses).hasSize(QueueView.class.getDeclaredMethods().length);
        uses.forEach(use -> assertClosed(use, kept.getFirst()));
    }

    @Test
    void queue_view_can_be_used_after_blocks_were_ranked_in_the_same_step() {
        Precious ranks = new Precious();
        List<Integer> waiting = new ArrayList<>();
        StepPolicy preempting = step -> {
            QueueView queue = step.queue();
            if (step.decoding() == 2) {
                assertThat(step.preempt(step.decoding(1))).isTrue();
                waiting.add(queue.waiting());
            }
            StepPolicy.mixed().plan(step);
        };
        Scheduler scheduler = scheduler(stepping(preempting).eviction(ranks), 10);
        IntStream.range(0, 2).forEach(i -> add(scheduler, new int[] {i, 2, 3, 4}, 1 + i, 0));
        add(scheduler, new int[] {7, 2, 3, 4}, 2, 0);
        step(scheduler);
        step(scheduler);
        assertThat(ranks.lastView).isNotNull();
        assertThat(waiting).containsExactly(1);
    }

    @Test
    void eviction_policy_ranks_the_blocks_of_a_preempted_request_after_its_event() {
        Precious policy = new Precious();
        Scheduler scheduler = scheduler(SchedulerOptions.builder().eviction(policy), 6);
        IntStream.range(0, 2).forEach(i -> add(scheduler, new int[] {i, 2, 3, 4}, 16, 0));
        while (scheduler.total(Fact.PREEMPTIONS) == 0) {
            step(scheduler);
        }
        assertThat(policy.seen)
                .containsExactly(
                        "tag 1 is preempted",
                        "tag 1: 8 before, 0 hits, waits",
                        "tag 1: 4 before, 0 hits, waits",
                        "tag 1: 0 before, 0 hits, waits");
    }

    /** Without room, each iteration finds the cached blocks of the request again. */
    @Test
    void request_that_is_not_admitted_changes_neither_ranks_nor_hits() {
        Precious policy = new Precious();
        Scheduler scheduler = scheduler(SchedulerOptions.builder().eviction(policy), 6);
        run(scheduler, prompt(1), 0);
        Sequence large = add(scheduler, new int[] {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7}, 3, 0);
        step(scheduler);
        add(scheduler, prompt(1), 1, 0);
        policy.seen.clear();
        while (large.finishReason().isEmpty()) {
            step(scheduler);
        }
        while (scheduler.hasWork()) {
            step(scheduler);
        }
        assertThat(policy.seen)
                .containsExactly(
                        "tag 1 ends",
                        "tag 1: 8 before, 0 hits",
                        "tag 1: 4 before, 0 hits",
                        "tag 1: 0 before, 0 hits",
                        "tag 2 ends",
                        "tag 2: 4 before, 1 hits",
                        "tag 2: 0 before, 1 hits");
    }

    @Test
    void eviction_policy_needs_the_prefix_cache() {
        assertThatThrownBy(() -> SchedulerOptions.builder()
                        .eviction(new Precious())
                        .prefixCache(false)
                        .build())
                .isInstanceOf(BadInput.class)
                .hasMessage("the eviction policy " + Precious.class.getName()
                        + " has no effect without the prefix cache; remove the policy, or enable the cache");
    }

    @Test
    void eviction_policy_exception_names_the_policy_in_the_next_step() {
        EvictionPolicy bad = (block, queue) -> {
            throw new IllegalStateException("boom");
        };
        Scheduler scheduler = scheduler(SchedulerOptions.builder().eviction(bad), 6);
        run(scheduler, prompt(1), 0);
        assertThatThrownBy(() -> run(scheduler, prompt(2), 0))
                .isInstanceOf(EngineStopped.class)
                .hasMessageContaining("the eviction policy ")
                .hasMessageContaining("PoliciesTest.java:");
        scheduler.checkIdle();
    }

    /** Decodes this many steps before it admits further requests. */
    private static final class Patient implements StepPolicy {
        private final int steps;
        private int left;

        Patient(int steps) {
            this.steps = steps;
        }

        @Override
        public void plan(StepBuilder step) {
            if (left > 0) {
                step.decode();
            }
            if (step.isEmpty()) {
                step.prefill(step.prefillMaxTokens());
                left = steps;
            } else {
                left--;
            }
        }
    }

    @Test
    void step_policy_composes_the_step() {
        Scheduler scheduler =
                scheduler(SchedulerOptions.builder().prefillMaxBatchSize(1).step(new Patient(3)), 100);
        add(scheduler, new int[3], 20, 0);
        add(scheduler, new int[3], 20, 0);
        List<Long> prefillTokens = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            step(scheduler);
            prefillTokens.add(scheduler.total(Fact.PREFILL_TOKENS));
        }
        assertThat(prefillTokens).containsExactly(3L, 3L, 3L, 3L, 6L, 6L, 6L, 6L);
    }

    /** Runs the request with the fewest tokens left, and pauses the others. */
    private static void shortestRemaining(StepBuilder step) {
        step.admit(100);
        int best = 0;
        for (int i = 1; i < step.decoding(); i++) {
            if (step.decoding(i).remainingNewTokens() < step.decoding(best).remainingNewTokens()) {
                best = i;
            }
        }
        if (step.decoding() > 0) {
            assertThat(step.decode(step.decoding(best))).isTrue();
            assertThat(step.decode(step.decoding(best))).isFalse();
        }
    }

    @Test
    void step_policy_chooses_rows_and_paused_requests_keep_their_blocks() {
        Scheduler scheduler = scheduler(stepping(PoliciesTest::shortestRemaining), 100);
        Sequence tall = add(scheduler, new int[5], 9, 0);
        step(scheduler);
        Sequence small = add(scheduler, new int[5], 3, 0);
        step(scheduler);
        int length = tall.length();
        while (small.finishReason().isEmpty()) {
            step(scheduler);
            assertThat(tall.length()).isEqualTo(length);
            assertThat(tall.running.heldBlocks()).isEqualTo(2);
        }
        while (tall.finishReason().isEmpty()) {
            step(scheduler);
        }
        assertThat(scheduler.total(Fact.PREEMPTIONS)).isZero();
    }

    /** Admits the newest request first. */
    private record NewestFirst() implements AdmissionPolicy {
        @Override
        public int lookahead() {
            return MAX_LOOKAHEAD;
        }

        @Override
        public long rank(WaitingRequest request, QueueView queue) {
            return -request.arrival();
        }
    }

    private int stepsUntilTheOldestRuns(int maxPasses) {
        Scheduler scheduler = scheduler(
                SchedulerOptions.builder()
                        .admission(new NewestFirst())
                        .prefillMaxBatchSize(1)
                        .maxPasses(maxPasses),
                100);
        Sequence oldest = add(scheduler, new int[1], 1, 0);
        int steps = 0;
        while (oldest.finishReason().isEmpty() && steps < 300) {
            add(scheduler, new int[1], 1, 0);
            step(scheduler);
            steps++;
        }
        return steps;
    }

    @Test
    void request_is_skipped_as_often_as_the_options_allow() {
        assertThat(stepsUntilTheOldestRuns(3)).isEqualTo(4);
        assertThat(stepsUntilTheOldestRuns(AdmissionPolicy.MAX_PASSES)).isEqualTo(AdmissionPolicy.MAX_PASSES + 1);
        assertThat(stepsUntilTheOldestRuns(SchedulerOptions.UNLIMITED)).isEqualTo(300);
    }

    /** Admits in order of arrival, and holds prompts of more than a number of tokens. */
    private record HoldsLong(int tokens) implements AdmissionPolicy {
        @Override
        public int lookahead() {
            return MAX_LOOKAHEAD;
        }

        @Override
        public long rank(WaitingRequest request, QueueView queue) {
            return request.arrival();
        }

        @Override
        public boolean isStrict(QueueView queue) {
            return true;
        }

        @Override
        public boolean holds(WaitingRequest request, QueueView queue) {
            return request.promptLength() > tokens;
        }
    }

    @Test
    void held_request_waits_while_others_run_and_blocks_none() {
        Scheduler scheduler = scheduler(SchedulerOptions.builder().admission(new HoldsLong(3)), 100);
        Sequence small = add(scheduler, new int[3], 2, 0);
        Sequence tall = add(scheduler, new int[4], 5, 0);
        Sequence late = add(scheduler, new int[2], 5, 0);
        step(scheduler);
        assertThat(List.of(small.isWaiting(), tall.isWaiting(), late.isWaiting()))
                .containsExactly(false, true, false);
        while (late.finishReason().isEmpty()) {
            assertThat(tall.isWaiting()).isTrue();
            step(scheduler);
        }
        assertThat(tall.timesPassedOver).isEqualTo(1);
        step(scheduler);
        assertThat(tall.isWaiting()).isFalse();
    }

    @Test
    void scheduler_without_running_requests_admits_one_that_is_held() {
        Scheduler scheduler = scheduler(SchedulerOptions.builder().admission(new HoldsLong(0)), 100);
        Sequence first = add(scheduler, new int[4], 2, 0);
        Sequence second = add(scheduler, new int[4], 2, 0);
        step(scheduler);
        assertThat(first.isWaiting()).isFalse();
        assertThat(second.isWaiting()).isTrue();
        while (scheduler.hasWork()) {
            assertThat(step(scheduler).isEmpty()).isFalse();
        }
        assertThat(second.finishReason()).contains(FinishReason.LENGTH);
    }

    @Test
    void held_request_is_passed_over_as_often_as_the_options_allow() {
        Scheduler scheduler =
                scheduler(SchedulerOptions.builder().admission(new HoldsLong(3)).maxPasses(5), 100);
        add(scheduler, new int[1], 50, 0);
        step(scheduler);
        Sequence held = add(scheduler, new int[4], 2, 0);
        for (int pass = 1; pass <= 5; pass++) {
            add(scheduler, new int[1], 1, 0);
            while (held.timesPassedOver < pass) {
                step(scheduler);
            }
            assertThat(held.isWaiting()).isTrue();
        }
        while (held.isWaiting()) {
            assertThat(step(scheduler).isEmpty()).isFalse();
        }
        assertThat(held.timesPassedOver).isEqualTo(5);
    }

    /** Preempts what it can in every second step, and admits the newest first. */
    private static final class Preempting implements StepPolicy, AdmissionPolicy, RequestEvents {
        private final List<String> events = new ArrayList<>();
        private int steps;

        @Override
        public int lookahead() {
            return MAX_LOOKAHEAD;
        }

        @Override
        public long rank(WaitingRequest request, QueueView queue) {
            return -request.arrival();
        }

        @Override
        public void plan(StepBuilder step) {
            if (++steps % 2 == 0) {
                for (int i = 0; i < step.decoding(); i++) {
                    boolean unused = step.preempt(step.decoding(i));
                }
                step.admit(100);
            } else {
                step.prefill(100);
            }
            if (step.isEmpty()) {
                step.decode();
            }
        }

        @Override
        public void arrived(PolicyRequest request) {
            events.add(request.id() + " arrived");
        }

        @Override
        public void admitted(RunningRequest request, int cachedTokens) {
            events.add(request.id() + " admitted with " + cachedTokens);
        }

        @Override
        public void stepped(RunningRequest request, int computedTokens, int newTokens) {
            events.add(request.id() + " computed " + computedTokens + ", new " + newTokens);
        }

        @Override
        public void preempted(PolicyRequest request) {
            events.add(request.id() + " preempted");
        }

        @Override
        public void ended(PolicyRequest request) {
            events.add(request.id() + " ended");
        }
    }

    @Test
    void events_of_a_request_are_in_order_and_the_oldest_is_never_preempted_by_choice() {
        Preempting policy = new Preempting();
        Scheduler scheduler = scheduler(
                SchedulerOptions.builder().admission(policy).step(policy).prefixCache(false), 100);
        add(scheduler, new int[] {1, 2}, 3, 0);
        add(scheduler, new int[] {3, 4, 5}, 3, 0);
        for (int i = 0; i < 20 && scheduler.hasWork(); i++) {
            step(scheduler);
        }
        assertThat(policy.events)
                .noneMatch(event -> event.equals("0 preempted"))
                .startsWith("0 arrived", "1 arrived")
                .containsSubsequence(
                        "1 admitted with 0",
                        "1 computed 3, new 1",
                        "1 preempted",
                        "1 admitted with 0",
                        "1 computed 4, new 1",
                        "1 ended");
        assertThat(policy.events.stream().filter(event -> event.endsWith("ended")))
                .containsExactlyInAnyOrder("0 ended", "1 ended");
    }

    @Test
    void exception_during_an_event_stops_the_next_step() {
        final class Bad implements AdmissionPolicy, RequestEvents {
            @Override
            public int lookahead() {
                return 1;
            }

            @Override
            public long rank(WaitingRequest request, QueueView queue) {
                return 0;
            }

            @Override
            public void arrived(PolicyRequest request) {
                throw new IllegalStateException("boom");
            }
        }
        Scheduler scheduler = scheduler(SchedulerOptions.builder().admission(new Bad()), 10);
        add(scheduler, new int[] {1, 2}, 3, 0);
        assertThatThrownBy(() -> step(scheduler))
                .isInstanceOf(EngineStopped.class)
                .hasMessageContaining("the admission policy " + Bad.class.getName()
                        + " threw java.lang.IllegalStateException: boom at ");
    }

    @Test
    void preemption_policy_sees_running_requests_and_the_scheduler_state() {
        List<String> seen = new ArrayList<>();
        List<String> queues = new ArrayList<>();
        PreemptionPolicy noting = (one, other, queue) -> {
            seen.add(describe(one));
            seen.add(describe(other));
            queues.add(queue.freeBlocks() + " of " + queue.totalBlocks() + " free, replica " + queue.replica() + ", "
                    + queue.runningRows() + " running, at " + queue.nowNanos());
            return PreemptionPolicy.youngest().victim(one, other, queue);
        };
        firstVictim(noting, 7, 8, 9);
        assertThat(seen)
                .contains("tag 2, priority 9: 13 tokens of 4 and 16, 3 blocks, 1 to compute, 0 restarts")
                .allMatch(text -> text.contains("tag 1") || text.contains("tag 2"));
        assertThat(queues).contains("0 of 9 free, replica 0, 3 running, at 0");
    }

    private static String describe(RunningRequest request) {
        return request.tag().orElseThrow() + ", priority " + request.priority() + ": " + request.length()
                + " tokens of " + request.promptLength() + " and "
                + (request.length() - request.promptLength() + request.remainingNewTokens()) + ", "
                + request.heldBlocks() + " blocks, " + request.remainingTokens() + " to compute, "
                + request.preemptions() + " restarts";
    }

    /** All policies in one object; keeps what it is given. */
    private static final class Keeping
            implements AdmissionPolicy, PreemptionPolicy, StepPolicy, Drafter, RequestEvents {
        private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());

        @Override
        public int lookahead() {
            return 1;
        }

        @Override
        public long rank(WaitingRequest request, QueueView queue) {
            assertThat(request).isNotInstanceOf(RunningRequest.class);
            Collections.addAll(seen, request, queue);
            return 0;
        }

        @Override
        public RunningRequest victim(RunningRequest one, RunningRequest other, QueueView queue) {
            Collections.addAll(seen, one, other);
            return one;
        }

        @Override
        public void plan(StepBuilder step) {
            Collections.addAll(seen, step, step.queue());
            StepPolicy.mixed().plan(step);
        }

        @Override
        public int maxTokens() {
            return 1;
        }

        @Override
        public Drafts newDrafts(PolicyRequest request) {
            seen.add(request);
            return (tokens, max, into) -> {
                seen.add(tokens);
                return 0;
            };
        }

        @Override
        public void arrived(PolicyRequest request) {
            assertThat(request).isInstanceOf(WaitingRequest.class).isNotInstanceOf(RunningRequest.class);
        }

        @Override
        public void admitted(RunningRequest request, int cachedTokens) {
            assertThat(request).isNotInstanceOf(WaitingRequest.class);
            assertThat(seen).contains(request);
        }

        @Override
        public void preempted(PolicyRequest request) {
            assertThat(request).isInstanceOf(WaitingRequest.class).isNotInstanceOf(RunningRequest.class);
        }

        @Override
        public void ended(PolicyRequest request) {
            assertThat(request).isInstanceOf(RunningRequest.class).isNotInstanceOf(WaitingRequest.class);
        }
    }

    /** Only these can be called: a cast to the object's class does not compile outside the package. */
    @Test
    void policies_see_the_state_of_requests_through_their_interfaces_only() {
        Keeping policy = new Keeping();
        Scheduler scheduler = scheduler(
                SchedulerOptions.builder()
                        .admission(policy)
                        .preemption(policy)
                        .step(policy)
                        .drafter(policy)
                        .chunkedPrefill(true)
                        .prefixCache(false),
                9);
        for (int i = 0; i < 3; i++) {
            add(scheduler, new int[BLOCK_SIZE], 4 * BLOCK_SIZE, 0);
        }
        while (scheduler.hasWork()) {
            step(scheduler);
        }
        assertThat(scheduler.total(Fact.PREEMPTIONS)).isPositive();
        assertThat(policy.seen).hasSizeGreaterThan(8).allSatisfy(object -> {
            for (Class<?> type = object.getClass(); type != Object.class; type = type.getSuperclass()) {
                assertThat(Modifier.isPublic(type.getModifiers()))
                        .as(type.getName())
                        .isFalse();
            }
        });
    }

    /** Drafts nothing, and records the requests that it could draft for. */
    private record Noting(List<String> seen) implements Drafter {
        @Override
        public int maxTokens() {
            return 1;
        }

        @Override
        public Drafts newDrafts(PolicyRequest request) {
            seen.add(request.tag().orElseThrow() + ", priority " + request.priority() + ", " + request.length()
                    + " tokens");
            return (tokens, max, into) -> 0;
        }
    }

    @Test
    void drafter_sees_each_request_once() {
        List<String> seen = new ArrayList<>();
        Scheduler scheduler = scheduler(SchedulerOptions.builder().drafter(new Noting(seen)), 10);
        add(scheduler, new int[] {1, 2}, 5, 7);
        add(scheduler, new int[] {1, 2, 3}, 5, 8);
        while (scheduler.hasWork()) {
            step(scheduler);
        }
        assertThat(seen).containsExactly("tag 0, priority 7, 3 tokens", "tag 1, priority 8, 4 tokens");
    }

    /** A drafter that listens; also a step policy. */
    private static final class Listening implements Drafter, StepPolicy, RequestEvents {
        @Override
        public int maxTokens() {
            return 2;
        }

        @Override
        public Drafts newDrafts(PolicyRequest request) {
            return (tokens, max, into) -> 0;
        }

        @Override
        public void plan(StepBuilder step) {
            StepPolicy.mixed().plan(step);
        }
    }

    @Test
    void drafter_that_listens_to_events_is_rejected_unless_it_is_notified() {
        Listening drafter = new Listening();
        SchedulerOptions.Builder options = SchedulerOptions.builder().drafter(drafter);
        assertThatThrownBy(options::build)
                .isInstanceOf(BadInput.class)
                .hasMessage("the drafter " + Listening.class.getName()
                        + " implements RequestEvents, but only admission, preemption, eviction and step policies are notified;"
                        + " remove it, or also use the same object as one of them");
        assertThat(options.step(drafter).build().policies().drafter()).isSameAs(drafter);
    }

    /** Throws the given exception from {@code rank}. */
    private record Throwing(RuntimeException thrown) implements AdmissionPolicy {
        @Override
        public int lookahead() {
            return 1;
        }

        @Override
        public long rank(WaitingRequest request, QueueView queue) {
            throw thrown;
        }
    }

    @Test
    void admission_policy_exception_names_its_class_and_line_and_is_the_cause() {
        RuntimeException boom = new IllegalStateException("boom");
        Scheduler scheduler = scheduler(SchedulerOptions.builder().admission(new Throwing(boom)), 10);
        add(scheduler, new int[] {1, 2}, 5, 0);
        assertThatThrownBy(() -> step(scheduler))
                .isInstanceOf(EngineStopped.class)
                .hasCause(boom)
                .hasMessageContaining("admission policy " + Throwing.class.getName()
                        + " threw java.lang.IllegalStateException: boom at ");
    }

    @Test
    void failure_of_an_observer_during_the_call_of_a_policy_is_not_wrapped() {
        RuntimeException failure = new EngineStopped("the observer threw");
        Scheduler scheduler = scheduler(SchedulerOptions.builder().admission(new Throwing(failure)), 10);
        add(scheduler, new int[] {1, 2}, 5, 0);
        assertThatThrownBy(() -> step(scheduler)).isSameAs(failure);
    }

    @Test
    void preemption_policy_exception_names_the_policy() {
        PreemptionPolicy bad = (one, other, queue) -> {
            throw new IllegalStateException("boom");
        };
        Scheduler scheduler = scheduler(SchedulerOptions.builder().preemption(bad), 6);
        for (int i = 0; i < 3; i++) {
            add(scheduler, new int[] {i, 2, 3}, 17, 0);
        }
        assertThatThrownBy(() -> IntStream.range(0, 60).forEach(i -> step(scheduler)))
                .isInstanceOf(EngineStopped.class)
                .hasMessageContaining("the preemption policy ");
    }

    @Test
    void step_policy_exception_names_the_policy() {
        StepPolicy bad = step -> {
            throw new IllegalStateException("boom");
        };
        Scheduler scheduler = scheduler(SchedulerOptions.builder().step(bad), 6);
        add(scheduler, new int[] {1, 2}, 5, 0);
        assertThatThrownBy(() -> step(scheduler))
                .isInstanceOf(EngineStopped.class)
                .hasMessageContaining("the step policy ")
                .hasMessageContaining("PoliciesTest.java:");
    }

    private void assertNamed(SchedulerOptions.Builder options, String message) {
        assertNamed(options, "policy", message);
    }

    private void assertNamed(SchedulerOptions.Builder options, String kind, String message) {
        Scheduler scheduler = scheduler(options, 6);
        add(scheduler, new int[] {1, 2, 3}, 8, 0);
        add(scheduler, new int[] {4, 5, 6}, 8, 0);
        add(scheduler, new int[] {7, 8, 9}, 8, 0);
        assertThatThrownBy(() -> {
                    for (int i = 0; i < 1000 && scheduler.hasWork(); i++) {
                        step(scheduler);
                    }
                })
                .isInstanceOf(EngineStopped.class)
                .hasMessageContaining(getClass().getName())
                .hasMessageContaining(message)
                .hasMessageEndingWith("; fix it, or choose another " + kind);
    }

    /** Uses the builder of the first step, and a running request, when its result is applied. */
    private record Late(BiConsumer<StepBuilder, RunningRequest> use, List<StepBuilder> kept)
            implements StepPolicy, RequestEvents {
        Late(BiConsumer<StepBuilder, RunningRequest> use) {
            this(use, new ArrayList<>());
        }

        @Override
        public void plan(StepBuilder step) {
            kept.add(step);
            StepPolicy.mixed().plan(step);
        }

        @Override
        public void stepped(RunningRequest request, int computedTokens, int newTokens) {
            use.accept(kept.getFirst(), request);
        }
    }

    @Test
    void builder_of_a_step_is_rejected_after_the_step_is_planned() {
        List<BiConsumer<StepBuilder, RunningRequest>> uses = List.of(
                (step, request) -> step.isEmpty(),
                (step, request) -> step.tokens(),
                (step, request) -> step.prefillMaxTokens(),
                (step, request) -> step.maxBatchSize(),
                (step, request) -> step.queue(),
                (step, request) -> step.decoding(),
                (step, request) -> step.decoding(0),
                (step, request) -> step.prefilling(),
                (step, request) -> step.prefilling(0),
                (step, request) -> step.decode(),
                (step, request) -> step.decode(request),
                (step, request) -> step.decode(request, 1),
                (step, request) -> step.prefill(1),
                (step, request) -> step.prefill(request, 1),
                (step, request) -> step.admit(1),
                (step, request) -> step.preempt(request));
        assertThat(uses).hasSize(StepBuilder.class.getDeclaredMethods().length);
        for (BiConsumer<StepBuilder, RunningRequest> use : uses) {
            assertNamed(stepping(new Late(use)), "uses a StepBuilder outside the call of plan that it was passed to");
        }
    }

    @Test
    void misuse_noticed_after_the_call_names_no_line_of_the_engine() {
        SchedulerOptions.Builder options = SchedulerOptions.builder().drafter(new Drafter() {
            @Override
            public int maxTokens() {
                return 2;
            }

            @Override
            public Drafts newDrafts(PolicyRequest request) {
                return (tokens, max, into) -> -1;
            }
        });
        assertNamed(options, "drafter", "$1 proposed -1 tokens, not 0 to 2; fix it, or choose another drafter");
    }

    /** Reads beyond the tokens of a request in a nested class. */
    private static final class Overreading implements Drafter {
        @Override
        public int maxTokens() {
            return 2;
        }

        @Override
        public Drafts newDrafts(PolicyRequest request) {
            return new Beyond();
        }

        private static final class Beyond implements Drafts {
            @Override
            public int propose(TokenHistory tokens, int max, int[] into) {
                return tokens.token(tokens.length());
            }
        }
    }

    @Test
    void token_beyond_the_history_of_a_drafter_is_rejected_with_the_line_that_read_it() {
        assertNamed(
                SchedulerOptions.builder().drafter(new Overreading()),
                "drafter",
                "Overreading threw java.lang.IndexOutOfBoundsException: Index 4 out of bounds for length 4 at "
                        + Overreading.Beyond.class.getName() + ".propose(PoliciesTest.java:");
    }

    /** Uses the prefix cache before a replica ranks the request. */
    private static final class Hasty implements AdmissionPolicy, RequestEvents {
        @Override
        public int lookahead() {
            return 1;
        }

        @Override
        public long rank(WaitingRequest request, QueueView queue) {
            return 0;
        }

        @Override
        public void arrived(PolicyRequest request) {
            int unused = ((WaitingRequest) request).cachedLength();
        }
    }

    @Test
    void cached_length_is_rejected_before_a_replica_ranks_the_request() {
        assertNamed(
                SchedulerOptions.builder().admission(new Hasty()),
                "Hasty uses cachedLength of a request that no replica has ranked at " + Hasty.class.getName()
                        + ".arrived(PoliciesTest.java:");
    }

    private static SchedulerOptions.Builder stepping(StepPolicy policy) {
        return SchedulerOptions.builder().step(policy);
    }

    @Test
    void request_that_has_ended_is_named_as_such() {
        List<RunningRequest> kept = new ArrayList<>();
        assertNamed(
                stepping(step -> {
                    step.prefill(100);
                    if (kept.isEmpty() && step.decoding() > 0) {
                        kept.add(step.decoding(0));
                    } else if (!kept.isEmpty()) {
                        boolean unused = step.decode(kept.getFirst());
                    }
                }),
                "decodes request 0, which has ended, with up to 0 drafts");
    }

    @Test
    void contract_violation_names_the_policy() {
        assertNamed(stepping(step -> {}), "left 100 steps in a row empty while 3 requests waited and 0");
        assertNamed(
                stepping(step -> step.prefill(100)),
                "left 100 steps in a row empty while 0 requests waited and 3 were active");
        assertNamed(
                stepping(step -> {
                    step.prefill(100);
                    step.decode();
                    step.decode();
                }),
                "decodes twice in one step");
        assertNamed(
                stepping(step -> {
                    step.prefill(100);
                    step.prefill(100);
                }),
                "prefills twice in one step");
        assertNamed(
                stepping(step -> {
                    step.admit(100);
                    if (step.decoding() > 0) {
                        step.prefill(step.decoding(0), 5);
                    }
                }),
                "; allowed are 1 or more of the requests of prefilling()");
        assertNamed(
                stepping(step -> {
                            if (step.prefilling() == 0) {
                                step.admit(1);
                            } else {
                                boolean unused = step.decode(step.prefilling(0));
                            }
                        })
                        .chunkedPrefill(true),
                "; allowed are 0 or more of the requests of decoding()");
        assertNamed(
                stepping(step -> {
                    step.admit(100);
                    if (step.decoding() > 0) {
                        boolean unused = step.decode(step.decoding(0), -1);
                    }
                }),
                " with up to -1 drafts; allowed are 0 or more");
        assertNamed(
                SchedulerOptions.builder().preemption((one, other, queue) -> {
                    throw new AssertionError("planted");
                }),
                "threw java.lang.AssertionError: planted");
    }
}
