package io.roseinfer.base;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SpellingTest {
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
    void distance_counts_characters_inserted_deleted_replaced_and_exchanged(String from, String to, int slips) {
        assertThat(Spelling.distance(from, to)).isEqualTo(slips);
    }

    @Test
    void words_that_are_equally_near_are_all_suggested_in_their_order() {
        assertThat(Spelling.nearest("int", List.of("fp32", "int8", "int4"))).containsExactly("int8", "int4");
    }

    @Test
    void a_nearer_word_leaves_no_room_for_a_farther_one() {
        assertThat(Spelling.nearest("generat", List.of("generated", "generate")))
                .containsExactly("generate");
    }

    @Test
    void a_word_with_more_than_one_slip_in_four_characters_is_not_near() {
        assertThat(Spelling.nearest("gpu", List.of("cpu"))).isEmpty();
        assertThat(Spelling.nearest("bf61", List.of("bf16"))).containsExactly("bf16");
    }

    @Test
    void a_text_of_a_million_characters_is_near_no_word() {
        assertThat(Spelling.nearest("x".repeat(1_000_000), List.of("generate"))).isEmpty();
    }

    @Test
    void nothing_near_suggests_nothing() {
        assertThat(Spelling.suggestion("double", List.of("fp32", "int8"))).isEmpty();
    }
}
