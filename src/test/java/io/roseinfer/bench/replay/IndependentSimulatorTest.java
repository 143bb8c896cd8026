package io.roseinfer.bench.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.load.OfferedRequest;
import io.roseinfer.scheduler.SchedulerOptions;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Compares the simulated server with an independent simulator of first-come first-served continuous batching. */
class IndependentSimulatorTest {
    private static final long STEP = 1_000_000;
    private static final long TOKEN = 50_000;
    private static final long ATTENDED = 100;
    private static final int SEEDS = 200;

    /** The settings of both simulators. */
    private record Setting(boolean chunked, int batch, int prefillBatch, int budget, int active) {
        static Setting drawn(Random random) {
            int batch = 1 + random.nextInt(8);
            boolean chunked = random.nextBoolean();
            int budget = random.nextInt(3) == 0 ? 1 << 20 : 20 + random.nextInt(150);
            return new Setting(chunked, batch, 1 + random.nextInt(batch), budget, 1 + random.nextInt(12));
        }

        SchedulerOptions.Builder options() {
            return SchedulerOptions.builder()
                    .prefixCache(false)
                    .chunkedPrefill(chunked)
                    .maxBatchSize(batch)
                    .prefillMaxBatchSize(prefillBatch)
                    .prefillMaxTokens(budget)
                    .maxActiveRequests(active);
        }
    }

    /** A request of the second simulator. */
    private static final class Job {
        final OfferedRequest asked;
        final List<Long> tokens = new ArrayList<>();
        long admitted = -1;
        int computed;

        Job(OfferedRequest asked) {
            this.asked = asked;
        }

        int left() {
            return asked.promptTokens() - computed;
        }
    }

    /** The second simulator: decode and prefill steps alternate, or are mixed with chunked prefill. */
    private static List<Job> simulate(List<OfferedRequest> requests, Setting setting) {
        List<Job> jobs = requests.stream().map(Job::new).toList();
        Deque<Job> coming = new ArrayDeque<>(jobs);
        Deque<Job> waiting = new ArrayDeque<>();
        List<Job> prefilling = new ArrayList<>();
        Deque<Job> decoding = new ArrayDeque<>();
        boolean prefillNext = true;
        long now = 0;
        while (!coming.isEmpty() || !waiting.isEmpty() || !prefilling.isEmpty() || !decoding.isEmpty()) {
            if (waiting.isEmpty() && prefilling.isEmpty() && decoding.isEmpty()) {
                now = Math.max(now, coming.getFirst().asked.dueNanos());
            }
            while (!coming.isEmpty() && coming.getFirst().asked.dueNanos() <= now) {
                waiting.add(coming.remove());
            }
            long attended = 0;
            int tokens = 0;
            List<Job> yields = new ArrayList<>();
            int open = setting.active() - prefilling.size() - decoding.size();
            boolean prefillsAlone =
                    !setting.chunked() && !waiting.isEmpty() && open > 0 && (prefillNext || decoding.isEmpty());
            for (int i = Math.min(decoding.size(), setting.batch()); !prefillsAlone && i > 0; i--) {
                Job job = decoding.remove();
                decoding.add(job);
                yields.add(job);
                attended += ++job.computed;
                tokens++;
            }
            int budget = setting.chunked() ? Math.max(1, setting.budget() - tokens) : setting.budget();
            boolean prefills = setting.chunked() || prefillsAlone;
            List<Job> rows =
                    new ArrayList<>(prefilling.subList(0, Math.min(prefilling.size(), setting.prefillBatch())));
            while (prefills && rows.size() < setting.prefillBatch() && open > 0 && !waiting.isEmpty()) {
                int before = rows.stream().mapToInt(Job::left).sum();
                boolean fits = setting.chunked()
                        ? before < budget
                        : before < budget
                                && (rows.isEmpty()
                                        || before + waiting.getFirst().left() <= budget);
                if (!fits) {
                    break;
                }
                Job job = waiting.remove();
                job.admitted = now;
                prefilling.add(job);
                rows.add(job);
                open--;
            }
            for (Job job : rows) {
                int count = setting.chunked() ? Math.min(budget, job.left()) : job.left();
                for (int i = 0; i < count; i++) {
                    attended += ++job.computed;
                }
                budget -= count;
                tokens += count;
                if (count > 0 && job.left() == 0) {
                    prefilling.remove(job);
                    decoding.add(job);
                    yields.add(job);
                }
            }
            prefillNext = !prefillsAlone;
            now += STEP + TOKEN * tokens + ATTENDED * attended;
            for (Job job : yields) {
                job.tokens.add(now);
            }
            decoding.removeIf(job -> job.tokens.size() == job.asked.outputTokens());
        }
        return jobs;
    }

    @Test
    void admissions_and_tokens_match_an_independent_simulator() {
        for (long seed = 0; seed < SEEDS; seed++) {
            Random random = new Random(seed);
            Setting setting = Setting.drawn(random);
            OfferedLoad load = SimulatedRuns.load(40, 20 + random.nextInt(400), seed);
            LoadResult run = SimulatedRuns.server(
                            new StepTimes(CostTable.linear(STEP, TOKEN, ATTENDED), Pace.EVEN, HostTimes.NONE),
                            setting.options(),
                            Integer.MAX_VALUE,
                            seed)
                    .run(load);
            List<Job> expected = simulate(load.requests(), setting);
            for (CallResult call : run.calls()) {
                Job job = expected.get(call.id());
                var stamps = call.server().orElseThrow();
                assertThat(stamps.tokenNanos())
                        .as("seed %d, %s, tokens of request %d", seed, setting, call.id())
                        .containsExactly(job.tokens.toArray(Long[]::new));
                assertThat(stamps.admittedNanos())
                        .as("seed %d, %s, admission of request %d", seed, setting, call.id())
                        .isEqualTo(job.admitted);
            }
        }
    }
}
