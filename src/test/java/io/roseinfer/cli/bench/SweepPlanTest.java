package io.roseinfer.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests of {@code --vary}. */
class SweepPlanTest {
    @Test
    void first_flag_varies_slowest() {
        assertThat(SweepPlan.of(List.of("a=1,2", "--b=x,y")).settings())
                .containsExactly(
                        Map.of("a", "1", "b", "x"),
                        Map.of("a", "1", "b", "y"),
                        Map.of("a", "2", "b", "x"),
                        Map.of("a", "2", "b", "y"));
    }

    @Test
    void comma_after_a_backslash_belongs_to_the_value() {
        assertThat(SweepPlan.of(List.of("step-policy=default,P.java:8\\,64")).settings())
                .containsExactly(Map.of("step-policy", "default"), Map.of("step-policy", "P.java:8,64"));
    }
}
