package io.roseinfer.base;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SpellingSuggestionTest {
    @ParameterizedTest
    @CsvSource({
        "'',abc,3",
        "same,same,0",
        "model,models,1",
        "models,model,1",
        "model,modal,1",
        "batch,bacth,1",
        "ca,abc,3"
    })
    void distance_counts_insertions_deletions_replacements_and_swaps(String from, String to, int edits) {
        assertThat(SpellingSuggestion.distance(from, to)).isEqualTo(edits);
    }

    @Test
    void equally_close_words_are_all_suggested_in_order() {
        assertThat(SpellingSuggestion.nearest("int", List.of("fp32", "int8", "int4")))
                .containsExactly("int8", "int4");
    }

    @Test
    void only_the_closest_words_are_suggested() {
        assertThat(SpellingSuggestion.nearest("generat", List.of("generated", "generate")))
                .containsExactly("generate");
    }

    @Test
    void word_with_more_than_one_edit_per_four_characters_is_not_close() {
        assertThat(SpellingSuggestion.nearest("gpu", List.of("cpu"))).isEmpty();
        assertThat(SpellingSuggestion.nearest("bf61", List.of("bf16"))).containsExactly("bf16");
    }

    @Test
    void text_of_a_million_characters_has_no_suggestion() {
        assertThat(SpellingSuggestion.nearest("x".repeat(1_000_000), List.of("generate")))
                .isEmpty();
    }

    @Test
    void no_close_word_gives_no_suggestion() {
        assertThat(SpellingSuggestion.suggestion("double", List.of("fp32", "int8")))
                .isEmpty();
    }
}
