package io.roseinfer.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.WorkCounter;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** An interrupt ends encoding in each of its phases. */
class InterruptedEncodingTest {
    private static final int LONG = 100_000;

    @AfterEach
    void clearInterrupt() {
        Thread.interrupted();
    }

    private static void assertCancelled(Runnable encoding) {
        Thread.currentThread().interrupt();
        assertThatThrownBy(encoding::run).isInstanceOf(CancellationException.class);
        assertThat(Thread.currentThread().isInterrupted()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", " ", "a b ", "<s>", "\u0301", "1"})
    void interrupt_ends_every_way_of_encoding_and_remains_set(String unit) {
        Tokenizer tokenizer = SampleTokenizer.with(TrainedVocabulary.added(SampleTokenizer.FREE, "<s>", "special"));
        String text = unit.repeat(LONG);
        assertCancelled(() -> tokenizer.encode(text));
        assertCancelled(() -> tokenizer.encodePrompt(text));
        assertCancelled(() -> tokenizer.encodeOrdinary(text));
    }

    @Test
    void interrupt_ends_the_search_for_added_tokens() {
        AddedTokenMatcher matcher = new AddedTokenMatcher(List.of(AddedToken.special(1, "<s>")), Normalizer.NONE);
        AddedTokenMatcher.Parts interrupting = new AddedTokenMatcher.Parts() {
            @Override
            public void plain(String text, int from, int to) {
                Thread.currentThread().interrupt();
            }

            @Override
            public void added(AddedToken token) {}
        };
        String text = "a<s>" + "b".repeat(LONG);
        assertThatThrownBy(() -> matcher.split(text, 0, text.length(), false, interrupting, new WorkCounter()))
                .isInstanceOf(CancellationException.class);
    }

    static Stream<Normalizer.Step> normalizations() {
        return Stream.of(new Normalizer.Nfc(), new Normalizer.Replace(" ", "_"));
    }

    @ParameterizedTest
    @MethodSource("normalizations")
    void interrupt_ends_normalization(Normalizer.Step step) {
        String text = "a\u0301\u0323 ".repeat(LONG);
        assertCancelled(() -> step.apply(text, new WorkCounter()));
    }

    @Test
    void interrupt_does_not_end_the_initializer_of_the_built_in_vocabulary() {
        Thread.currentThread().interrupt();
        assertThat(Gpt2Ranks.read().ids()).hasSize(50257);
        assertThat(Thread.currentThread().isInterrupted()).isTrue();
    }
}
