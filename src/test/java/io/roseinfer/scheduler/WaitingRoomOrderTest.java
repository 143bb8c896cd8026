package io.roseinfer.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.QueueView;
import io.roseinfer.scheduler.policy.WaitingRequest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Schedulers that share a waiting room, compared with a list of requests in the order of arrival. */
class WaitingRoomOrderTest {
    private static final int SEEDS = 200;
    private static final int EVENTS = 150;
    private static final int SCHEDULERS = 3;

    /** Ranks all alike, so that the oldest comes first, and records which it is shown. */
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

    /** One seed's schedulers, and the requests that must be waiting. */
    private static final class Story {
        private final Random random;
        private final WaitingRoom room = new WaitingRoom(SCHEDULERS);
        private final Recording policy;
        private final SchedulerOptions options;
        private final List<Scheduler> schedulers;
        private final List<Sequence> waiting = new ArrayList<>();
        private final List<Sequence> admitted = new ArrayList<>();
        private final List<List<Sequence>> running = IntStream.range(0, SCHEDULERS)
                .mapToObj(i -> (List<Sequence>) new ArrayList<Sequence>())
                .toList();
        private final boolean[] hasLeft = new boolean[SCHEDULERS];
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
                    .mapToObj(i -> new Scheduler(options, new KvBlockPool(500, 4, false), 500, room, i, admitted::add))
                    .toList();
        }

        void play() {
            for (int event = 0; event < EVENTS; event++) {
                int scheduler = random.nextInt(SCHEDULERS);
                switch (random.nextInt(12)) {
                    case 0, 1, 2, 3, 4 -> add(random.nextInt(-1, SCHEDULERS));
                    case 5 -> end();
                    case 6 -> leave(scheduler);
                    default -> step(scheduler, random.nextInt(4));
                }
                checkRoom();
            }
        }

        private void add(int scheduler) {
            Sequence sequence = new Sequence(
                    arrivals++, this, new int[] {1, 2}, 3 + random.nextInt(3), SamplingParams.greedy(), 0, new int[0]);
            room.add(sequence, scheduler);
            boolean isBound = scheduler != WaitingRoom.ANY && !hasLeft[scheduler];
            assertThat(sequence.scheduler()).isEqualTo(isBound ? scheduler : WaitingRoom.ANY);
            waiting.add(sequence);
        }

        private void end() {
            if (!waiting.isEmpty()) {
                assertThat(room.remove(waiting.remove(random.nextInt(waiting.size()))))
                        .isTrue();
            }
        }

        /** Once at most; what the scheduler has admitted waits again. */
        private void leave(int scheduler) {
            if (scheduler == 0 || hasLeft[scheduler]) {
                return;
            }
            hasLeft[scheduler] = true;
            List<Sequence> own =
                    waiting.stream().filter(s -> s.scheduler() == scheduler).toList();
            assertThat(room.leave(scheduler)).isEqualTo(own);
            for (Sequence sequence : running.get(scheduler)) {
                if (sequence.finishReason().isEmpty()) {
                    Sequence again = sequence.again();
                    room.addAgain(again);
                    waiting.add(again);
                }
            }
            waiting.sort(Comparator.comparingLong(Sequence::arrival));
        }

        private void step(int number, int maxShared) {
            if (hasLeft[number]) {
                return;
            }
            Scheduler scheduler = schedulers.get(number);
            List<Sequence> window = waiting.stream()
                    .filter(s -> s.scheduler() == number || (s.scheduler() == WaitingRoom.ANY && maxShared > 0))
                    .limit(Math.max(policy.lookahead, options.prefillMaxBatchSize()))
                    .toList();
            List<Sequence> expected = admissible(window, maxShared, scheduler.active());
            policy.shown.clear();
            admitted.clear();
            StepPlan plan = scheduler.plan(scheduler.newPlan(), maxShared);
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
                boolean isShared = sequence.scheduler() == WaitingRoom.ANY;
                if (expected.size() < options.prefillMaxBatchSize()
                        && active + expected.size() < options.maxActiveRequests()
                        && (!isShared || shared < maxShared)) {
                    expected.add(sequence);
                    shared += isShared ? 1 : 0;
                }
            }
            return expected;
        }

        private void checkRoom() {
            for (int scheduler = WaitingRoom.ANY; scheduler < SCHEDULERS; scheduler++) {
                int number = scheduler;
                List<Sequence> listed = new ArrayList<>();
                for (Sequence s = room.waiting(number).first(); s != null; s = s.next) {
                    listed.add(s);
                }
                assertThat(listed)
                        .isEqualTo(waiting.stream()
                                .filter(s -> s.scheduler() == number)
                                .toList());
                assertThat(number == WaitingRoom.ANY ? room.shared() : room.bound(number))
                        .isEqualTo(listed.size());
            }
        }
    }

    /** Whatever schedulers admit, leave and give back, and whatever callers end. */
    @Test
    void each_scheduler_is_shown_and_admits_the_oldest_requests_that_it_may() {
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

    /** The newest first, so that each admission passes over all others. */
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
    void requests_passed_over_as_often_as_may_be_are_admitted_beyond_the_share() {
        WaitingRoom room = new WaitingRoom(1);
        List<Long> admitted = new ArrayList<>();
        SchedulerOptions options =
                SchedulerOptions.builder().admission(new NewestFirst()).build();
        Scheduler scheduler = new Scheduler(
                options, new KvBlockPool(1000, 4, false), 500, room, 0, sequence -> admitted.add(sequence.id()));
        long arrivals = 0;
        for (int old = 0; old < 3; old++) {
            room.add(oneToken(arrivals++), WaitingRoom.ANY);
        }
        for (int pass = 0; pass < AdmissionPolicy.MAX_PASSES; pass++) {
            room.add(oneToken(arrivals++), WaitingRoom.ANY);
            StepPlan plan = scheduler.plan(scheduler.newPlan(), 1);
            scheduler.apply(plan, sample -> 7);
        }
        assertThat(admitted).hasSize(AdmissionPolicy.MAX_PASSES).doesNotContain(0L, 1L, 2L);
        admitted.clear();
        room.add(oneToken(arrivals), WaitingRoom.ANY);
        assertThat(scheduler.plan(scheduler.newPlan(), 1).rows()).isEqualTo(3);
        assertThat(scheduler.total(Fact.FORCED_ADMISSIONS)).isEqualTo(3);
        assertThat(admitted).containsExactly(0L, 1L, 2L);
    }

    private Sequence oneToken(long id) {
        return new Sequence(id, this, new int[] {1, 2}, 3, SamplingParams.greedy(), 0, new int[0]);
    }
}
