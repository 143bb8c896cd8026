package io.roseinfer.base;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class MappedListTest {
    @Test
    void filtered_view_has_the_elements_that_satisfy_the_condition_in_their_order() {
        MappedList<Integer, String> view = new MappedList<>(List.of(5, 12, 7, 10), element -> "" + element);
        assertThat(view.filter(text -> text.length() == 2)).containsExactly("12", "10");
    }

    @Test
    void elements_of_a_filtered_view_are_created_on_every_access() {
        List<Object> view = new MappedList<>(List.of(1, 2), element -> new Object()).filter(element -> true);
        assertThat(view.getFirst()).isNotSameAs(view.getFirst());
    }
}
