package io.roseinfer.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.SplitMix64;
import io.roseinfer.example.ShortestJobFirst;
import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.QueueView;
import io.roseinfer.scheduler.policy.WaitingRequest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** No request starves under any policy, while short requests keep arriving and blocks are scarce. */
class FairnessTest {
    private static final int STEPS = 3000;

    /** Admits the newest request first: the most unfair order. */
    private record NewestFirst(boolean strict) implements AdmissionPolicy {
        @Override
        public int lookahead() {
            return Integer.MAX_VALUE;
        }

        @Override
        public long rank(WaitingRequest request, QueueView queue) {
            return Long.MIN_VALUE + 1_000_000 - request.id();
        }

        @Override
        public boolean isStrict(QueueView queue) {
            return strict;
        }
    }

    /** Ranks at random, as a faulty policy might. */
    private record AnyOrder(boolean strict) implements AdmissionPolicy {
        @Override
        public int lookahead() {
            return 5;
        }

        @Override
        public long rank(WaitingRequest request, QueueView queue) {
            return SplitMix64.at(request.id(), queue.iteration());
        }

        @Override
        public boolean isStrict(QueueView queue) {
            return strict && queue.iteration() % 3 == 0;
        }
    }

    record Setup(AdmissionPolicy policy, boolean chunkedPrefill, boolean prefixCache) {}

    static Stream<Setup> setups() {
        List<AdmissionPolicy> policies = List.of(
                AdmissionPolicy.fifo(),
                AdmissionPolicy.pack(8, 0),
                AdmissionPolicy.pack(8, 2),
                AdmissionPolicy.pack(64, 8),
                new ShortestJobFirst(),
                new NewestFirst(false),
                new NewestFirst(true),
                new AnyOrder(false),
                new AnyOrder(true));
        return policies.stream()
                .flatMap(policy -> Stream.of(
                        new Setup(policy, false, false),
                        new Setup(policy, true, false),
                        new Setup(policy, false, true),
                        new Setup(policy, true, true)));
    }

    /** A scheduler under endless load, with the number of skips of each request. */
    private static final class Load {
        private final KvBlockPool pool;
        private final Scheduler scheduler;
        private final Random random;
        private final List<Sequence> waiting = new ArrayList<>();
        private final Map<Sequence, Integer> skips = new HashMap<>();
        private long nextId;

        Load(Setup setup, int blocks, long seed) {
            random = new Random(seed);
            pool = new KvBlockPool(blocks, 16, setup.prefixCache());
            SchedulerOptions options = SchedulerOptions.builder()
                    .maxBatchSize(8)
                    .prefillMaxTokens(256)
                    .admission(setup.policy())
                    .chunkedPrefill(setup.chunkedPrefill())
                    .prefixCache(setup.prefixCache())
                    .build();
            scheduler = new Scheduler(options, pool, 1200);
        }

        Sequence add(int promptLength, int maxNewTokens) {
            int[] prompt = new int[promptLength];
            Arrays.fill(prompt, random.nextInt(3));
            prompt[random.nextInt(promptLength)] = random.nextInt(1000);
            Sequence sequence = new Sequence(
                    nextId++, this, prompt, prompt.length + maxNewTokens, SamplingParams.greedy(), 0, new int[0]);
            scheduler.add(sequence);
            waiting.add(sequence);
            return sequence;
        }

        /** Runs one step and counts a skip for each request left waiting while a later one was admitted. */
        void step() {
            StepPlan plan = scheduler.plan(scheduler.newPlan());
            int newest = -1;
            for (int i = 0; i < waiting.size(); i++) {
                newest = waiting.get(i).isWaiting() ? newest : i;
            }
            for (int i = 0; i < newest; i++) {
                if (waiting.get(i).isWaiting()) {
                    skips.merge(waiting.get(i), 1, Integer::sum);
                }
            }
            waiting.removeIf(sequence -> !sequence.isWaiting());
            if (!plan.isEmpty()) {
                scheduler.apply(plan, sample -> 1);
            }
            Optional<Sequence> ended = scheduler.pollFinished();
            while (ended.isPresent()) {
                ended = scheduler.pollFinished();
            }
        }

        long forcedAdmissions() {
            return scheduler.total(Fact.FORCED_ADMISSIONS);
        }

        long admittedAtSkipLimit() {
            return skips.entrySet().stream()
                    .filter(entry ->
                            entry.getValue() == AdmissionPolicy.MAX_PASSES && !waiting.contains(entry.getKey()))
                    .count();
        }

