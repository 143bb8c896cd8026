package io.roseinfer.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.TokenMask;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class LogitConstraintsTest {
    private static final int VOCABULARY = 50;
    private static final int PROMPT = 2;

    private record Tokens(int... ids) implements TokenHistory {
        @Override
        public int promptLength() {
            return PROMPT;
        }

        @Override
        public int length() {
            return ids.length;
        }

        @Override
        public int token(int index) {
            return ids[index];
        }
    }

    /** Returns the first token of the mask, and the tokens with their biases, of a sample. */
    private static List<String> applied(LogitConstraints constraints, int... ids) {
        List<String> seen = new ArrayList<>();
        constraints.apply(new Tokens(ids), ids.length, new LogitConstraints.Target() {
            @Override
            public void mask(TokenMask mask) {
                seen.add("mask " + mask.nextAllowed(0));
            }

            @Override
            public void bias(int token, float bias) {
                seen.add(token + " " + bias);
            }
        });
        return seen;
    }

    private static LogitConstraints of(TokenConstraints asked, int[]... badWords) {
        return new LogitConstraints(asked, VOCABULARY, new int[] {40, 41}, Arrays.asList(badWords));
    }

    @Test
    void mask_and_biases_apply_to_every_sample() {
        LogitConstraints constraints =
                of(TokenConstraints.NONE.withAllowedTokens(List.of(7, 9)).withLogitBias(Map.of(9, -3.5f, 7, 100f)));
        assertThat(applied(constraints, 1, 2)).containsExactly("mask 7", "7 100.0", "9 -3.5");
        assertThat(constraints.needsTokens()).isFalse();
    }

    @Test
    void stop_tokens_are_forbidden_until_the_minimum_is_reached() {
        LogitConstraints constraints = of(TokenConstraints.NONE.withMinTokens(2));
        assertThat(applied(constraints, 1, 2)).containsExactly("40 -Infinity", "41 -Infinity");
        assertThat(applied(constraints, 1, 2, 3)).hasSize(2);
        assertThat(applied(constraints, 1, 2, 3, 4)).isEmpty();
        assertThat(constraints.needsTokens()).isFalse();
    }

    @Test
    void last_token_of_a_bad_word_is_forbidden_after_its_others_in_the_completion() {
        LogitConstraints constraints = of(TokenConstraints.NONE, new int[] {5}, new int[] {1, 2, 6});
        assertThat(constraints.needsTokens()).isTrue();
        assertThat(applied(constraints, 1, 2)).as("after the prompt alone").containsExactly("5 -Infinity");
        assertThat(applied(constraints, 9, 1, 2)).containsExactly("5 -Infinity");
        assertThat(applied(constraints, 9, 9, 1, 2)).containsExactly("5 -Infinity", "6 -Infinity");
        assertThat(applied(constraints, 9, 9, 1, 2, 3)).containsExactly("5 -Infinity");
    }

    @Test
    void bad_word_of_one_token_depends_on_no_earlier_tokens() {
        assertThat(of(TokenConstraints.NONE, new int[] {5}).needsTokens()).isFalse();
    }

    @Test
    void biases_of_a_sample_are_at_most_the_stated_maximum() {
        LogitConstraints all = of(
                TokenConstraints.NONE.withMinTokens(5).withLogitBias(Map.of(9, -3.5f)), new int[] {5}, new int[] {1, 6
                });
        assertThat(applied(all, 9, 1)).hasSize(4);
        assertThat(applied(all, 9, 9, 1)).hasSize(5);
        assertThat(all.maxBiases()).isEqualTo(5);
    }

    @Test
    void largest_token_id_is_that_of_the_allowed_tokens_and_biases() {
        assertThat(TokenConstraints.NONE.maxId()).isEqualTo(-1);
        TokenConstraints allowed = TokenConstraints.NONE.withAllowedTokens(List.of(8, 3));
        assertThat(allowed.maxId()).isEqualTo(8);
        assertThat(allowed.withLogitBias(Map.of(9, 1f)).maxId()).isEqualTo(9);
        assertThat(allowed.withLogitBias(Map.of(2, 1f)).maxId()).isEqualTo(8);
    }

    static Stream<Arguments> wrong() {
        Map<Integer, Float> many = new HashMap<>();
        for (int id = 0; id <= TokenConstraints.MAX_BIASES; id++) {
            many.put(id, 1f);
        }
        TokenConstraints none = TokenConstraints.NONE;
        return Stream.<Map.Entry<String, Runnable>>of(
                        Map.entry("minTokens", () -> none.withMinTokens(-1)),
                        Map.entry("allowed_token_ids", () -> none.withAllowedTokens(List.of(-1))),
                        Map.entry("logit_bias", () -> none.withLogitBias(Map.of(-1, 1f))),
                        Map.entry("logit_bias of token 3", () -> none.withLogitBias(Map.of(3, 100.5f))),
                        Map.entry("logit_bias of token 3", () -> none.withLogitBias(Map.of(3, Float.NaN))),
                        Map.entry("301", () -> none.withLogitBias(many)),
                        Map.entry("bad_words", () -> none.withBadWords(List.of("a", " "))),
                        Map.entry(
                                "257",
                                () -> none.withBadWords(Collections.nCopies(TokenConstraints.MAX_BAD_WORDS + 1, "a"))))
                .map(entry -> Arguments.of(entry.getKey(), entry.getValue()));
    }

    @ParameterizedTest
    @MethodSource("wrong")
    void value_out_of_range_is_rejected_by_name(String named, Runnable made) {
        assertThatThrownBy(made::run).isInstanceOf(BadInput.class).hasMessageContaining(named);
    }
}
