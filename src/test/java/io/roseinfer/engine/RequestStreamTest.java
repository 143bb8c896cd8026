package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.StepOutputs;
import io.roseinfer.base.Clock;
import io.roseinfer.model.files.ModelFiles;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.tokenizer.Tokenizer;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of a stream over a request whose tokens are written by the test. */
class RequestStreamTest {
    private final Tokenizer tokenizer = tokenizer();

    private static Tokenizer tokenizer() {
        try (ModelFiles files = ModelFiles.openBuiltin("tiny")) {
            return files.tokenizer().orElseThrow();
        }
    }

    /**
     * Returns a completion whose tokens are delivered one by one up to its stop string, while some of them are read.
     */
    private Completion completion(int[] ids, int readBefore, String stop, RequestOutcome otherwise) {
        GenerationRequest request = GenerationRequest.of("x").withStop(stop).withMaxNewTokens(ids.length);
        LiveRequest live = new LiveRequest(0, request, 0, ids.length, Optional.of(tokenizer));
        RequestStream stream = new RequestStream(live, Optional.of(tokenizer), Clock.system(), () -> {});
        StepOutputs outputs = new StepOutputs(1);
        RequestOutcome outcome = otherwise;
        for (int i = 0; i < ids.length && outcome.stopString().isEmpty(); i++) {
            outcome = live.stopsAt(ids[i]) ? RequestOutcome.stoppedBy(stop) : otherwise;
            live.write(ids[i], i, i, outputs, 0);
            if (outcome.stopString().isEmpty()) {
                live.publish(1);
            }
        }
        for (int i = 0; i < readBefore && live.tokens().isPublished(i); i++) {
            stream.next();
        }
        live.finish(outcome, ids.length);
        live.end();
        return stream.completion();
    }

    private void assertText(int[] ids, String stop, RequestOutcome otherwise, String expected) {
        for (int readBefore = 0; readBefore <= ids.length; readBefore++) {
            Completion completion = completion(ids, readBefore, stop, otherwise);
            assertThat(completion.text())
                    .as("stop '%s', %d tokens read before", stop, readBefore)
                    .contains(expected);
            assertThat(completion.tokens().stream().map(GeneratedToken::text).collect(Collectors.joining()))
                    .isEqualTo(expected);
        }
    }

    @ParameterizedTest
    @CsvSource({"'Hello there\n', '\nUser:', 0", "'Hello there', 'rest', 0", "'It costs 5 \u20ac', 'none', 1"})
    void text_of_a_cancelled_completion_does_not_depend_on_when_tokens_are_read(
            String text, String stop, int cutTokens) {
        int[] all = tokenizer.encode(text);
        int[] ids = Arrays.copyOf(all, all.length - cutTokens);
        assertText(ids, stop, RequestOutcome.CANCELLED, tokenizer.decode(ids));
    }

    @ParameterizedTest
    @ValueSource(strings = {"Once there was", "5 \u20ac or 7 \u20ac?", "\ud83c\udf39 na\u00efve"})
    void stop_string_truncates_the_text_regardless_of_token_boundaries(String text) {
        int[] ids = tokenizer.encode(text);
        assertThat(ids.length).as("tokens").isGreaterThan(2);
        for (int from = 0; from < text.length(); from++) {
            for (int to = from + 1; to <= text.length(); to++) {
                String stop = text.substring(from, to);
                assertText(ids, stop, RequestOutcome.LENGTH, text.substring(0, text.indexOf(stop)));
                assertThat(completion(ids, 0, stop, RequestOutcome.LENGTH).stopString())
                        .contains(stop);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"5 \ufffd", " \ufffd", "\ufffd"})
    void stop_string_with_the_incomplete_last_character_truncates_the_text_but_is_not_reported(String stop) {
        int[] all = tokenizer.encode("It costs 5 \u20ac");
        int[] ids = Arrays.copyOf(all, all.length - 1);
        String whole = tokenizer.decode(ids);
        assertThat(whole).isEqualTo("It costs 5 \ufffd");
        assertText(ids, stop, RequestOutcome.LENGTH, whole.substring(0, whole.indexOf(stop)));
        assertThat(completion(ids, 0, stop, RequestOutcome.LENGTH).finishReason())
                .isEqualTo(FinishReason.LENGTH);
    }

    @Test
    void stop_string_with_an_incomplete_character_before_another_token_ends_the_request() {
        int[] half = tokenizer.encode("\u20ac");
        int[] after = tokenizer.encode("a b");
        int[] ids = IntStream.concat(Arrays.stream(half, 0, half.length - 1), Arrays.stream(after))
                .toArray();
        assertThat(tokenizer.decode(ids)).isEqualTo("\ufffda b");
        Completion completion = completion(ids, 0, "\ufffda", RequestOutcome.LENGTH);
        assertThat(completion.text()).contains("");
        assertThat(completion.finishReason()).isEqualTo(FinishReason.STOP);
        assertThat(completion.tokens()).hasSize(half.length);
    }

    @Test
    void text_scanned_for_stop_strings_is_not_decoded_twice() {
        int[] ids = tokenizer.encode("Once there was");
        GenerationRequest request = GenerationRequest.of("x").withStop("END").withMaxNewTokens(ids.length);
        LiveRequest live = new LiveRequest(0, request, 0, ids.length, Optional.of(tokenizer));
        RequestStream withoutTokenizer = new RequestStream(live, Optional.empty(), Clock.system(), () -> {});
        for (int i = 0; i < ids.length; i++) {
            assertThat(live.stopsAt(ids[i])).isFalse();
            live.write(ids[i], i, i, new StepOutputs(1), 0);
        }
        live.finish(RequestOutcome.LENGTH, ids.length);
        live.end();
        assertThat(withoutTokenizer.completion().text()).contains("Once there was");
    }
}
