package io.roseinfer.server.api;

import io.roseinfer.tokenizer.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * What single tokens are called beside the text of a completion.
 *
 * @param tokenizer without one tokens have no texts
 * @param asIds whether their ids are told instead, which no two tokens share
 */
record TokenTexts(Optional<Tokenizer> tokenizer, boolean asIds) {

    /** The token's text, or {@code token_id:17}. */
    String text(int id) {
        return tokenizer.isPresent() && !asIds ? text(new int[] {id}) : "token_id:" + id;
    }

    /** The text of some ids; empty without a tokenizer. */
    String text(int[] ids) {
        return tokenizer.map(words -> words.decode(ids)).orElse("");
    }

    /** The bytes that a token stands for, which need not be whole characters. */
    byte[] bytes(int id) {
        return tokenizer.map(words -> words.bytes(id)).orElseGet(() -> text(id).getBytes(StandardCharsets.UTF_8));
    }
}
