package io.roseinfer.tokenizer;

import static io.roseinfer.tokenizer.TrainedVocabulary.added;
import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.WorkCounter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AddedTokensTest {
    private static final int EACH = 400_000;

    private static List<AddedToken> tokens(int first) {
        return IntStream.range(first, first + EACH)
                .mapToObj(id -> AddedToken.special(id, "<" + id + ">"))
                .toList();
    }

    /** A pairwise comparison would take hours. */
    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void tokens_of_two_large_files_are_combined() {
        TokenizerConfig older = TokenizerConfig.of(true, tokens(EACH), SpecialTokens.NONE);
        List<AddedToken> all = AddedTokens.of("files", Map.of(), tokens(0), older, new ArrayList<>());
        assertThat(all).hasSize(2 * EACH);
    }

    @ParameterizedTest
    @CsvSource({"<w>x, false", "x<w>, false", "x<w>x, false", "<w>, true", "!<w>!, true", "x <w> x, true"})
    void single_word_is_not_found_next_to_a_word_character(String text, boolean found) {
        Tokenizer tokenizer = SampleTokenizer.with(added(SampleTokenizer.FREE, "<w>", "single_word"));
        assertThat(IntStream.of(tokenizer.encode(text)).anyMatch(id -> id == SampleTokenizer.FREE))
                .isEqualTo(found);
    }

    @Test
    void first_of_the_tokens_that_are_normalized_to_the_same_text_is_used() {
        List<AddedToken> tokens = List.of(AddedToken.special(1, "<a>"), AddedToken.special(2, "<b>"));
        Normalizer same = new Normalizer(List.of(new Normalizer.Replace("b", "a")));
        List<Integer> found = new ArrayList<>();
        new AddedTokenMatcher(tokens, same)
                .split(
                        "<a>",
                        0,
                        3,
                        false,
                        new AddedTokenMatcher.Parts() {
                            @Override
                            public void plain(String text, int from, int to) {}

                            @Override
                            public void added(AddedToken token) {
                                found.add(token.id());
                            }
                        },
                        new WorkCounter());
        assertThat(found).containsExactly(1);
    }
}
