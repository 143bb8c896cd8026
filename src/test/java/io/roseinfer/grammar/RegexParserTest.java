package io.roseinfer.grammar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadInput;
import java.lang.management.ManagementFactory;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RegexParserTest {
    /** Texts that a pattern is found in, and texts that it is not, separated by spaces; "_" is the empty text. */
    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "a; a xay; _ b",
                "^a; a ab; _ ba",
                "a$; a ba; _ ab",
                "^a|b$; ab aba acc ccb; _ c bc ba",
                "^(a|b)$; a b; ab _",
                "(^|,)a(,|$); a b,a a,b x,a,y; ab ba xa",
                "^$; _; a",
                "^; _ a; ",
                "a^; ; a _",
                "^a{2,3}$; aa aaa; a aaaa",
                "^a{2}$; aa; a aaa",
                "^a{2,}$; aa aaaaa; a",
                "^{a}$; {a}; a",
                "^[a-c-]$; a c -; d",
                "^[^a-c]$; d é; a",
                "^[]$; ; a ]",
                "^\\d+$; 09; ٣ a",
                "^\\w$; a Z _ 0; é -",
                "^\\S$; a; ",
                "^\\p{L}+$; aé я; 1",
                "^\\p{Script=Greek}$; α; a",
                "^\\P{Lu}$; a; A",
                "^\\u0061\\x62\\u{63}$; abc; ab",
                "^\\uD83D\\uDE00$; 😀; a",
                "^.$; a 😀; ab",
                "^\\/\\.\\-$; /.-; a",
                "^(?:ab)+$; ab abab; a",
                "^(?<name>a)b$; ab; a",
                "^a+?$; a aa; b",
                "^(?!a)..$; ba; ab",
                "^(?=.*[0-9])(?=.*[a-z])..$; a1 1a; aa 11",
                "a(?=b); ab; a ac",
                "a(?!b); a ac aba; ab",
                "^(a|(?!b).)c$; ac xc; bc",
                "^(^a)?b$; ab b; aab"
            })
    void pattern_is_found_in_texts(String pattern, String found, String missing) {
        Regex regex = RegexParser.search(pattern);
        for (String text : found == null ? new String[0] : found.split(" ")) {
            assertThat(matches(regex, text)).as("/%s/ in \"%s\"", pattern, text).isTrue();
        }
        for (String text : missing == null ? new String[0] : missing.split(" ")) {
            assertThat(matches(regex, text)).as("/%s/ in \"%s\"", pattern, text).isFalse();
        }
    }

    private static boolean matches(Regex regex, String shown) {
        String text = shown.replace("_", "");
        if (shown.equals("_") && GrammarOracle.accepts(regex, "_")) {
            return RegexSolver.matches(regex, "_");
        }
        boolean matches = GrammarOracle.accepts(regex, text);
        assertThat(RegexSolver.matches(regex, text)).isEqualTo(matches);
        return matches;
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "(a)\\1; backreference \\1",
                "\\k<a>; backreference \\k",
                "(?<=a)b; lookbehind",
                "(?<!a)b; lookbehind",
                "\\ba; word boundary \\b",
                "(?>a); the group (?>a",
                "\\p{Nonsense}; property \\p{Nonsense}",
                "\\Z; escape \\Z",
                "\\07; octal escape",
                "(a$|b)*c; an assertion"
            })
    void unsupported_syntax_is_named(String pattern, String feature) {
        assertThatThrownBy(() -> RegexParser.search(pattern))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining(feature)
                .hasMessageContaining("not supported");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "(a; '(' has no ')'",
                "a); ')' has no '('",
                "[a; '[' has no ']'",
                "*a; nothing to repeat",
                "a**; a quantifier follows a quantifier",
                "{2}; nothing to repeat",
                "a{3,2}; is not a range",
                "[b-a]; descending order",
                "\\u00; hexadecimal digits",
                "\\u{110000}; above 10ffff",
                "\\ud800; unpaired surrogate"
            })
    void malformed_pattern_says_what_is_wrong(String pattern, String reason) {
        assertThatThrownBy(() -> RegexParser.search(pattern))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("malformed")
                .hasMessageContaining(reason);
    }

    @Test
    void limits_are_named() {
        assertThatThrownBy(() -> RegexParser.search("a".repeat(GrammarSize.PATTERN_CHARS + 1)))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("the length of a pattern is 20001");
        assertThatThrownBy(() -> RegexParser.search("(".repeat(300)))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("nesting");
        assertThatThrownBy(() -> RegexParser.search("a{9999999}"))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("a quantifier's count is 9999999");
        assertThatThrownBy(() -> RegexParser.search("^((((a|^b)?(^c|d)?){12}){12})$"))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("the size of a pattern");
    }

    @Test
    void random_patterns_agree_with_the_jdk() {
        long seed = 20260101;
        Random random = new Random(seed);
        for (int i = 0; i < 2_000; i++) {
            String pattern = pattern(random, 3);
            Regex regex;
            try {
                regex = RegexParser.search(pattern);
            } catch (BadInput e) {
                assertThat(e).as(pattern).hasMessageContaining("an assertion (^, $ or lookahead) in a repetition");
                continue;
            }
            Pattern expected = Pattern.compile(pattern);
            for (int j = 0; j < 12; j++) {
                String text = text(random);
                assertThat(RegexSolver.matches(regex, text))
                        .as("seed %d: /%s/ in \"%s\"", seed, pattern, text)
                        .isEqualTo(expected.matcher(text).find());
            }
        }
    }

    private static String text(Random random) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(5); i > 0; i--) {
            text.append("abc".charAt(random.nextInt(3)));
        }
        return text.toString();
    }

    private static String pattern(Random random, int depth) {
        if (depth == 0) {
            return new String[] {"a", "b", "[ab]", "[^a]", ".", "\\w"}[random.nextInt(6)];
        }
        String inner = pattern(random, depth - 1);
        return switch (random.nextInt(10)) {
            case 0, 1, 2 -> inner + pattern(random, depth - 1);
            case 3 -> "(?:" + inner + "|" + pattern(random, depth - 1) + ")";
            case 4 -> "(?:" + inner + ")" + new String[] {"*", "+", "?", "{2}", "{1,2}"}[random.nextInt(5)];
            case 5 -> "^" + inner;
            // The JDK's $ also matches before a last line end, which the texts do not have.
            case 6 -> inner + "$";
            case 7 -> "(?!" + inner + ")" + pattern(random, depth - 1);
            case 8 -> "(?=" + inner + ")" + pattern(random, depth - 1);
            default -> inner;
        };
    }

    @ParameterizedTest
    @ValueSource(strings = {"(a)", "(?:a)", "(?s:a)", "(?=a)a"})
    void nesting_does_not_count_groups_side_by_side(String group) {
        Regex regex = RegexParser.search("^" + group.repeat(GrammarSize.NESTING + 100) + "$");
        assertThat(RegexSolver.matches(regex, "a".repeat(GrammarSize.NESTING + 100))).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"(", "(?:", "(?s:", "(?i:"})
    void deepest_nesting_is_accepted_and_a_deeper_one_rejected(String open) {
        Regex deepest = RegexParser.search(nested(open, GrammarSize.NESTING - 1));
        assertThat(RegexSolver.matches(deepest, "a")).isTrue();
        assertThatThrownBy(() -> RegexParser.search(nested(open, GrammarSize.NESTING)))
                .isInstanceOf(BadInput.class)
                .hasMessage("the nesting of a pattern's groups is 201; it must be at most 200");
    }

    @Test
    void pattern_of_many_parts_is_read_with_memory_in_proportion_to_its_length() {
        assertThat(allocatedBytes("a?".repeat(8_000))).isLessThan(12 * allocatedBytes("a?".repeat(1_000)));
    }

    private static long allocatedBytes(String pattern) {
        com.sun.management.ThreadMXBean threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long least = Long.MAX_VALUE;
        for (int round = 0; round < 5; round++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            Regex unused = RegexParser.search(pattern);
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        return least;
    }

    private static String nested(String open, int groups) {
        return "^" + open.repeat(groups) + "a" + ")".repeat(groups) + "$";
    }
}
