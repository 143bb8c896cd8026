package io.roseinfer.sampling;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StopStringsTest {

    @Test
    void text_before_a_stop_string_is_output_and_none_after_it() {
        StopStrings stops = new StopStrings(List.of("END"));
        assertThat(stops.push("one E")).isEqualTo("one ");
        assertThat(stops.matched()).isFalse();
        assertThat(stops.push("ND two")).isEmpty();
        assertThat(stops.matched()).isTrue();
        assertThat(stops.push("three")).isEmpty();
        assertThat(stops.remainderWith("four")).isEmpty();
    }

    @Test
    void partial_match_is_output_once_it_cannot_match() {
        StopStrings stops = new StopStrings(List.of("\n\n"));
        assertThat(stops.push("a\n")).isEqualTo("a");
        assertThat(stops.remainderWith("")).isEqualTo("\n");
        assertThat(stops.push("b")).isEqualTo("\nb");
    }

    @Test
    void remainder_includes_the_last_chunk_without_changing_state() {
        StopStrings stops = new StopStrings(List.of("abc"));
        assertThat(stops.push("xab")).isEqualTo("x");
        assertThat(stops.remainderWith("c")).isEmpty();
        assertThat(stops.remainderWith("d")).isEqualTo("abd");
        assertThat(stops.push("d")).isEqualTo("abd");
        assertThat(stops.matched()).isFalse();
    }

    @Test
    void match_completed_first_wins() {
        StopStrings stops = new StopStrings(List.of("bcde", "cd"));
        assertThat(stops.push("abcdef")).isEqualTo("ab");
        assertThat(stops.match()).contains("cd");
    }

    @Test
    void longer_of_two_matches_completed_together_wins() {
        StopStrings stops = new StopStrings(List.of("cd", "bcd"));
        assertThat(stops.push("abcdef")).isEqualTo("a");
        assertThat(stops.match()).contains("bcd");
    }

    @Test
    void match_does_not_depend_on_the_order_of_the_stop_strings() {
        assertThat(matchIn("abcd", "bc", "bcd"))
                .isEqualTo(matchIn("abcd", "bcd", "bc"))
                .isEqualTo("bc");
    }

    private static String matchIn(String text, String... stop) {
        StopStrings stops = new StopStrings(List.of(stop));
        assertThat(stops.push(text)).isEqualTo("a");
        return stops.match().orElseThrow();
    }

    /** However a text is split into chunks, it is truncated at the same position. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void truncation_does_not_depend_on_the_chunks(long seed) {
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
            assertThat(shown + stops.remainderWith(""))
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