        int maxPasses() {
            return skips.values().stream().mapToInt(Integer::intValue).max().orElse(0);
        }
    }

    @ParameterizedTest
    @MethodSource("setups")
    void request_is_skipped_at_most_64_times(Setup setup) {
        long seed = new Random().nextLong();
        Load load = new Load(setup, 64, seed);
        for (int step = 0; step < STEPS; step++) {
            if (step % 500 == 300) {
                load.add(640 + load.random.nextInt(200), 1 + load.random.nextInt(100));
            }
            while (load.scheduler.waiting() < 16) {
                load.add(1 + load.random.nextInt(40), 1 + load.random.nextInt(64));
            }
            load.step();
        }
        assertThat(load.maxPasses()).as("seed %d", seed).isLessThanOrEqualTo(AdmissionPolicy.MAX_PASSES);
        assertThat(load.forcedAdmissions()).as("seed %d", seed).isEqualTo(load.admittedAtSkipLimit());
    }

    @Test
    void endless_load_forces_admissions_with_newest_first_but_not_in_arrival_order() {
        for (AdmissionPolicy policy : List.of(new NewestFirst(false), AdmissionPolicy.fifo())) {
            Load load = new Load(new Setup(policy, false, false), 64, 7);
            for (int step = 0; step < STEPS; step++) {
                keepBusy(load);
            }
            assertThat(load.forcedAdmissions() > 0).as("%s", policy).isEqualTo(policy instanceof NewestFirst);
        }
    }

    @ParameterizedTest
    @MethodSource("setups")
    void long_prompt_is_admitted_while_short_ones_keep_arriving(Setup setup) {
        long seed = new Random().nextLong();
        Load load = new Load(setup, 64, seed);
        for (int step = 0; step < 200; step++) {
            keepBusy(load);
        }
        Sequence longPrompt = load.add(640, 16);
        int steps = 0;
        while (longPrompt.isWaiting()) {
            keepBusy(load);
            assertThat(steps++).as("steps, seed %d", seed).isLessThan(1000);
        }
    }

    private static void keepBusy(Load load) {
        while (load.scheduler.waiting() < 16) {
            load.add(32, 1 + load.random.nextInt(64));
        }
        load.step();
    }

    @Test
    void forced_fifo_iteration_lasts_until_the_oldest_is_admitted() {
        Load load = new Load(new Setup(AdmissionPolicy.pack(64, 8), false, false), 64, 1);
        for (int step = 0; step < 200; step++) {
            keepBusy(load);
        }
        while (load.scheduler.waiting() > 0) {
            load.step();
        }
        Sequence oldest = load.add(640, 16);
        while (oldest.isWaiting()) {
            keepBusy(load);
        }
        assertThat(load.skips.getOrDefault(oldest, 0)).isLessThan(8);
    }

    /** Strict every third iteration; records its arguments. */
    private static final class EveryThird implements AdmissionPolicy {
        private long iteration;
        private boolean strict;
        private boolean asked;

        @Override
        public int lookahead() {
            return 16;
        }

        @Override
        public long rank(WaitingRequest request, QueueView queue) {
            return 0;
        }

        @Override
        public boolean isStrict(QueueView queue) {
            asked = true;
            iteration = queue.iteration();
            strict = iteration % 3 == 0;
            return strict;
        }
    }

    /**
     * Blocks are so scarce that preempted requests take the capacity that a strict iteration could give to the first
     * new one.
     */
    @Test
    void strict_iteration_keeps_its_number_until_it_admits_a_new_request() {
        EveryThird policy = new EveryThird();
        Load load = new Load(new Setup(policy, false, false), 20, 3);
        long held = -1;
        int restartsOnly = 0;
        for (int step = 0; step < STEPS; step++) {
            while (load.waiting.size() < 4) {
                load.add(1 + load.random.nextInt(40), 1 + load.random.nextInt(100));
            }
            long before = policy.iteration;
            int neverRan = load.waiting.size();
            boolean restarts = load.scheduler.restarting() > 0;
            policy.asked = false;
            load.step();
            if (policy.asked) {
                assertThat(policy.iteration).as("step %d", step).isEqualTo(held >= 0 ? held : before + 1);
                boolean lasts = policy.strict && load.waiting.size() == neverRan && load.scheduler.waiting() > 0;
                held = lasts ? policy.iteration : -1;
                restartsOnly += lasts && restarts ? 1 : 0;
            }
        }
        assertThat(restartsOnly).as("strict iterations with restarts").isPositive();
    }
}
