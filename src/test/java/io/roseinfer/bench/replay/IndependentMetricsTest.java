package io.roseinfer.bench.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.load.Arrivals;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.load.RandomPrompts;
import io.roseinfer.bench.report.Objectives;
import io.roseinfer.bench.report.RunMetrics;
import io.roseinfer.scheduler.SchedulerOptions;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Compares the metrics of simulated runs with independent formulas. */
class IndependentMetricsTest {
    private static final int SETTINGS = 60;

    @Test
    void metrics_equal_an_independent_computation() {
        for (long seed = 0; seed < SETTINGS; seed++) {
            Random random = new Random(seed);
            OfferedLoad load = load(random, seed);
            int places = 1 + random.nextInt(12);
            int admitted = 1 + random.nextInt(8);
            long tokenNanos = 1000L * random.nextInt(200);
            LoadResult run = SimulatedRuns.server(
                            new StepTimes(CostTable.linear(2e6, (double) tokenNanos, 0), Pace.EVEN, HostTimes.NONE),
                            SchedulerOptions.builder()
                                    .maxBatchSize(12)
                                    .maxActiveRequests(places)
                                    .prefillMaxBatchSize(admitted)
                                    .prefixCache(false),
                            Integer.MAX_VALUE,
                            seed)
                    .run(load);
            List<List<Long>> tokens = run.calls().stream()
                    .map(call -> Arrays.stream(call.arrivals().nanos()).boxed().toList())
                    .toList();
            requireMetrics(run, load, tokens, seed);
        }
    }

    private static OfferedLoad load(Random random, long seed) {
        double rate = 5 + random.nextInt(200);
        double burstiness = random.nextBoolean() ? 1 : 0.25;
        return OfferedLoad.of(
                new RandomPrompts(20, 12, 0.9, 0, 256, seed).requests(100), new Arrivals(rate, burstiness, seed));
    }

    private static void requireMetrics(LoadResult run, OfferedLoad load, List<List<Long>> tokens, long seed) {
        int requests = tokens.size();
        double[] ttft = new double[requests];
        double[] latency = new double[requests];
        int good = 0;
        int generated = 0;
        long last = 0;
        for (int i = 0; i < requests; i++) {
            long due = load.requests().get(i).dueNanos();
            ttft[i] = (tokens.get(i).getFirst() - due) / 1e6;
            latency[i] = (tokens.get(i).getLast() - due) / 1e6;
            good += ttft[i] <= 20 && latency[i] <= 100 ? 1 : 0;
            generated += tokens.get(i).size();
            last = Math.max(last, tokens.get(i).getLast());
        }
        Map<String, Double> metrics = RunMetrics.of(run, Objectives.ofAll(Map.of("ttft", 20.0, "e2el", 100.0)));
        assertThat(metrics).as("seed " + seed).containsEntry("good_share", (double) good / requests);
        assertThat(metrics.get("median_ttft_ms")).isCloseTo(percentile(ttft, 0.5), within(1e-9));
        assertThat(metrics.get("p99_e2el_ms")).isCloseTo(percentile(latency, 0.99), within(1e-9));
        assertThat(metrics.get("output_throughput")).isCloseTo(generated / (last / 1e9), within(1e-6));
        assertThat(metrics.get("request_goodput")).isCloseTo(good / (last / 1e9), within(1e-6));
    }

    private static double percentile(double[] values, double share) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        double at = share * (sorted.length - 1);
        int below = (int) Math.floor(at);
        int above = Math.min(below + 1, sorted.length - 1);
        return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
    }
}
