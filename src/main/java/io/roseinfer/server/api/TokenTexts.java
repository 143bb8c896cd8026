package io.roseinfer.server.api;

import io.roseinfer.tokenizer.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * The texts of single tokens.
 *
 * @param tokenizer without one tokens have no texts
 * @param asIds whether ids are used instead, which are unambiguous
 */
record TokenTexts(Optional<Tokenizer> tokenizer, boolean asIds) {

    /** Returns the token's text, or {@code token_id:17}. */
    String text(int id) {
        return tokenizer.isPresent() && !asIds ? text(new int[] {id}) : "token_id:" + id;
    }

    /** Returns the text of some ids; empty without a tokenizer. */
    String text(int[] ids) {
        return tokenizer.map(words -> words.decode(ids)).orElse("");
    }

    /** Returns the bytes of a token, which may be part of a character. */
    byte[] bytes(int id) {
        return tokenizer.map(words -> words.bytes(id)).orElseGet(() -> text(id).getBytes(StandardCharsets.UTF_8));
    }
}
