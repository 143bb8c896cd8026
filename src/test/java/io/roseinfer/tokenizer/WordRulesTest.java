package io.roseinfer.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares the scanner with the expressions it implements, using java.util.regex. */
class WordRulesTest {
    private static final WordSplitter SPLITTER = WordRules.GPT2;

    private static final List<WordSplitter> ALL = List.of(
            WordRules.GPT2, WordRules.QWEN, WordRules.LLAMA3, WordRules.GPT2_SINGLE_DIGITS, WordRules.GPT2_DIGIT_RUNS);

    private static List<String> words(CharSequence text) {
        return words(SPLITTER, text);
    }

    private static List<String> words(WordSplitter splitter, CharSequence text) {
        List<String> words = new ArrayList<>();
        for (int start = 0; start < text.length(); ) {
            int end = splitter.wordEnd(text, start, text.length());
            words.add(text.subSequence(start, end).toString());
            start = end;
        }
        return words;
    }

    private static List<String> matches(String pattern, CharSequence text) {
        return Pattern.compile(pattern, Pattern.UNICODE_CHARACTER_CLASS | Pattern.UNICODE_CASE)
                .matcher(text)
                .results()
                .map(match -> match.group())
                .toList();
    }

    private static void assertWords(List<String> expected, WordSplitter rules, String text, int i) {
        assertThat(words(rules, text)).as("seed 41 text %d", i).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(strings = {WordRules.GPT2_PATTERN, "qwen", "llama3"})
    void words_equal_the_matches_of_the_expression(String named) {
        String pattern =
                switch (named) {
                    case "qwen" -> WordRules.QWEN_PATTERN;
                    case "llama3" -> WordRules.LLAMA3_PATTERN;
                    default -> named;
                };
        WordSplitter rules = WordRules.ofPattern(pattern).orElseThrow();
        Texts texts = new Texts(41, "\r\n", "\n\n", " \n ", "1234567", "!\n", "'S", "'LL");
        for (int i = 0; i < 20_000; i++) {
            String text = texts.next();
            assertWords(matches(pattern, text), rules, text, i);
        }
    }

    /** Like the pre-tokenizers: the text is split around digits, and the expression is applied to each part. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void digits_are_split_off_before_the_expression(boolean single) {
        WordSplitter rules = single ? WordRules.GPT2_SINGLE_DIGITS : WordRules.GPT2_DIGIT_RUNS;
        String parts = single ? "\\p{N}|\\P{N}+" : "\\p{N}+|\\P{N}+";
        Texts texts = new Texts(41, "12345", " 7", "  8", "\n9", "'1");
        for (int i = 0; i < 20_000; i++) {
            String text = texts.next();
            List<String> expected = matches(parts, text).stream()
                    .flatMap(part -> matches(WordRules.GPT2_PATTERN, part).stream())
                    .toList();
            assertWords(expected, rules, text, i);
        }
    }

    @Test
    void newlines_end_the_preceding_word_in_newer_expressions() {
        assertThat(words(WordRules.QWEN, "a \n \n  b!\n\nc\n"))
                .containsExactly("a", " \n \n", " ", " b", "!\n\n", "c", "\n");
        assertThat(words(WordRules.QWEN, "\tx\u00a0y-z\nw")).containsExactly("\tx", "\u00a0y", "-z", "\n", "w");
    }

    @Test
    void numbers_are_split_into_ones_or_threes_in_the_newer_expressions() {
        assertThat(words(WordRules.QWEN, " 12x")).containsExactly(" ", "1", "2", "x");
        assertThat(words(WordRules.LLAMA3, " 1234567x")).containsExactly(" ", "123", "456", "7", "x");
    }

    @Test
    void contractions_fold_their_case_in_the_newer_expressions() {
        assertThat(words(WordRules.LLAMA3, "IT'S 'lL 'ſx")).containsExactly("IT", "'S", " '", "lL", " '", "ſx");
        assertThat(words(WordRules.LLAMA3, "a'ſx")).containsExactly("a", "'ſ", "x");
    }

    @Test
    void contractions_match_only_where_a_word_begins() {
        assertThat(words("it's we'll 's ''s 'S"))
                .containsExactly("it", "'s", " we", "'ll", " '", "s", " ''", "s", " '", "S");
    }

    @Test
    void last_space_of_a_run_goes_with_the_word_after_it() {
        assertThat(words("a   b")).containsExactly("a", "  ", " b");
        assertThat(words("a\n\nb")).containsExactly("a", "\n", "\n", "b");
        assertThat(words("a  ")).containsExactly("a", "  ");
    }

    @Test
    void reading_stops_at_the_end() {
        assertThat(SPLITTER.wordEnd("  x", 0, 2)).isEqualTo(2);
        assertThat(SPLITTER.wordEnd("'ll", 0, 2)).isEqualTo(1);
        assertThat(SPLITTER.wordEnd("abc", 0, 2)).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"a", " ", "1", "\n", "'", "!", "'s", " a", "  a", "👍", "\u3000x", "  \n", "!\n", " \n x", "\n1"
            })
    void each_character_is_read_a_bounded_number_of_times(String unit) {
        String text = unit.repeat((1 << 18) / unit.length());
        for (WordSplitter rules : ALL) {
            assertThat(reads(rules, text)).as("%s", rules).isLessThan(12L * text.length());
        }
    }

    @Test
    void each_character_of_random_patterns_is_read_a_bounded_number_of_times() {
        for (int seed = 0; seed < 2_000; seed++) {
            Random random = new Random(seed);
            StringBuilder text = new StringBuilder();
            for (int parts = 1 + random.nextInt(3); parts > 0; parts--) {
                StringBuilder unit = new StringBuilder();
                random.ints(1 + random.nextInt(4), 0, 10).forEach(i -> unit.append("a \n1!'s\u3000\u00e9\r".charAt(i)));
                text.repeat(unit, 500);
            }
            for (WordSplitter rules : ALL) {
                assertThat(reads(rules, text.toString()))
                        .as("seed %d: %s", seed, rules)
                        .isLessThan(12L * text.length());
            }
        }
    }

    private static long reads(WordSplitter rules, String text) {
        CountingText counting = new CountingText(text);
        for (int start = 0; start < counting.length(); ) {
            start = rules.wordEnd(counting, start, counting.length());
        }
        return counting.reads;
    }

    /**
     * Of Unicode 16, the version of JDK 25 and of the Oniguruma inside Hugging Face tokenizers 0.21; see the package.
     */
    @Test
    void classes_of_all_code_points_are_those_of_unicode_16() throws NoSuchAlgorithmException {
        StringBuilder classes = new StringBuilder();
        for (int c = 0; c <= Character.MAX_CODE_POINT; c++) {
            classes.append((char) ('0' + CharacterClass.of(c)));
        }
        byte[] digest =
                MessageDigest.getInstance("SHA-256").digest(classes.toString().getBytes(StandardCharsets.US_ASCII));
        assertThat(HexFormat.of().formatHex(digest))
                .as("a JDK with another version of Unicode gives other ids: %s", Runtime.version())
                .isEqualTo("40e1e93315772648c57844e27ec0d808f30f6c56a56f9f6d10dfcf48a20ca0fa");
    }

    private static final class CountingText implements CharSequence {
        private final String text;
        private long reads;

        CountingText(String text) {
            this.text = text;
        }

        @Override
        public int length() {
            return text.length();
        }

        @Override
        public char charAt(int index) {
            reads++;
            return text.charAt(index);
        }

        @Override
        public CharSequence subSequence(int start, int end) {
            return text.subSequence(start, end);
        }
    }
}
