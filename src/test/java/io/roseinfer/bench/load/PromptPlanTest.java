package io.roseinfer.bench.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadInput;
import java.util.List;
import org.junit.jupiter.api.Test;

class PromptPlanTest {
    @Test
    void texts_listOfRepeats_cyclesOverRequests() {
        assertThat(new PromptPlan("Hi", List.of(1, 3), false).texts(3)).containsExactly("Hi", "Hi Hi Hi", "Hi");
    }

    @Test
    void texts_unique_endsInTheRequestsNumber() {
        assertThat(new PromptPlan("Hello", List.of(2), true).texts(2))
                .containsExactly("Hello Hello [0]", "Hello Hello [1]");
    }

    @Test
    void new_repeatOfZero_isRefused() {
        assertThatThrownBy(() -> new PromptPlan("Hi", List.of(1, 0), false))
                .isInstanceOf(BadInput.class)
                .hasMessage("--prompt-repeats must contain positive integers, not [1, 0]");
    }

    @Test
    void new_repeatsThatMakeGigabytes_areRefusedBeforeTheyAreMade() {
        assertThatThrownBy(() -> new PromptPlan("Hello", List.of(Integer.MAX_VALUE), false))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("--prompt-repeats makes a prompt of 12884901882 characters");
    }
}
