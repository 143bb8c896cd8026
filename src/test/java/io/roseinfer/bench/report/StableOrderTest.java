package io.roseinfer.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Comparator;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class StableOrderTest {
    @Test
    void equal_values_keep_their_order() {
        for (int seed = 0; seed < 100; seed++) {
            Random random = new Random(seed);
            int range = 1 + random.nextInt(40);
            long[] values = random.longs(random.nextInt(60), -range, range).toArray();
            int[] expected = IntStream.range(0, values.length)
                    .boxed()
                    .sorted(Comparator.comparingLong(i -> values[i]))
                    .mapToInt(Integer::intValue)
                    .toArray();
            assertThat(StableOrder.ascending(values)).as("seed %d", seed).isEqualTo(expected);
        }
    }
}
