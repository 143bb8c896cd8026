package io.roseinfer.bench.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadInput;
import java.util.List;
import org.junit.jupiter.api.Test;

class PromptPlanTest {
    @Test
    void texts_list_of_repeats_cycles_over_requests() {
        assertThat(new PromptPlan("Hi", List.of(1, 3), false).texts(3)).containsExactly("Hi", "Hi Hi Hi", "Hi");
    }

    @Test
    void texts_unique_ends_in_the_requests_number() {
        assertThat(new PromptPlan("Hello", List.of(2), true).texts(2))
                .containsExactly("Hello Hello [0]", "Hello Hello [1]");
    }

    @Test
    void new_repeat_of_zero_is_refused() {
        assertThatThrownBy(() -> new PromptPlan("Hi", List.of(1, 0), false))
                .isInstanceOf(BadInput.class)
                .hasMessage("--prompt-repeats must contain positive integers, not [1, 0]");
    }

    @Test
    void new_repeats_that_make_gigabytes_are_refused_before_they_are_made() {
        assertThatThrownBy(() -> new PromptPlan("Hello", List.of(Integer.MAX_VALUE), false))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("--prompt-repeats makes a prompt of 12884901882 characters");
    }
}
