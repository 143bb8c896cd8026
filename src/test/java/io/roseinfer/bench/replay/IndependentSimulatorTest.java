package io.roseinfer.bench.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.load.Arrivals;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.load.RandomPrompts;
import io.roseinfer.bench.report.Figures;
import io.roseinfer.scheduler.SchedulerOptions;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The simulated server and the figures of its runs against a simulator and formulas that share no code with them. */
class IndependentSimulatorTest {
    private static final int SETTINGS = 60;

    /**
     * Steps that admit waiting prompts, first in, first out, while places are free, alternate with steps that decode a token for every active
     * request.
     *
     * @return times of all tokens of each request
     */
    private static List<List<Long>> simulate(
            OfferedLoad load, int places, int admittedAtOnce, long stepNanos, long tokenNanos) {
        List<List<Long>> tokens = new ArrayList<>();
        load.requests().forEach(request -> tokens.add(new ArrayList<>()));
        Deque<Integer> waiting = new ArrayDeque<>();
        List<Integer> active = new ArrayList<>();
        long now = 0;
        int arrived = 0;
        boolean admitted = false;
        while (arrived < tokens.size() || !waiting.isEmpty() || !active.isEmpty()) {
            if (waiting.isEmpty() && active.isEmpty()) {
                now = Math.max(now, load.requests().get(arrived).dueNanos());
            }
            while (arrived < tokens.size() && load.requests().get(arrived).dueNanos() <= now) {
                waiting.add(arrived++);
            }
            List<Integer> step = new ArrayList<>();
            long computed = 0;
            boolean mayAdmit = !admitted || active.isEmpty();
            while (mayAdmit && !waiting.isEmpty() && active.size() < places && step.size() < admittedAtOnce) {
                computed += load.requests().get(waiting.getFirst()).promptTokens();
                step.add(waiting.getFirst());
                active.add(waiting.removeFirst());
            }
            admitted = !step.isEmpty();
            if (!admitted) {
                step = List.copyOf(active);
                computed = step.size();
            }
            now += stepNanos + tokenNanos * computed;
            for (int request : step) {
                tokens.get(request).add(now);
                if (tokens.get(request).size() == load.requests().get(request).outputTokens()) {
                    active.remove((Integer) request);
                }
            }
        }
        return tokens;
    }

    @Test
    void every_token_is_there_to_the_nanosecond_when_another_simulator_has_it() {
        for (long seed = 0; seed < SETTINGS; seed++) {
            Random random = new Random(seed);
            OfferedLoad load = load(random, seed);
            int places = 1 + random.nextInt(12);
            int admitted = 1 + random.nextInt(8);
            long tokenNanos = 1000L * random.nextInt(200);
            LoadResult run = SimulatedRuns.server(
                            new StepTimes(CostTable.linear(2e6, tokenNanos, 0), Pace.EVEN, HostTimes.NONE),
                            SchedulerOptions.builder()
                                    .maxBatchSize(12)
                                    .maxActiveRequests(places)
                                    .prefillMaxBatchSize(admitted)
                                    .prefixCache(false),
                            Integer.MAX_VALUE,
                            seed)
                    .run(load);
            List<List<Long>> expected = simulate(load, places, admitted, 2_000_000, tokenNanos);
            assertThat(run.calls().stream().map(call -> call.arrivals().nanos()).toList())
                    .as("seed " + seed)
                    .isEqualTo(expected);
            requireFigures(run, load, expected, seed);
        }
    }

    private static OfferedLoad load(Random random, long seed) {
        double rate = 5 + random.nextInt(200);
        double burstiness = random.nextBoolean() ? 1 : 0.25;
        return OfferedLoad.of(
                new RandomPrompts(20, 12, 0.9, 0, 256, seed).requests(100), new Arrivals(rate, burstiness, seed));
    }

    private static void requireFigures(LoadResult run, OfferedLoad load, List<List<Long>> tokens, long seed) {
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
        Map<String, Double> figures = Figures.of(run, Map.of("ttft", 20.0, "e2el", 100.0));
        assertThat(figures).as("seed " + seed).containsEntry("good_share", (double) good / requests);
        assertThat(figures.get("median_ttft_ms")).isCloseTo(percentile(ttft, 0.5), within(1e-9));
        assertThat(figures.get("p99_e2el_ms")).isCloseTo(percentile(latency, 0.99), within(1e-9));
        assertThat(figures.get("output_throughput")).isCloseTo(generated / (last / 1e9), within(1e-6));
        assertThat(figures.get("request_goodput")).isCloseTo(good / (last / 1e9), within(1e-6));
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
