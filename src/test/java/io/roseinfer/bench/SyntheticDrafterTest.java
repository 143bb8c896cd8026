package io.roseinfer.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.sampling.TokenHistory;
import io.roseinfer.scheduler.SequenceProbe;
import io.roseinfer.scheduler.policy.Drafter.Drafts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SyntheticDrafterTest {
    private static final int TOKENS = 20_000;

    /** A prompt of three tokens, then tokens that equal their index. */
    private record History(int length) implements TokenHistory {
        @Override
        public int promptLength() {
            return 3;
        }

        @Override
        public int token(int index) {
            return index;
        }
    }

    @Test
    void drafts_are_right_at_their_rates_when_the_prompt_comes_again() {
        SyntheticDrafter drafter = new SyntheticDrafter("0.8/0.5");
        int[] into = new int[2];
        assertThat(drafter.newDrafts(SequenceProbe.request()).propose(new History(TOKENS), 2, into))
                .isZero();

        Drafts again = drafter.newDrafts(SequenceProbe.request());
        int[] right = new int[2];
        int drafted = 0;
        for (int length = 4; length < TOKENS - 2; length++) {
            assertThat(again.propose(new History(length), 2, into)).isEqualTo(2);
            drafted++;
            right[0] += into[0] == length ? 1 : 0;
            right[1] += into[1] == length + 1 ? 1 : 0;
        }
        assertThat((double) right[0] / drafted).isBetween(0.78, 0.82);
        assertThat((double) right[1] / drafted).isBetween(0.48, 0.52);
    }

    /** Token n follows token n − 1, as in {@link History}. */
    @Test
    void drafts_of_a_known_device_are_right_at_their_rates_at_once() {
        Drafts drafts = new SyntheticDrafter("0.8/0.5")
                .withNextToken((last, length) -> length == last + 1 ? length : 0)
                .newDrafts(SequenceProbe.request());
        int[] into = new int[2];
        int[] right = new int[2];
        for (int length = 4; length < TOKENS; length++) {
            assertThat(drafts.propose(new History(length), 2, into)).isEqualTo(2);
            right[0] += into[0] == length ? 1 : 0;
            right[1] += into[1] == length + 1 ? 1 : 0;
        }
        assertThat((double) right[0] / TOKENS).isBetween(0.78, 0.82);
        assertThat((double) right[1] / TOKENS).isBetween(0.48, 0.52);
    }

    @Test
    void drafts_end_with_the_known_completion() {
        SyntheticDrafter drafter = new SyntheticDrafter("1/1/1");
        int[] into = new int[3];
        assertThat(drafter.newDrafts(SequenceProbe.request()).propose(new History(300), 3, into))
                .isZero();
        assertThat(drafter.newDrafts(SequenceProbe.request()).propose(new History(298), 3, into))
                .isEqualTo(2);
        assertThat(into).startsWith(298, 299);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0.5/", "1.1", "-0.1", "NaN", "a", "1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1"})
    void rates_are_one_to_fifteen_numbers_from_0_to_1(String rates) {
        assertThatThrownBy(() -> new SyntheticDrafter(rates)).isInstanceOf(BadInput.class);
    }
}
