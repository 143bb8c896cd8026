package io.roseinfer.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SummaryTest {
    @Test
    void summary_accepts_unsorted_values() {
        double[] downFrom100 =
                IntStream.rangeClosed(0, 100).mapToDouble(i -> 100 - i).toArray();
        assertThat(Summary.of(downFrom100)).isEqualTo(new Summary(101, 50, 95, 99, 50, 100));
    }

    @Test
    void summary_does_not_modify_the_array() {
        double[] values = {3, 1, 2};
        Summary.of(values);
        assertThat(values).containsExactly(3, 1, 2);
    }

    @Test
    void summary_of_an_empty_sample_is_zero() {
        assertThat(Summary.of()).isEqualTo(new Summary(0, 0, 0, 0, 0, 0));
    }
}
