package io.roseinfer.scheduler.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.sampling.TokenHistory;
import io.roseinfer.scheduler.SequenceProbe;
import io.roseinfer.scheduler.policy.Drafter.Drafts;
import io.roseinfer.scheduler.policy.SuffixAutomaton.Match;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SuffixTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** The first tokens of an array, of which some are the prompt. */
    private record Text(int promptLength, int length, int... ids) implements TokenHistory {
        @Override
        public int token(int index) {
            return ids[index];
        }
    }

    private static int[] propose(Drafts drafts, int max, int prompt, int... ids) {
        int[] into = new int[max];
        return Arrays.copyOf(into, drafts.propose(new Text(prompt, ids.length, ids), max, into));
    }

    private static int[] propose(int max, int... ids) {
        return propose(Drafter.suffix(max, false).newDrafts(SequenceProbe.request()), max, 0, ids);
    }

    @Test
    void more_tokens_are_proposed_after_a_longer_match() {
        assertThat(propose(8, 7, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1)).isEmpty();
        assertThat(propose(8, 7, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2)).containsExactly(3, 4);
        assertThat(propose(8, 7, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3)).containsExactly(4, 5, 6, 7);
        assertThat(propose(3, 7, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3)).containsExactly(4, 5, 6);
    }

    @Test
    void tokens_after_a_longer_match_are_preferred_to_those_after_a_later_one() {
        assertThat(propose(2, 8, 1, 2, 3, 4, 0, 2, 3, 5, 0, 1, 2, 3)).containsExactly(4, 0);
    }

    @Test
    void repetition_is_continued_beyond_its_end() {
        assertThat(propose(7, 9, 1, 2, 3, 1, 2, 3, 1, 2, 3)).containsExactly(1, 2, 3, 1, 2, 3, 1);
    }

    /** Every prefix of a random text, with small alphabets so that states are split often. */
    @ParameterizedTest
    @CsvSource({"1, 300", "2, 1000", "3, 1000", "30, 2000", "1000, 3000"})
    void repeated_suffix_is_the_longest_one_of_a_search(int alphabet, int length) {
        int[] ids = new Random(alphabet).ints(length, 0, alphabet).toArray();
        SuffixAutomaton automaton = new SuffixAutomaton();
        int[] into = new int[4];
        for (int end = 1; end <= length; end++) {
            automaton.append(ids[end - 1]);
            int repeated = automaton.repeatedLength();
            assertThat(repeated).as("after %d tokens", end).isEqualTo(longest(ids, end - 1, ids, end));
            if (repeated > 0) {
                assertThat(automaton.copyRepeated(4, into)).isEqualTo(4);
                assertThat(follows(ids, end, repeated, into[0])).isTrue();
            }
        }
    }

    /** Returns the length of the longest suffix of a text that ends in another one, at {@code before} at the latest. */
    private static int longest(int[] in, int before, int[] text, int length) {
        int best = 0;
        for (int end = 1; end <= before; end++) {
            int match = 0;
            while (match < end && match < length && in[end - 1 - match] == text[length - 1 - match]) {
                match++;
            }
            best = Math.max(best, match);
        }
        return best;
    }

    private static boolean follows(int[] ids, int end, int match, int token) {
        for (int start = 0; start + match < end; start++) {
            if (Arrays.equals(ids, start, start + match, ids, end - match, end) && ids[start + match] == token) {
                return true;
            }
        }
        return false;
    }

    /** The automaton grows while the other text is read, so states are split under the match. */
    @ParameterizedTest
    @ValueSource(ints = {2, 3, 20})
    void match_of_another_text_is_the_longest_one_of_a_search(int alphabet) {
        Random random = new Random(alphabet);
        int[] ids = random.ints(600, 0, alphabet).toArray();
        int[] other = random.ints(600, 0, alphabet).toArray();
        SuffixAutomaton automaton = new SuffixAutomaton();
        Match match = new Match();
        int[] into = new int[1];
        for (int length = 1; length <= other.length; length++) {
            int before = automaton.size();
            automaton.append(ids[before]);
            automaton.advance(match, other[length - 1]);
            // A match may have been longer than what occurred when its first tokens were read.
            assertThat(match.length()).isLessThanOrEqualTo(longest(ids, before + 1, other, length));
            int[] suffix = Arrays.copyOfRange(other, length - match.length(), length);
            if (automaton.copyAfter(match, 1, into) == 1) {
                assertThat(indexOf(ids, before + 1, suffix, into[0])).isNotNegative();
            }
        }
        match.clear();
        for (int length = 1; length <= other.length; length++) {
            automaton.advance(match, other[length - 1]);
            assertThat(match.length()).isEqualTo(longest(ids, ids.length, other, length));
        }
    }

    private static int indexOf(int[] ids, int end, int[] part, int next) {
        for (int start = 0; start + part.length < end; start++) {
            if (Arrays.equals(ids, start, start + part.length, part, 0, part.length)
                    && ids[start + part.length] == next) {
                return start;
            }
        }
        return -1;
    }

    @Test
    void only_shared_drafts_have_answers_of_other_requests() {
        int[] answered = {1, 2, 3, 11, 12, 13, 14, 15, 16};
        for (boolean shared : new boolean[] {false, true}) {
            Drafter drafter = Drafter.suffix(4, shared);
            Drafts first = drafter.newDrafts(SequenceProbe.request());
            assertThat(propose(first, 4, 3, answered)).isEmpty();
            first.ended(new Text(3, answered.length, answered));
            int[] second = {7, 8, 9, 11, 12, 13};
            assertThat(propose(drafter.newDrafts(SequenceProbe.request()), 4, 3, second))
                    .isEqualTo(shared ? new int[] {14, 15, 16} : new int[0]);
            int[] prompt = {7, 8, 1, 2, 3};
            assertThat(propose(drafter.newDrafts(SequenceProbe.request()), 4, 5, prompt))
                    .as("prompts are not shared")
                    .isEmpty();
        }
    }

    /** A request may pause for more tokens than are looked for in answers; what it read before is not next to the latest ones. */
    @Test
    void match_does_not_go_on_beyond_tokens_that_were_not_read() {
        int[] common = IntStream.range(100, 164).toArray();
        Drafter drafter = Drafter.suffix(1, true);
        int[] answer = joined(new int[] {1, 2}, common, new int[] {11});
        drafter.newDrafts(SequenceProbe.request()).ended(new Text(0, answer.length, answer));
        int[] start = {1, 2};
        int[] text = joined(start, new int[] {5}, common, new int[] {12}, new int[70], new int[] {5}, common);
        Drafts drafts = drafter.newDrafts(SequenceProbe.request());
        assertThat(propose(drafts, 1, 0, start)).containsExactly(common[0]);
        assertThat(propose(drafts, 1, 0, text))
                .as("the own text repeats 65 tokens, the answer has 64 of them")
                .containsExactly(12);
    }

    private static int[] joined(int[]... parts) {
        return Arrays.stream(parts).flatMapToInt(Arrays::stream).toArray();
    }

    @Test
    void oldest_answers_are_forgotten() {
        Suffix drafter = (Suffix) Drafter.suffix(4, true);
        int answers = 2 * Suffix.Answers.MAX_TOKENS / Suffix.Answers.MAX_ANSWER + 2;
        Drafts drafts = drafter.newDrafts(SequenceProbe.request());
        for (int answer = 0; answer < answers; answer++) {
            int first = answer * Suffix.Answers.MAX_ANSWER;
            int[] ids =
                    IntStream.range(first, first + Suffix.Answers.MAX_ANSWER).toArray();
            drafts.ended(new Text(0, ids.length, ids));
        }
        assertThat(propose(drafter.newDrafts(SequenceProbe.request()), 4, 3, 10, 11, 12))
                .isEmpty();
        int late = (answers - 1) * Suffix.Answers.MAX_ANSWER;
        assertThat(propose(drafter.newDrafts(SequenceProbe.request()), 4, 3, late, late + 1, late + 2))
                .containsExactly(late + 3, late + 4, late + 5, late + 6);
    }

    @Test
    void long_prompt_is_added_in_several_steps_and_old_text_is_forgotten() {
        int[] ids = new Random(5).ints(3 * Suffix.MAX_TOKENS, 0, 50_000).toArray();
        System.arraycopy(ids, 0, ids, 5_000, 40);
        Drafts drafts = Drafter.suffix(4, false).newDrafts(SequenceProbe.request());
        int[] into = new int[4];
        int calls = 0;
        while (drafts.propose(new Text(0, 5_040, ids), 4, into) == 0) {
            calls++;
        }
        assertThat(calls).isBetween(1, 10);
        assertThat(into).containsExactly(ids[40], ids[41], ids[42], ids[43]);
        int end = ids.length - 40;
        System.arraycopy(ids, end - 1_000, ids, end, 40);
        for (calls = 0; drafts.propose(new Text(0, ids.length, ids), 4, into) == 0 && calls < 1_000; calls++) {
            assertThat(into).isNotNull();
        }
        assertThat(into).containsExactly(ids[end - 960], ids[end - 959], ids[end - 958], ids[end - 957]);
    }

    @Test
    void proposals_allocate_nothing_until_the_automaton_grows() {
        int[] ids = new Random(1).ints(60_000, 0, 200).toArray();
        SuffixAutomaton automaton = new SuffixAutomaton();
        for (int id : ids) {
            automaton.append(id);
        }
        automaton.clear();
        int[] into = new int[5];
        long proposed = 0;
        long before = THREADS.getCurrentThreadAllocatedBytes();
        for (int id : ids) {
            automaton.append(id);
            proposed += automaton.repeatedLength() > 1 ? automaton.copyRepeated(5, into) : 0;
        }
        assertThat(THREADS.getCurrentThreadAllocatedBytes() - before).isZero();
        assertThat(proposed).isPositive();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, 16})
    void number_of_tokens_out_of_range_is_rejected(int tokens) {
        assertThatThrownBy(() -> Drafter.suffix(tokens, false))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("1 to 15");
    }
}
