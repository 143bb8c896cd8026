package io.roseinfer.bench.replay;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class AgedCountTest {
    @Test
    void event_counts_from_the_moment_on_at_which_it_has_the_age() {
        AgedCount count = new AgedCount(5);
        count.add(10);
        count.add(11);
        assertThat(count.at(14)).isZero();
        assertThat(count.at(15)).isOne();
        assertThat(count.at(16)).isEqualTo(2);
    }

    @Test
    void event_without_an_age_counts_at_once() {
        AgedCount count = new AgedCount(0);
        count.add(10);
        assertThat(count.at(10)).isOne();
    }
}
