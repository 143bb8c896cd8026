package io.roseinfer.scheduler.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.sampling.TokenHistory;
import io.roseinfer.scheduler.SequenceProbe;
import io.roseinfer.scheduler.policy.Drafter.Drafts;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NgramTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** A text whose length grows. */
    private static final class Text implements TokenHistory {
        private final int[] ids;
        private int length;

        Text(int... ids) {
            this.ids = ids;
            this.length = ids.length;
        }

        @Override
        public int promptLength() {
            return 0;
        }

        @Override
        public int length() {
            return length;
        }

        @Override
        public int token(int index) {
            return ids[index];
        }
    }

    private static int[] propose(Drafts drafts, TokenHistory text, int max) {
        int[] into = new int[max];
        return Arrays.copyOf(into, drafts.propose(text, max, into));
    }

    private static int[] propose(int max, int... ids) {
        return propose(Drafter.ngram(max).newDrafts(SequenceProbe.request()), new Text(ids), max);
    }

    @Test
    void tokens_after_the_last_occurrence_are_proposed() {
        assertThat(propose(3, 1, 2, 3, 4, 5, 6, 7, 1, 2, 3)).containsExactly(4, 5, 6);
        assertThat(propose(2, 1, 2, 3, 4, 9, 1, 2, 3, 5, 8, 1, 2, 3)).containsExactly(5, 8);
    }

    @Test
    void repetition_is_continued_beyond_its_end() {
        assertThat(propose(7, 9, 1, 2, 3, 1, 2, 3)).containsExactly(1, 2, 3, 1, 2, 3, 1);
        assertThat(propose(4, 5, 5, 5, 5)).containsExactly(5, 5, 5, 5);
    }

    @Test
    void text_without_a_match_or_too_short_has_no_proposal() {
        assertThat(propose(3, 1, 2, 3, 4, 5, 6)).isEmpty();
        assertThat(propose(3, 1, 1, 1)).isEmpty();
        assertThat(propose(3, 1)).isEmpty();
    }

    /** Entries with the same hash overwrite each other, so a match may be missed, but is never another one. */
    @ParameterizedTest
    @CsvSource({"3, 400", "20, 5000", "200, 3000"})
    void proposals_are_those_of_a_search_of_the_whole_text(int vocabulary, int length) {
        Random random = new Random(vocabulary);
        Text text = new Text(random.ints(length, 0, vocabulary).toArray());
        Drafts drafts = Drafter.ngram(5).newDrafts(SequenceProbe.request());
        int found = 0;
        int missed = 0;
        for (text.length = 4; text.length < length; text.length += 1 + random.nextInt(4)) {
            int[] expected = search(text, 5);
            int[] seen = propose(drafts, text, 5);
            if (seen.length > 0 || expected.length == 0) {
                assertThat(seen).as("after %d tokens", text.length).isEqualTo(expected);
                found += seen.length > 0 ? 1 : 0;
            } else {
                missed++;
            }
        }
        assertThat(missed).isLessThanOrEqualTo((found + missed) / 2);
    }

    private static int[] search(Text text, int max) {
        int length = text.length;
        for (int end = length - 1; end >= 3; end--) {
            if (Arrays.equals(text.ids, end - 3, end, text.ids, length - 3, length)) {
                int[] next = new int[max];
                for (int i = 0; i < max; i++) {
                    next[i] = i < length - end ? text.ids[end + i] : next[i - (length - end)];
                }
                return next;
            }
        }
        return new int[0];
    }

    @Test
    void proposals_allocate_nothing_once_the_index_has_its_size() {
        Text text = new Text(new Random(1).ints(100_000, 0, 1000).toArray());
        Drafts drafts = Drafter.ngram(5).newDrafts(SequenceProbe.request());
        int[] into = new int[5];
        text.length = 70_000;
        assertThat(drafts.propose(text, 5, into)).isNotNegative();
        long before = THREADS.getCurrentThreadAllocatedBytes();
        int proposed = 0;
        while (text.length < text.ids.length) {
            proposed += drafts.propose(text, 5, into);
            text.length++;
        }
        assertThat(THREADS.getCurrentThreadAllocatedBytes() - before).isZero();
        assertThat(proposed).isNotNegative();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, 16})
    void number_of_tokens_out_of_range_is_rejected(int tokens) {
        assertThatThrownBy(() -> Drafter.ngram(tokens))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("1 to 15");
    }
}
