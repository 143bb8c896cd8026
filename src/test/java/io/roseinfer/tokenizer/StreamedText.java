package io.roseinfer.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.Utf16;
import java.util.Arrays;

/** The text of ids that arrive one by one. */
final class StreamedText {
    private StreamedText() {}

    /** The concatenated pieces of a stream. */
    static String of(Detokenizer detokenizer, int... ids) {
        StringBuilder text = new StringBuilder();
        for (int id : ids) {
            detokenizer.push(id, text);
        }
        detokenizer.flush(text);
        return text.toString();
    }

    /** Asserts that at every point of a stream, the returned and the held-back text are the text of the ids so far. */
    static void assertSameAtAnyCut(Tokenizer tokenizer, boolean skipSpecialTokens, int... ids) {
        Detokenizer detokenizer = tokenizer.detokenizer(skipSpecialTokens);
        StringBuilder text = new StringBuilder();
        for (int cut = 0; cut <= ids.length; cut++) {
            String whole = of(tokenizer.detokenizer(skipSpecialTokens), Arrays.copyOf(ids, cut));
            assertThat(text + detokenizer.unfinished()).as("cut at %d", cut).isEqualTo(whole);
            if (cut < ids.length) {
                detokenizer.push(ids[cut], text);
                assertThat(Utf16.unpairedSurrogate(text.toString()))
                        .as("cut at %d", cut)
                        .isNegative();
            }
        }
    }
}
