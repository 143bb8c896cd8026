package io.roseinfer.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Comparator;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class ValueCountsTest {
    private static long[] values(int seed) {
        Random random = new Random(seed);
        int range = 1 + random.nextInt(300);
        return random.longs(random.nextInt(500), -range, range).toArray();
    }

    private static ValueCounts counts(long... values) {
        ValueCounts counts = new ValueCounts();
        LongStream.of(values).forEach(counts::add);
        return counts;
    }

    @Test
    void counts_are_those_of_a_map() {
        for (int seed = 0; seed < 100; seed++) {
            long[] values = values(seed);
            ValueCounts counts = counts(values);
            Map<Long, Integer> expected = new TreeMap<>();
            LongStream.of(values).forEach(value -> expected.merge(value, 1, Integer::sum));
            assertThat(counts.ascending())
                    .as("seed %d", seed)
                    .isEqualTo(expected.keySet().stream()
                            .mapToLong(Long::longValue)
                            .toArray());
            expected.forEach((value, count) -> assertThat(counts.count(value)).isEqualTo(count));
            assertThat(counts.count(1000)).isZero();
            assertThat(counts.size()).isEqualTo(values.length);
        }
    }

    @Test
    void equal_values_are_ranked_in_their_order() {
        for (int seed = 0; seed < 100; seed++) {
            long[] values = values(seed);
            ValueCounts.Ranks ranks = counts(values).ranks();
            int[] order = new int[values.length];
            for (int i = 0; i < values.length; i++) {
                order[ranks.next(values[i])] = i;
            }
            assertThat(order)
                    .as("seed %d", seed)
                    .isEqualTo(IntStream.range(0, values.length)
                            .boxed()
                            .sorted(Comparator.comparingLong(i -> values[i]))
                            .mapToInt(Integer::intValue)
                            .toArray());
        }
    }
}
