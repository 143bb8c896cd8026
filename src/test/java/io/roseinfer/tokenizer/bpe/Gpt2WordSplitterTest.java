package io.roseinfer.tokenizer.bpe;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.tokenizer.Texts;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class Gpt2WordSplitterTest {
    private static final Gpt2WordSplitter SPLITTER = new Gpt2WordSplitter();
    private static final Pattern EXPRESSION =
            Pattern.compile(Gpt2WordSplitter.PATTERN, Pattern.UNICODE_CHARACTER_CLASS);

    private static List<String> words(CharSequence text) {
        List<String> words = new ArrayList<>();
        for (int start = 0; start < text.length(); ) {
            int end = SPLITTER.wordEnd(text, start, text.length());
            words.add(text.subSequence(start, end).toString());
            start = end;
        }
        return words;
    }

    @Test
    void words_equal_the_matches_of_the_expression() {
        Texts texts = new Texts(41);
        for (int i = 0; i < 20_000; i++) {
            String text = texts.next();
            List<String> matches = EXPRESSION
                    .matcher(text)
                    .results()
                    .map(match -> match.group())
                    .toList();
            assertThat(words(text)).as("seed 41 text %d", i).isEqualTo(matches);
        }
    }

    @Test
    void contractions_stand_alone_only_where_a_word_begins() {
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
    void nothing_beyond_the_end_is_looked_at() {
        assertThat(SPLITTER.wordEnd("  x", 0, 2)).isEqualTo(2);
        assertThat(SPLITTER.wordEnd("'ll", 0, 2)).isEqualTo(1);
        assertThat(SPLITTER.wordEnd("abc", 0, 2)).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", " ", "1", "\n", "'", "!", "'s", " a", "  a", "👍", "\u3000x"})
    void each_character_is_read_a_bounded_number_of_times(String unit) {
        CountingText text = new CountingText(unit.repeat((1 << 20) / unit.length()));
        for (int start = 0; start < text.length(); ) {
            start = SPLITTER.wordEnd(text, start, text.length());
        }
        assertThat(text.reads).isLessThan(8L * text.length());
    }

    /** Of Unicode 16, the version of JDK 25 and of the Oniguruma inside Hugging Face tokenizers 0.21; see the package. */
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
