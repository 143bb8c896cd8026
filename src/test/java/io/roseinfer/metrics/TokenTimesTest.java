package io.roseinfer.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TokenTimesTest {
    @Test
    void time_to_first_token_is_measured_from_the_given_start() {
        assertThat(TokenTimes.oneByOne(250, 300).ttftNanos(100)).hasValue(150);
        assertThat(TokenTimes.oneByOne().ttftNanos(100)).isEmpty();
    }

    @Test
    void time_per_output_token_excludes_the_first_token() {
        assertThat(TokenTimes.oneByOne(250, 300, 420).tpotNanos()).hasValue(85);
        assertThat(TokenTimes.oneByOne(250).tpotNanos()).isEmpty();
    }

    @Test
    void tokens_of_one_event_share_the_gap_before_it() {
        TokenTimes times = new TokenTimes(new long[] {100, 160, 190}, new int[] {3, 2, 1}, 6);
        assertThat(times.itlNanos()).containsExactly(30, 30, 30);
        assertThat(times.tpotNanos()).hasValue(18);
    }

    @Test
    void events_with_only_a_total_have_no_itl_and_share_the_tokens_evenly() {
        TokenTimes times = new TokenTimes(new long[] {100, 160, 190}, new int[0], 7);
        assertThat(times.itlNanos()).isEmpty();
        assertThat(times.tpotNanos()).hasValue(15);
        assertThat(times.tokensOf(0) + times.tokensOf(1) + times.tokensOf(2)).isEqualTo(7);
    }

    @Test
    void each_event_has_one_token_if_the_total_is_unknown() {
        TokenTimes times = new TokenTimes(new long[] {100, 160}, new int[0], 0);
        assertThat(times.tokensOf(1)).isEqualTo(1);
        assertThat(times.tpotNanos()).isEmpty();
    }
}
