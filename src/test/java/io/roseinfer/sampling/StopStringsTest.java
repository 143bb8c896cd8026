package io.roseinfer.sampling;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StopStringsTest {

    @Test
    void text_before_a_stop_string_is_certain_and_nothing_after_it() {
        StopStrings stops = new StopStrings(List.of("END"));
        assertThat(stops.push("one E")).isEqualTo("one ");
        assertThat(stops.matched()).isFalse();
        assertThat(stops.push("ND two")).isEmpty();
        assertThat(stops.matched()).isTrue();
        assertThat(stops.push("three")).isEmpty();
        assertThat(stops.restIfEndedBy("four")).isEmpty();
    }

    @Test
    void an_open_stop_string_becomes_certain_when_something_else_follows() {
        StopStrings stops = new StopStrings(List.of("\n\n"));
        assertThat(stops.push("a\n")).isEqualTo("a");
        assertThat(stops.restIfEndedBy("")).isEqualTo("\n");
        assertThat(stops.push("b")).isEqualTo("\nb");
    }

    @Test
    void a_piece_that_might_end_the_text_is_looked_into_and_leaves_no_trace() {
        StopStrings stops = new StopStrings(List.of("abc"));
        assertThat(stops.push("xab")).isEqualTo("x");
        assertThat(stops.restIfEndedBy("c")).isEmpty();
        assertThat(stops.restIfEndedBy("d")).isEqualTo("abd");
        assertThat(stops.push("d")).isEqualTo("abd");
        assertThat(stops.matched()).isFalse();
    }

    @Test
    void the_match_that_is_complete_first_wins() {
        StopStrings stops = new StopStrings(List.of("bcde", "cd"));
        assertThat(stops.push("abcdef")).isEqualTo("ab");
        assertThat(stops.match()).contains("cd");
    }

    @Test
    void of_two_that_are_complete_together_the_longer_wins() {
        StopStrings stops = new StopStrings(List.of("cd", "bcd"));
        assertThat(stops.push("abcdef")).isEqualTo("a");
        assertThat(stops.match()).contains("bcd");
    }

    @Test
    void the_match_does_not_depend_on_the_order_of_the_stop_strings() {
        assertThat(matchIn("abcd", "bc", "bcd"))
                .isEqualTo(matchIn("abcd", "bcd", "bc"))
                .isEqualTo("bc");
    }

    private static String matchIn(String text, String... stop) {
        StopStrings stops = new StopStrings(List.of(stop));
        assertThat(stops.push(text)).isEqualTo("a");
        return stops.match().orElseThrow();
    }

    /** However a text is cut into pieces, it is cut at the same place. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void the_cut_does_not_depend_on_the_pieces(long seed) {
        Random random = new Random(seed);
        for (int round = 0; round < 500; round++) {
            String text = letters(random, random.nextInt(40));
            List<String> stop = List.of(letters(random, 1 + random.nextInt(5)), letters(random, 2));
            StopStrings stops = new StopStrings(stop);
            StringBuilder shown = new StringBuilder();
            int at = 0;
            while (at < text.length()) {
                int next = Math.min(text.length(), at + random.nextInt(4));
                shown.append(stops.push(text.substring(at, next)));
                at = next;
            }
            assertThat(shown + stops.restIfEndedBy(""))
                    .as("seed %d, text %s, stop %s", seed, text, stop)
                    .isEqualTo(cut(text, stop));
            StopStrings whole = new StopStrings(stop);
            String unused = whole.push(text);
            assertThat(whole.match())
                    .as("seed %d, text %s, stop %s", seed, text, stop)
                    .isEqualTo(stops.match());
        }
    }

    private static String cut(String text, List<String> stops) {
        for (int end = 1; end <= text.length(); end++) {
            for (String stop : stops) {
                if (text.substring(0, end).endsWith(stop)) {
                    return firstCut(text.substring(0, end), stops);
                }
            }
        }
        return text;
    }

    private static String firstCut(String text, List<String> stops) {
        int first = text.length();
        for (String stop : stops) {
            int at = text.indexOf(stop);
            first = at >= 0 ? Math.min(first, at) : first;
        }
        return text.substring(0, first);
    }

    private static String letters(Random random, int length) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < length; i++) {
            text.append((char) ('a' + random.nextInt(2)));
        }
        return text.toString();
    }
}
