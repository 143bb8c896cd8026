package io.roseinfer.bench.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class PairedRatioTest {
    private static final int PAIRS = 20;

    /** Runs of two arms in the order A B B A on a machine that drifts and is noisy. */
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
        return PairedRatio.of(a, b, seed);
    }

    @Test
    void equal_arms_are_called_equal_ninety_eight_times_in_a_hundred() {
        long even = LongStream.range(0, 400)
                .filter(seed -> experiment(1, 0.03, 0, seed).isEven())
                .count();
        assertThat(even).isBetween(384L, 398L);
    }

    @Test
    void a_drift_of_the_machine_is_not_taken_for_a_difference() {
        long even = LongStream.range(0, 100)
                .filter(seed -> experiment(1, 0.01, 0.02, seed).isEven())
                .count();
        assertThat(even).isGreaterThanOrEqualTo(95);
    }

    @Test
    void the_smallest_effect_is_found_four_times_in_five() {
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
}
