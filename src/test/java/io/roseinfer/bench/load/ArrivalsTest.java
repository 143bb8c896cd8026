package io.roseinfer.bench.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.roseinfer.base.RoseException.BadInput;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Statistics of arrival times; seeds are fixed, so every run has the same values. */
class ArrivalsTest {
    private static final int MANY = 20_001;

    private static double[] gapSeconds(Arrivals arrivals) {
        long[] due = arrivals.dueNanos(MANY);
        return IntStream.range(1, due.length)
                .mapToDouble(i -> (due[i] - due[i - 1]) / 1e9)
                .toArray();
    }

    /** Returns the Kolmogorov-Smirnov statistic: the maximum distance of the distributions times the root of the sample size. */
    private static double distance(double[] sample, DoubleUnaryOperator distribution) {
        double[] sorted = sample.clone();
        Arrays.sort(sorted);
        double worst = 0;
        for (int i = 0; i < sorted.length; i++) {
            double expected = distribution.applyAsDouble(sorted[i]);
            worst = Math.max(
                    worst, Math.max(expected - (double) i / sorted.length, (i + 1.0) / sorted.length - expected));
        }
        return worst * Math.sqrt(sorted.length);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 2, 3, 4})
    void burstiness_1_is_a_poisson_process(long seed) {
        double[] gaps = gapSeconds(new Arrivals(250, 1, seed));
        assertThat(distance(gaps, x -> 1 - Math.exp(-250 * x)))
                .as("at the 0.1 % level")
                .isLessThan(1.95);
    }

    @ParameterizedTest
    @CsvSource({"0.25, 0", "0.5, 1", "2, 2", "8, 3"})
    void gaps_have_the_mean_and_the_variance_of_their_gamma_distribution(double burstiness, long seed) {
        double[] gaps = gapSeconds(new Arrivals(100, burstiness, seed));
        double mean = Arrays.stream(gaps).average().orElseThrow();
        double variance =
                Arrays.stream(gaps).map(x -> (x - mean) * (x - mean)).average().orElseThrow();
        assertThat(mean * 100).isCloseTo(1, within(5 / Math.sqrt(burstiness * MANY)));
        assertThat(variance * 1e4 * burstiness).isCloseTo(1, within(0.15));
    }

    /** A gamma variable of shape 2 is the sum of two exponential ones. */
    @ParameterizedTest
    @ValueSource(longs = {0, 1, 2})
    void gaps_of_shape_2_are_gamma_distributed(long seed) {
        double[] gaps = gapSeconds(new Arrivals(50, 2, seed));
        assertThat(distance(gaps, x -> 1 - (1 + 100 * x) * Math.exp(-100 * x))).isLessThan(1.95);
    }

    @Test
    void gaps_are_independent() {
        double[] gaps = gapSeconds(new Arrivals(1, 1, 5));
        double covariance = IntStream.range(1, gaps.length)
                .mapToDouble(i -> (gaps[i] - 1) * (gaps[i - 1] - 1))
                .average()
                .orElseThrow();
        assertThat(covariance).isCloseTo(0, within(4 / Math.sqrt(MANY)));
    }

    @Test
    void infinite_burstiness_gives_constant_gaps_without_drift() {
        long[] due = new Arrivals(3, Double.POSITIVE_INFINITY, 0).dueNanos(MANY);
        assertThat(IntStream.range(0, MANY)).allMatch(i -> due[i] == Math.round(i / 3.0 * 1e9));
    }

    @Test
    void infinite_rate_is_a_burst() {
        Arrivals burst = new Arrivals(Double.POSITIVE_INFINITY, 1, 0);
        assertThat(burst.dueNanos(100)).containsOnly(0);
        assertThat(burst.isBurst()).isTrue();
    }

    @Test
    void arrival_times_depend_only_on_the_seed() {
        long[] many = new Arrivals(10, 1, 7).dueNanos(1000);
        assertThat(new Arrivals(10, 1, 7).dueNanos(100)).isEqualTo(Arrays.copyOf(many, 100));
        assertThat(new Arrivals(10, 1, 8).dueNanos(100)).isNotEqualTo(Arrays.copyOf(many, 100));
    }

    /** Results of earlier versions were measured with these times. */
    @Test
    void arrival_times_of_a_seed_are_stable_across_versions() {
        assertThat(new Arrivals(100, 1, 0).dueNanos(4)).containsExactly(0, 7544153, 9671034, 28388494);
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "-1, 1", "NaN, 1", "1, 0", "1, NaN"})
    void nonpositive_rate_or_burstiness_is_rejected(double rate, double burstiness) {
        assertThatThrownBy(() -> new Arrivals(rate, burstiness, 0))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("it must be positive");
    }

    /** Returns the rate of requests i to j. */
    private static double rate(long[] due, int i, int j) {
        return (j - i) / ((due[j] - due[i]) / 1e9);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void ramp_starts_and_ends_at_its_rates(boolean exponential) {
        int requests = 10_001;
        long[] due = new Arrivals(
                        Double.POSITIVE_INFINITY,
                        Double.POSITIVE_INFINITY,
                        0,
                        Optional.of(new Ramp(10, 90, exponential)))
                .dueNanos(requests);
        assertThat(rate(due, 0, 20)).isCloseTo(10, within(0.5));
        assertThat(rate(due, requests - 101, requests - 1)).isCloseTo(90, within(1.0));
        double whole = exponential ? 10_000 * Math.log(9) / 80 : 200;
        assertThat(due[requests - 1] / 1e9).isCloseTo(whole, within(1e-3));
        double middle = exponential ? 30 : 50;
        int half = 0;
        while (due[half] / 1e9 < whole / 2) {
            half++;
        }
        assertThat(rate(due, half - 50, half + 50)).isCloseTo(middle, within(1.0));
    }

    /** The share of Poisson arrivals in the first half of the time equals the share of the ramp's area. */
    @Test
    void poisson_arrivals_follow_the_ramp() {
        int requests = 20_001;
        long[] due =
                new Arrivals(Double.POSITIVE_INFINITY, 1, 11, Optional.of(new Ramp(10, 90, false))).dueNanos(requests);
        double whole = 2.0 * (requests - 1) / 100;
        long firstHalf =
                Arrays.stream(due).filter(nanos -> nanos / 1e9 < whole / 2).count();
        assertThat(firstHalf / (double) requests).isCloseTo(0.3, within(0.015));
    }
}
