package io.roseinfer.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.PolicyRequest;
import io.roseinfer.scheduler.policy.QueueView;
import io.roseinfer.scheduler.policy.RequestEvents;
import io.roseinfer.scheduler.policy.RunningRequest;
import io.roseinfer.scheduler.policy.WaitingRequest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Compares schedulers that share a waiting queue with a model: a list of requests in order of arrival. */
class WaitingQueueOrderTest {
    private static final int SEEDS = 200;
    private static final int EVENTS = 150;
    private static final int SCHEDULERS = 3;

    /** Ranks all requests equally, so that the oldest comes first, and records the requests it sees. */
    private static final class Recording implements AdmissionPolicy {
        private final int lookahead;
        private final List<Long> shown = new ArrayList<>();

        Recording(int lookahead) {
            this.lookahead = lookahead;
        }

        @Override
        public int lookahead() {
            return lookahead;
        }

        @Override
        public long rank(WaitingRequest request, QueueView queue) {
            shown.add(request.id());
            return 0;
        }
    }

    /** The schedulers of one seed, and the requests that must be waiting. */
    private static final class Story {
        private final Random random;
        private final WaitingQueue waitingQueue =
                new WaitingQueue(SCHEDULERS, SchedulerOptions.defaults().policies());
        private final Recording policy;
        private final SchedulerOptions options;
        private final List<Scheduler> schedulers;
        private final List<Sequence> waiting = new ArrayList<>();
        private final List<Sequence> admitted = new ArrayList<>();
        private final List<List<Sequence>> running = IntStream.range(0, SCHEDULERS)
                .mapToObj(i -> (List<Sequence>) new ArrayList<Sequence>())
                .toList();
        private final boolean[] hasStopped = new boolean[SCHEDULERS];
        private long arrivals;
        private int windows;

        Story(long seed) {
            random = new Random(seed);
            policy = new Recording(1 + random.nextInt(6));
            options = SchedulerOptions.builder()
                    .chunkedPrefill(true)
                    .prefillMaxBatchSize(1 + random.nextInt(3))
                    .maxActiveRequests(1 + random.nextInt(6))
                    .admission(policy)
                    .build();
            schedulers = IntStream.range(0, SCHEDULERS)
                    .mapToObj(i -> new Scheduler(
                            options, new KvBlockPool(500, 4, false), 500, 16, 0, 2, waitingQueue, i, admitted::add))
                    .toList();
        }

        void play() {
            for (int event = 0; event < EVENTS; event++) {
                int scheduler = random.nextInt(SCHEDULERS);
                switch (random.nextInt(12)) {
                    case 0, 1, 2, 3, 4 -> add(random.nextInt(-1, SCHEDULERS));
                    case 5 -> end();
                    case 6 -> stop(scheduler);
                    default -> step(scheduler, random.nextInt(4));
                }
                checkQueue();
            }
        }

        private void add(int scheduler) {
            Sequence sequence = new Sequence(
                    arrivals++, this, new int[] {1, 2}, 3 + random.nextInt(3), SamplingParams.greedy(), 0, new int[0]);
            if (random.nextBoolean()) {
                var unused = sequence.setTraits(new RequestTraits(
                        0, Long.MAX_VALUE, 0, "", Optional.empty(), OptionalInt.of(random.nextInt(4))));
            }
            waitingQueue.add(sequence, scheduler);
            boolean isBound = scheduler != WaitingQueue.ANY && !hasStopped[scheduler];
            assertThat(sequence.scheduler()).isEqualTo(isBound ? scheduler : WaitingQueue.ANY);
            waiting.add(sequence);
        }

        private void end() {
            if (!waiting.isEmpty()) {
                assertThat(waitingQueue.remove(waiting.remove(random.nextInt(waiting.size()))))
                        .isTrue();
            }
        }

        /** Stops a scheduler, at most once; the requests it has admitted wait again. */
        private void stop(int scheduler) {
            if (scheduler == 0 || hasStopped[scheduler]) {
                return;
            }
            hasStopped[scheduler] = true;
            List<Sequence> own =
                    waiting.stream().filter(s -> s.scheduler() == scheduler).toList();
            assertThat(waitingQueue.unbindAll(scheduler)).isEqualTo(own);
            for (Sequence sequence : running.get(scheduler)) {
                if (sequence.finishReason().isEmpty()) {
                    Sequence again = sequence.newAttempt();
                    waitingQueue.requeue(again, true);
                    waiting.add(again);
                }
            }
            waiting.sort(Comparator.comparingLong((Sequence sequence) -> sequence.arrival));
        }

