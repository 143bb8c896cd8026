package io.roseinfer.tokenizer;

import io.roseinfer.base.Limits;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/** Reads tokens and their ids out of JSON, as all of Hugging Face's tokenizer files spell them. */
final class TokenReader {
    private TokenReader() {}

    /** An object of ids by token, {@code model.vocab} or {@code vocab.json}. */
    static Map<String, Integer> ids(JsonView vocabulary) {
        return vocabulary
                .fields()
                .collect(Collectors.toMap(
                        Map.Entry::getKey,
                        entry -> id(entry.getValue(), entry.getKey()),
                        (first, second) -> first,
                        LinkedHashMap::new));
    }

    /**
     * The properties of an added token whose id stands elsewhere or in the same object.
     *
     * @param isSpecial whether it is special if it does not say
     */
    static AddedToken addedToken(JsonView token, int id, boolean isSpecial) {
        boolean special = token.field("special").flag(isSpecial);
        return new AddedToken(
                id,
                token.object().field("content").text(),
                special,
                token.field("single_word").flag(false),
                token.field("lstrip").flag(false),
                token.field("rstrip").flag(false),
                token.field("normalized").flag(!special));
    }

    static int id(JsonView view, String token) {
        int unpaired = Utf16.unpairedSurrogate(token);
        if (unpaired >= 0) {
            throw view.refused("has an unpaired surrogate in its name; a token must be valid Unicode");
        }
        return checkedId(view, view.integer());
    }

    static int checkedId(JsonView view, int id) {
        if (id < 0 || id >= Limits.MODEL_DIMENSION) {
            throw view.refused("is " + id + ", token ids are 0.." + (Limits.MODEL_DIMENSION - 1));
        }
        return id;
    }
}
