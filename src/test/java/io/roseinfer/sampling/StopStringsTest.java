package io.roseinfer.sampling;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StopStringsTest {

    @Test
    void text_before_a_stop_string_comes_out_and_nothing_after_it() {
        StopStrings stops = new StopStrings(List.of("END"));
        assertThat(stops.push("one E")).isEqualTo("one ");
        assertThat(stops.push("ND two")).isEqualTo("");
        assertThat(stops.matched()).isTrue();
        assertThat(stops.push("three")).isEmpty();
        assertThat(stops.flush()).isEmpty();
    }

    @Test
    void what_was_held_back_comes_out_when_it_is_no_stop_string() {
        StopStrings stops = new StopStrings(List.of("\n\n"));
        assertThat(stops.push("a\n")).isEqualTo("a");
        assertThat(stops.push("b")).isEqualTo("\nb");
        assertThat(stops.push("\n")).isEmpty();
        assertThat(stops.flush()).isEqualTo("\n");
    }

    @Test
    void the_earliest_match_wins() {
        StopStrings stops = new StopStrings(List.of("cd", "bcde"));
        assertThat(stops.push("abcdef")).isEqualTo("a");
    }

    /** However a text is cut into pieces, the same part of it comes out. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void the_cut_does_not_depend_on_the_pieces(long seed) {
        Random random = new Random(seed);
        for (int round = 0; round < 500; round++) {
            String text = letters(random, random.nextInt(40));
            List<String> stop = List.of(letters(random, 1 + random.nextInt(3)), letters(random, 2));
            StringBuilder out = new StringBuilder();
            StopStrings stops = new StopStrings(stop);
            int at = 0;
            while (at < text.length()) {
                int next = Math.min(text.length(), at + random.nextInt(4));
                out.append(stops.push(text.substring(at, next)));
                at = next;
            }
            out.append(stops.flush());
            assertThat(out.toString())
                    .as("seed %d, text %s, stop %s", seed, text, stop)
                    .isEqualTo(cut(text, stop));
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
