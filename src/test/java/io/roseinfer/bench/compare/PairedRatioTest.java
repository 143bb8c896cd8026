package io.roseinfer.bench.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PairedRatioTest {
    private static final int PAIRS = 20;

    /** Runs of two arms in ABBA order on a machine with drift and noise. */
    private static PairedRatio experiment(double ratio, double noise, double drift, long seed) {
        Random random = new Random(seed);
        double[] a = new double[PAIRS];
        double[] b = new double[PAIRS];
        for (int run = 0; run < 2 * PAIRS; run++) {
            double value = 100 * Math.exp(noise * random.nextGaussian()) * (1 + drift * run);
            boolean first = (run % 4 == 0) || (run % 4 == 3);
            if (first) {
                a[run / 2] = value;
            } else {
                b[run / 2] = ratio * value;
            }
        }
        return PairedRatio.of(a, b);
    }

    @Test
    void equal_arms_are_equal_in_98_of_100_comparisons() {
        long even = LongStream.range(0, 400)
                .filter(seed -> experiment(1, 0.03, 0, seed).isEven())
                .count();
        assertThat(even).isBetween(384L, 398L);
    }

    @Test
    void machine_drift_is_not_reported_as_a_difference() {
        long even = LongStream.range(0, 100)
                .filter(seed -> experiment(1, 0.01, 0.02, seed).isEven())
                .count();
        assertThat(even).isGreaterThanOrEqualTo(95);
    }

    @Test
    void smallest_effect_is_detected_with_a_power_of_80_percent() {
        double effect = LongStream.range(0, 100)
                .mapToDouble(seed -> experiment(1, 0.03, 0, seed).smallestEffect())
                .average()
                .orElseThrow();
        long found = LongStream.range(0, 400)
                .filter(seed -> experiment(1 + effect, 0.03, 0, seed + 1000).low() > 1)
                .count();
        assertThat(found / 400.0).isCloseTo(0.8, within(0.08));
    }

    @Test
    void arms_without_noise_have_an_interval_of_one_point() {
        PairedRatio ratio = experiment(1.03, 0, 0, 1);
        assertThat(ratio.ratio()).isCloseTo(1.03, within(1e-9));
        assertThat(ratio.low()).isCloseTo(1.03, within(1e-9));
        assertThat(ratio.high()).isCloseTo(1.03, within(1e-9));
    }

    /** A machine's noise, one factor for each run in the order of the runs. */
    enum Noise {
        INDEPENDENT,
        AUTOREGRESSIVE,
        HALF_AUTOREGRESSIVE,
        ODD_RUNS,
        ODD_BY_FACTORS;

        double[] logs(int runs, Random random) {
            double[] logs = new double[runs];
            for (int run = 0; run < runs; run++) {
                double fresh = 0.03 * random.nextGaussian();
                logs[run] = switch (this) {
                    case INDEPENDENT -> fresh;
                    case AUTOREGRESSIVE -> run == 0 ? fresh : 0.9 * logs[run - 1] + Math.sqrt(1 - 0.81) * fresh;
                    case HALF_AUTOREGRESSIVE -> run == 0 ? fresh : 0.5 * logs[run - 1] + Math.sqrt(1 - 0.25) * fresh;
                    case ODD_RUNS -> fresh + (random.nextInt(20) == 0 ? Math.log(1.3) : 0);
                    case ODD_BY_FACTORS -> fresh + (random.nextInt(33) == 0 ? Math.log(5) : 0);
                };
            }
            return logs;
        }
    }

    private static PairedRatio experiment(Noise noise, int pairs, double ratio, long seed) {
        double[] logs = noise.logs(2 * pairs, new Random(seed));
        double[] a = new double[pairs];
        double[] b = new double[pairs];
        for (int pair = 0; pair < pairs; pair++) {
            int first = pair % 2;
            a[pair] = Math.exp(logs[2 * pair + first]);
            b[pair] = ratio * Math.exp(logs[2 * pair + 1 - first]);
        }
        return PairedRatio.of(a, b);
    }

    @ParameterizedTest
    @EnumSource(Noise.class)
    void at_most_two_in_a_hundred_comparisons_of_equal_arms_find_a_difference_and_every_width_is_bounded(Noise noise) {
        int experiments = 2000;
        for (int pairs : new int[] {10, 20, 40}) {
            int different = 0;
            double widest = 0;
            for (long seed = 0; seed < experiments; seed++) {
                PairedRatio ratio = experiment(noise, pairs, 1, seed);
                different += ratio.isEven() ? 0 : 1;
                widest = Math.max(widest, ratio.high() / ratio.low());
            }
            // 2 %, plus three standard deviations of the count.
            assertThat(different).as(noise + ", " + pairs + " pairs").isLessThanOrEqualTo(40 + 19);
            assertThat(widest).as(noise + ", " + pairs + " pairs").isLessThan(100);
        }
    }

    @Test
    void one_outlier_in_twenty_leaves_more_than_half_of_the_power() {
        long found = LongStream.range(0, 1000)
                .filter(seed -> experiment(Noise.ODD_RUNS, 20, 1.03, seed).low() > 1)
                .count();
        long foundWithout = LongStream.range(0, 1000)
                .filter(seed -> experiment(Noise.INDEPENDENT, 20, 1.03, seed).low() > 1)
                .count();
        assertThat(found).isGreaterThan(foundWithout / 2);
    }

    @Test
    void equal_ratios_that_differ_by_rounding_have_an_interval_of_that_size() {
        double[] a = new double[10];
        double[] b = new double[10];
        for (int i = 0; i < 10; i++) {
            a[i] = 2 + 0.1 * i;
            b[i] = 1.1 * a[i];
        }
        b[3] = 1.2 * a[3];
        PairedRatio ratio = PairedRatio.of(a, b);
        assertThat(ratio.low()).isCloseTo(1.1, within(1e-12));
        assertThat(ratio.high()).isBetween(1.1, 1.2);
        assertThat(ratio.smallestEffect()).isBetween(0.0, 0.2);
    }

    @Test
    void smallest_decrease_undoes_the_smallest_increase() {
        PairedRatio ratio = new PairedRatio(0.5355, 0.3873, 0.8538, 0.6958);
        assertThat((1 - ratio.smallestDecrease()) * (1 + ratio.smallestEffect()))
                .isCloseTo(1, within(1e-12));
    }

    @Test
    void rank_excludes_at_most_one_percent_of_rank_sums_on_each_side() {
        for (int blocks = PairedRatio.MIN_BLOCKS; blocks <= 30; blocks++) {
            double below = 0;
            double[] share = rankSums(blocks);
            for (int sum = 0; sum <= PairedRatio.rank(blocks); sum++) {
                below += share[sum];
            }
            assertThat(below).as(blocks + " blocks").isBetween(0.002, 0.01);
        }
    }

    /** Returns the distribution of the Mann-Whitney statistic for two samples of equal size, by its generating function. */
    private static double[] rankSums(int size) {
        double[] shares = new double[size * size + 1];
        shares[0] = 1;
        for (int i = 1; i <= size; i++) {
            for (int sum = shares.length - 1; sum >= size + i; sum--) {
                shares[sum] -= shares[sum - size - i];
            }
            for (int sum = i; sum < shares.length; sum++) {
                shares[sum] += shares[sum - i];
            }
            for (int sum = 0; sum < shares.length; sum++) {
                shares[sum] *= (double) i / (size + i);
            }
        }
        return shares;
    }
}