        private void step(int number, int maxShared) {
            if (hasStopped[number]) {
                return;
            }
            Scheduler scheduler = schedulers.get(number);
            List<Sequence> window = waiting.stream()
                    .filter(s -> s.scheduler() == number || (s.scheduler() == WaitingQueue.ANY && maxShared > 0))
                    .limit(Math.max(policy.lookahead, options.prefillMaxBatchSize()))
                    .toList();
            List<Sequence> expected = admissible(window, maxShared, scheduler.active());
            policy.shown.clear();
            admitted.clear();
            StepPlan plan = scheduler.plan(scheduler.newPlan(), maxShared, 0);
            if (!policy.shown.isEmpty()) {
                assertThat(policy.shown)
                        .isEqualTo(window.stream().map(Sequence::id).toList());
                windows++;
            }
            assertThat(admitted).isEqualTo(expected);
            waiting.removeAll(expected);
            running.get(number).addAll(expected);
            scheduler.apply(plan, sample -> 7);
        }

        private List<Sequence> admissible(List<Sequence> window, int maxShared, int active) {
            List<Sequence> expected = new ArrayList<>();
            int shared = 0;
            for (Sequence sequence : window) {
                boolean isShared = sequence.scheduler() == WaitingQueue.ANY;
                if (expected.size() < options.prefillMaxBatchSize()
                        && active + expected.size() < options.maxActiveRequests()
                        && (!isShared || shared < maxShared)) {
                    expected.add(sequence);
                    shared += isShared ? 1 : 0;
                }
            }
            return expected;
        }

        private void checkQueue() {
            for (int scheduler = WaitingQueue.ANY; scheduler < SCHEDULERS; scheduler++) {
                int number = scheduler;
                List<Sequence> listed = new ArrayList<>();
                for (Sequence s = waitingQueue.sequences(number).first(); s != null; s = s.next) {
                    listed.add(s);
                }
                assertThat(listed)
                        .isEqualTo(waiting.stream()
                                .filter(s -> s.scheduler() == number)
                                .toList());
                assertThat(number == WaitingQueue.ANY ? waitingQueue.sharedCount() : waitingQueue.boundCount(number))
                        .isEqualTo(listed.size());
            }
            List<Sequence> shared = waiting.stream()
                    .filter(s -> s.scheduler() == WaitingQueue.ANY)
                    .toList();
            assertThat(waitingQueue.sharedPredictedTokens())
                    .isEqualTo(shared.stream()
                            .mapToLong(s -> Math.min(s.maxLength(), s.promptLength() + s.predictedNewTokens()))
                            .sum());
            assertThat(waitingQueue.sharedPromptTokens())
                    .isEqualTo(shared.stream().mapToLong(Sequence::promptLength).sum());
        }
    }

    /** Random admissions, stops and requeues of schedulers, and cancellations by callers. */
    @Test
    void each_scheduler_sees_and_admits_the_oldest_requests_it_may() {
        int windows = 0;
        for (long seed = 0; seed < SEEDS; seed++) {
            Story story = new Story(seed);
            try {
                story.play();
            } catch (AssertionError e) {
                throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
            }
            windows += story.windows;
        }
        assertThat(windows).isGreaterThan(10 * SEEDS);
    }

    /** Admits the newest request first, so that each admission skips all others. */
    private static final class NewestFirst implements AdmissionPolicy {
        @Override
        public int lookahead() {
            return Integer.MAX_VALUE;
        }

        @Override
        public long rank(WaitingRequest request, QueueView queue) {
            return -request.id();
        }
    }

    @Test
    void requests_at_the_skip_limit_are_admitted_beyond_the_share() {
        WaitingQueue waitingQueue =
                new WaitingQueue(1, SchedulerOptions.defaults().policies());
        List<Long> admitted = new ArrayList<>();
        SchedulerOptions options =
                SchedulerOptions.builder().admission(new NewestFirst()).build();
        Scheduler scheduler = new Scheduler(
                options,
                new KvBlockPool(1000, 4, false),
                500,
                16,
                0,
                2,
                waitingQueue,
                0,
                sequence -> admitted.add(sequence.id()));
        long arrivals = 0;
        for (int old = 0; old < 3; old++) {
            waitingQueue.add(oneToken(arrivals++), WaitingQueue.ANY);
        }
        for (int pass = 0; pass < AdmissionPolicy.MAX_PASSES; pass++) {
            waitingQueue.add(oneToken(arrivals++), WaitingQueue.ANY);
            StepPlan plan = scheduler.plan(scheduler.newPlan(), 1, 0);
            scheduler.apply(plan, sample -> 7);
        }
        assertThat(admitted).hasSize(AdmissionPolicy.MAX_PASSES).doesNotContain(0L, 1L, 2L);
        admitted.clear();
        waitingQueue.add(oneToken(arrivals), WaitingQueue.ANY);
        assertThat(scheduler.plan(scheduler.newPlan(), 1, 0).rows()).isEqualTo(3);
        assertThat(scheduler.total(Fact.FORCED_ADMISSIONS)).isEqualTo(3);
        assertThat(admitted).containsExactly(0L, 1L, 2L);
    }

