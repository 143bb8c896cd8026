package io.roseinfer.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SummaryTest {
    @Test
    void of_unsorted_values_summarizes_them() {
        double[] downFrom100 =
                IntStream.rangeClosed(0, 100).mapToDouble(i -> 100 - i).toArray();
        assertThat(Summary.of(downFrom100)).isEqualTo(new Summary(101, 50, 95, 99, 50, 100));
    }

    @Test
    void of_values_leaves_the_array_as_it_is() {
        double[] values = {3, 1, 2};
        Summary.of(values);
        assertThat(values).containsExactly(3, 1, 2);
    }

    @Test
    void of_nothing_counts_nothing() {
        assertThat(Summary.of()).isEqualTo(new Summary(0, 0, 0, 0, 0, 0));
    }
}
