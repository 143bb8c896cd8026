package io.roseinfer.batch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RetriesTest {
    private final List<String> restarted = new ArrayList<>();
    private final Retries<String> retries = new Retries<>(restarted::add);

    @Test
    void lines_are_retried_one_at_a_time() {
        retries.add("a");
        retries.add("b");
        retries.settled("b");
        assertThat(restarted).containsExactly("a");
        retries.settled("a");
        assertThat(restarted).containsExactly("a", "b");
    }

    @Test
    void line_that_fails_again_is_retried_after_those_that_wait() {
        retries.add("a");
        retries.add("b");
        retries.add("a");
        assertThat(restarted).containsExactly("a", "b");
        retries.settled("b");
        assertThat(restarted).containsExactly("a", "b", "a");
    }

    @Test
    void removed_line_is_not_retried_and_the_next_one_starts() {
        retries.add("a");
        retries.add("b");
        retries.add("c");
        retries.remove("b");
        retries.remove("a");
        assertThat(restarted).containsExactly("a", "c");
    }
}
