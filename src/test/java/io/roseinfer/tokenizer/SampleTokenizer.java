package io.roseinfer.tokenizer;

import java.nio.charset.StandardCharsets;
import java.util.List;

/** A small trained tokenizer, and broken variants of it. */
final class SampleTokenizer {
    static final TrainedVocabulary TRAINED = TrainedVocabulary.train(7, 60);

    /** The first id that is free for an added token. */
    static final int FREE = TRAINED.tokens().size();

    private SampleTokenizer() {}

    /** The trained vocabulary with these added tokens. */
    static Tokenizer with(Object... addedTokens) {
        var root = TRAINED.tokenizerJson();
        root.put("added_tokens", List.of(addedTokens));
        return of(TrainedVocabulary.json(root));
    }

    static Tokenizer of(String tokenizerJson) {
        return Tokenizers.fromTokenizerJson(bytes(tokenizerJson), "tokenizer.json");
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
