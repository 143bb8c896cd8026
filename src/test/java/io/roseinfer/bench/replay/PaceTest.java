package io.roseinfer.bench.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PaceTest {
    /** Three recorded steps of work 100: from 0 to 100, from 200 to 600 and from 700 to 750. */
    private static Pace recorded() {
        return Pace.recorded(new long[] {0, 200, 700}, new long[] {100, 600, 750}, new double[] {100, 100, 100});
    }

    @Test
    void recorded_work_takes_its_recorded_time() {
        assertThat(recorded().endNanos(0, 100, 0)).isEqualTo(100);
        assertThat(recorded().endNanos(200, 100, 1)).isEqualTo(600);
        assertThat(recorded().endNanos(700, 100, 2)).isEqualTo(750);
    }

    @Test
    void work_across_intervals_runs_at_the_pace_of_each() {
        assertThat(recorded().endNanos(400, 50 + 100 + 50, 0)).isEqualTo(725);
        assertThat(recorded().endNanos(100, 120, 0)).isEqualTo(280);
    }

    @Test
    void recorded_pace_repeats_after_its_end() {
        assertThat(recorded().endNanos(751, 100, 0)).isEqualTo(751 + 100);
        assertThat(recorded().endNanos(751 + 200, 100, 0)).isEqualTo(751 + 600);
    }

    @Test
    void even_pace_takes_the_cost_of_the_work() {
        assertThat(Pace.EVEN.endNanos(5, 17, 0)).isEqualTo(22);
    }

    @Test
    void log_normal_pace_has_mean_one_and_the_given_deviation() {
        double sigma = 0.8;
        Pace pace = Pace.logNormal(sigma, 3);
        double[] factors = IntStream.range(0, 100_000)
                .mapToDouble(step -> pace.endNanos(0, 1e9, step) / 1e9)
                .toArray();
        double[] logs = Arrays.stream(factors).map(Math::log).toArray();
        double meanLog = Arrays.stream(logs).average().orElseThrow();
        double variance = Arrays.stream(logs)
                .map(log -> (log - meanLog) * (log - meanLog))
                .average()
                .orElseThrow();
        assertThat(Arrays.stream(factors).average().orElseThrow()).isCloseTo(1, within(0.02));
        assertThat(Math.sqrt(variance)).isCloseTo(sigma, within(0.01));
    }

    @Test
    void resampled_pace_keeps_the_mean_of_steps_of_like_cost() {
        int steps = 2000;
        double[] costs = new double[steps];
        double[] nanos = new double[steps];
        for (int i = 0; i < steps; i++) {
            boolean isPrompt = i % 20 == 0;
            costs[i] = (isPrompt ? 10e6 : 0.5e6) + i;
            nanos[i] = costs[i] * (isPrompt ? i % 3 == 0 ? 1.6 : 0.8 : i % 2 == 0 ? 1.1 : 0.9);
        }
        Pace pace = Pace.resampled(costs, nanos, 5);
        assertThat(mean(pace, 0.5e6)).isCloseTo(0.5e6, within(0.01e6));
        assertThat(mean(pace, 10e6)).isCloseTo(10e6 * (1.6 + 2 * 0.8) / 3, within(0.3e6));
    }

    private static double mean(Pace pace, double cost) {
        return IntStream.range(0, 10_000)
                .mapToDouble(step -> pace.endNanos(0, cost, step))
                .average()
                .orElseThrow();
    }
}
