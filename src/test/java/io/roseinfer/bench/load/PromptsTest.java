package io.roseinfer.bench.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.engine.Prompt;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class PromptsTest {
    private static List<String> texts(String prompt, List<Integer> repeats, boolean unique, int requests) {
        return Prompts.texts(prompt, repeats, unique, requests).stream()
                .map(text -> ((Prompt.Text) text).text())
                .toList();
    }

    @Test
    void repeat_list_cycles_over_requests() {
        assertThat(texts("Hi", List.of(1, 3), false, 3)).containsExactly("Hi", "Hi Hi Hi", "Hi");
    }

    @Test
    void unique_text_ends_in_the_request_number() {
        assertThat(texts("Hello", List.of(2), true, 2)).containsExactly("Hello Hello [0]", "Hello Hello [1]");
    }

    @Test
    void repeat_of_zero_is_rejected() {
        assertThatThrownBy(() -> texts("Hi", List.of(1, 0), false, 1))
                .isInstanceOf(BadInput.class)
                .hasMessage("--prompt-repeats is [1, 0]; it must be positive whole numbers");
    }

    @Test
    void oversized_text_repeats_are_rejected_before_allocation() {
        assertThatThrownBy(() -> texts("Hello", List.of(Integer.MAX_VALUE), false, 1))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("--prompt-repeats makes a prompt of 12884901882 characters");
    }

    @Test
    void oversized_token_repeats_are_rejected_before_allocation() {
        assertThatThrownBy(() -> Prompts.tokens(new int[] {1, 2}, List.of(Integer.MAX_VALUE), 1))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("--prompt-repeats makes a prompt of 4294967294 tokens");
    }

    @Test
    void equal_texts_are_tokenized_once() {
        List<String> seen = new ArrayList<>();
        UnaryOperator<Prompt> tokenized = Prompts.tokenized(text -> {
            seen.add(text);
            return new int[] {text.length()};
        });
        List<int[]> ids = Stream.of("a", "bb", "a")
                .map(text -> ((Prompt.Tokens) tokenized.apply(new Prompt.Text(text))).ids())
                .toList();
        assertThat(ids).containsExactly(new int[] {1}, new int[] {2}, new int[] {1});
        assertThat(seen).containsExactly("a", "bb");
    }
}
