package io.roseinfer.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.Check;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PercentilesTest {
    private static final double[] SEVENTEEN = {
        2.404368, 3.6893, 4.639159, 5.07462, 8.25354, 8.26407, 11.085655, 11.459012, 13.372157, 16.048331, 16.291872,
        16.682553, 17.455237, 18.064935, 18.634406, 18.773322, 23.824037
    };

    /** {@code numpy.percentile(SEVENTEEN, p)}, NumPy 2.4.6, printed with repr. */
    @ParameterizedTest
    @CsvSource({
        "0, 2.404368",
        "1, 2.60995712",
        "25, 8.25354",
        "50, 13.372157",
        "75, 17.455237",
        "90, 18.6899724",
        "95, 19.783464999999996",
        "99, 23.0159226",
        "99.9, 23.74322556000001",
        "100, 23.824037"
    })
    void percentile_of_17_values_is_bit_identical_to_numpy(double percent, double expected) {
        assertThat(Percentiles.of(SEVENTEEN, percent)).isEqualTo(expected);
    }

    /** {@code numpy.percentile([(i * 7919 % 257) * 0.37 for i in range(256)], p)}, NumPy 2.4.6. */
    @ParameterizedTest
    @CsvSource({"50, 47.545", "95, 90.0025", "99, 93.7765"})
    void percentile_of_256_values_is_bit_identical_to_numpy(double percent, double expected) {
        double[] values = IntStream.range(0, 256)
                .mapToDouble(i -> (i * 7919 % 257) * 0.37)
                .sorted()
                .toArray();
        assertThat(Percentiles.of(values, percent)).isEqualTo(expected);
    }

    /** Computed by hand: positions 1.5 and 2.85 of 10, 20, 30, 40. */
    @ParameterizedTest
    @CsvSource({"50, 25", "95, 38.5"})
    void percentile_is_interpolated_between_the_closest_ranks(double percent, double expected) {
        assertThat(Percentiles.of(new double[] {10, 20, 30, 40}, percent)).isEqualTo(expected);
    }

    @Test
    void percentile_of_one_value_is_that_value() {
        assertThat(Percentiles.of(new double[] {7.25}, 99)).isEqualTo(7.25);
    }

    @Test
    void percentile_is_monotonic() {
        SplittableRandom random = new SplittableRandom(11);
        double[] sorted = random.doubles(97, -5, 5).sorted().toArray();
        double[] curve = IntStream.rangeClosed(0, 1000)
                .mapToDouble(i -> Percentiles.of(sorted, i / 10.0))
                .toArray();
        double[] ascending = curve.clone();
        Arrays.sort(ascending);
        assertThat(curve).isEqualTo(ascending);
    }

    @Test
    void percentile_of_an_empty_sample_fails_a_check() {
        assertThatThrownBy(() -> Percentiles.of(new double[0], 50)).isInstanceOf(Check.Failure.class);
    }
}