    /** Records the replica of each request at each event. */
    private static final class Replicas implements AdmissionPolicy, RequestEvents {
        private final List<String> seen = new ArrayList<>();

        @Override
        public int lookahead() {
            return 1;
        }

        @Override
        public long rank(WaitingRequest request, QueueView queue) {
            seen.add("replica " + queue.replica() + " with blocks of " + queue.blockSize() + " ranks");
            return 0;
        }

        private void note(String event, PolicyRequest request) {
            seen.add(event + " " + request.id() + " on " + request.replica());
        }

        @Override
        public void arrived(PolicyRequest request) {
            note("arrived", request);
        }

        @Override
        public void admitted(RunningRequest request, int cachedTokens) {
            note("admitted", request);
        }

        @Override
        public void stepped(RunningRequest request, int computedTokens, int newTokens) {
            note("stepped", request);
        }

        @Override
        public void preempted(PolicyRequest request) {
            note("preempted", request);
        }

        @Override
        public void ended(PolicyRequest request) {
            note("ended", request);
        }
    }

    @Test
    void events_name_the_replica_that_a_request_is_bound_to_or_ran_on() {
        Replicas policy = new Replicas();
        SchedulerOptions options = SchedulerOptions.builder().admission(policy).build();
        WaitingQueue waitingQueue = new WaitingQueue(2, options.policies());
        List<Scheduler> replicas = IntStream.range(0, 2)
                .mapToObj(i ->
                        new Scheduler(options, new KvBlockPool(10, 4, true), 20, 16, 0, 2, waitingQueue, i, s -> {}))
                .toList();
        waitingQueue.add(oneToken(10), 1);
        waitingQueue.add(oneToken(11), WaitingQueue.ANY);
        StepPlan unfinished = replicas.get(1).plan(replicas.get(1).newPlan(), 0, 0);
        waitingQueue.requeue(unfinished.sequence(0).newAttempt(), true);
        Sequence again =
                Objects.requireNonNull(waitingQueue.sequences(WaitingQueue.ANY).first());
        assertThat(waitingQueue.remove(again)).isTrue();
        StepPlan plan = replicas.get(0).plan(replicas.get(0).newPlan(), 1, 0);
        replicas.get(0).apply(plan, sample -> 7);
        assertThat(policy.seen)
                .containsExactly(
                        "arrived 10 on 1",
                        "arrived 11 on -1",
                        "replica 1 with blocks of 4 ranks",
                        "admitted 10 on 1",
                        "preempted 10 on 1",
                        "ended 10 on -1",
                        "replica 0 with blocks of 4 ranks",
                        "admitted 11 on 0",
                        "stepped 11 on 0",
                        "ended 11 on 0");
    }

    @Test
    void policies_are_notified_of_the_end_of_drained_requests() {
        Replicas policy = new Replicas();
        WaitingQueue waitingQueue = new WaitingQueue(
                1, SchedulerOptions.builder().admission(policy).build().policies());
        waitingQueue.add(oneToken(10), 0);
        waitingQueue.add(oneToken(11), WaitingQueue.ANY);
        assertThat(waitingQueue.drain()).extracting(Sequence::id).containsExactly(11L, 10L);
        assertThat(policy.seen)
                .containsExactly("arrived 10 on 0", "arrived 11 on -1", "ended 11 on -1", "ended 10 on 0");
    }

    @Test
    void requests_are_bound_to_a_scheduler_until_it_stops_and_after_it_is_reopened() {
        WaitingQueue waitingQueue =
                new WaitingQueue(1, SchedulerOptions.defaults().policies());
        assertThat(waitingQueue.unbindAll(0)).isEmpty();
        waitingQueue.add(oneToken(10), 0);
        assertThat(waitingQueue.sharedCount()).isOne();
        waitingQueue.reopen(0);
        waitingQueue.add(oneToken(11), 0);
        assertThat(waitingQueue.boundCount(0)).isOne();
    }

    @Test
    void prompt_tokens_to_compute_do_not_include_a_computed_prompt() {
        WaitingQueue waitingQueue =
                new WaitingQueue(1, SchedulerOptions.defaults().policies());
        waitingQueue.add(oneToken(10), WaitingQueue.ANY);
        waitingQueue.add(oneToken(11).setComputedPrompt(7), WaitingQueue.ANY);
        assertThat(waitingQueue.sharedPromptTokens()).isEqualTo(2);
        assertThat(waitingQueue.sharedPredictedTokens()).isEqualTo(6);
    }

    private Sequence oneToken(long id) {
        return new Sequence(id, this, new int[] {1, 2}, 3, SamplingParams.greedy(), 0, new int[0]);
    }
}
