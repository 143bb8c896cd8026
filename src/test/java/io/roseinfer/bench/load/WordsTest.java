package io.roseinfer.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.engine.Prompt;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class WordsTest {
    @Test
    void each_id_of_a_byte_vocabulary_has_its_word() {
        Prompt prompt = Words.of(new Prompt.Tokens(IntStream.range(0, 256).toArray()));
        String text = ((Prompt.Text) prompt).text();
        assertThat(Arrays.stream(text.split(" ")).distinct()).hasSize(256).allMatch(word -> word.matches("[a-z]+"));
    }

    @Test
    void shared_prefixes_stay_shared_and_text_is_kept() {
        String one = ((Prompt.Text) Words.of(new Prompt.Tokens(new int[] {3, 4, 5}))).text();
        String other = ((Prompt.Text) Words.of(new Prompt.Tokens(new int[] {3, 4, 300}))).text();
        assertThat(other).startsWith(one.substring(0, one.lastIndexOf(' ')));
        Prompt text = new Prompt.Text("as it is");
        assertThat(Words.of(text)).isSameAs(text);
    }
}
