package io.roseinfer.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class DistributionTest {
    /** Returns up to 200 values, of which many are equal. */
    private static double[] values(int seed) {
        Random random = new Random(seed);
        int different = 1 + random.nextInt(100);
        return random.ints(random.nextInt(200), 0, different)
                .mapToDouble(i -> Math.sqrt(i) - 3)
                .toArray();
    }

    private static Distribution counted(double... values) {
        ValueCounts counts = new ValueCounts();
        for (double value : values) {
            counts.add(Double.doubleToLongBits(value));
        }
        return Distribution.ofBits(counts);
    }

    @Test
    void counted_values_have_the_summary_of_the_values() {
        for (int seed = 0; seed < 200; seed++) {
            double[] values = values(seed);
            assertThat(Summary.of(counted(values))).as("seed %d", seed).isEqualTo(Summary.of(values));
        }
    }

    @Test
    void mean_and_deviation_are_those_of_a_stream_of_the_sorted_values() {
        for (int seed = 0; seed < 200; seed++) {
            double[] sorted = Arrays.stream(values(seed)).sorted().toArray();
            double mean = Arrays.stream(sorted).average().orElse(0);
            double square = Arrays.stream(sorted)
                    .map(x -> (x - mean) * (x - mean))
                    .average()
                    .orElse(0);
            for (Distribution each : new Distribution[] {Distribution.of(sorted), counted(sorted)}) {
                assertThat(each.mean()).as("seed %d", seed).isEqualTo(mean);
                assertThat(each.deviation()).as("seed %d", seed).isEqualTo(Math.sqrt(square));
            }
        }
    }

    @Test
    void values_are_not_modified() {
        double[] values = {3, 1, 2};
        assertThat(Distribution.of(values).max()).isEqualTo(3);
        assertThat(values).containsExactly(3, 1, 2);
    }
}
