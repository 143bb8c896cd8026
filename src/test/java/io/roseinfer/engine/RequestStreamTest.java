package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.StepOutputs;
import io.roseinfer.base.Clock;
import io.roseinfer.model.family.ModelFiles;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.tokenizer.Tokenizer;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A stream over a buffer that is written by hand. */
class RequestStreamTest {
    private final Tokenizer tokenizer = tokenizer();

    private static Tokenizer tokenizer() {
        try (ModelFiles files = ModelFiles.openBuiltin("tiny")) {
            return files.tokenizer().orElseThrow();
        }
    }

    private Completion cancelled(int[] ids, int readBefore, String stop) {
        TokenBuffer buffer = new TokenBuffer(ids.length, SamplingParams.greedy());
        RequestStream stream = new RequestStream(
                0, buffer, GenerationRequest.of("x").withStop(stop), Optional.of(tokenizer), Clock.system(), () -> {});
        StepOutputs outputs = new StepOutputs(1);
        for (int i = 0; i < ids.length; i++) {
            buffer.write(ids[i], i, outputs, 0);
            buffer.publish(1);
        }
        for (int i = 0; i < readBefore; i++) {
            stream.next();
        }
        buffer.end(Ending.CANCELLED, ids.length);
        return stream.completion();
    }

    @ParameterizedTest
    @CsvSource({"'Hello there\n', '\nUser:', 0", "'Hello there', 'rest', 0", "'It costs 5 \u20ac', 'none', 1"})
    void the_text_of_a_cancelled_completion_is_the_same_whenever_its_tokens_are_read(
            String text, String stop, int cutTokens) {
        int[] all = tokenizer.encode(text);
        int[] ids = Arrays.copyOf(all, all.length - cutTokens);
        for (int readBefore = 0; readBefore <= ids.length; readBefore++) {
            Completion completion = cancelled(ids, readBefore, stop);
            assertThat(completion.text())
                    .as("%d tokens read before", readBefore)
                    .contains(tokenizer.decode(ids));
            assertThat(completion.tokens().stream().map(GeneratedToken::text).collect(Collectors.joining()))
                    .isEqualTo(tokenizer.decode(ids));
        }
    }
}
