package io.roseinfer.tokenizer;

import io.roseinfer.base.RoseException.BadModel;
import java.util.List;
import java.util.Optional;

/**
 * What {@code tokenizer_config.json} adds to a tokenizer's other files. Beside a {@code tokenizer.json} only the end-of-text
 * token counts.
 *
 * @param endOfText {@code eos_token}
 * @param addedTokens {@code added_tokens_decoder}, if there is one
 */
record TokenizerConfig(
        Optional<String> endOfText,
        boolean addPrefixSpace,
        boolean addBeginOfText,
        Optional<List<AddedToken>> addedTokens) {

    /** What holds without the file. */
    static final TokenizerConfig DEFAULT = new TokenizerConfig(Optional.empty(), false, false, Optional.empty());

    static TokenizerConfig read(byte[] utf8, String file) {
        JsonView root = JsonView.parse(utf8, file);
        JsonView added = root.field("added_tokens_decoder");
        return new TokenizerConfig(
                tokenText(root.field("eos_token")),
                root.field("add_prefix_space").flag(false),
                root.field("add_bos_token").flag(false),
                added.isAbsent() ? Optional.empty() : Optional.of(addedTokens(added)));
    }

    /** A token spelt as a string or as an object with {@code content}. */
    static Optional<String> tokenText(JsonView token) {
        return token.node().isObject() ? token.field("content").optionalText() : token.optionalText();
    }

    private static List<AddedToken> addedTokens(JsonView byId) {
        return byId.fields()
                .map(entry -> TokenReader.addedToken(entry.getValue(), id(entry.getKey(), entry.getValue())))
                .filter(token -> !token.content().isEmpty())
                .toList();
    }

    private static int id(String name, JsonView token) {
        try {
            return TokenReader.checkedId(token, Integer.parseInt(name));
        } catch (NumberFormatException e) {
            throw new BadModel(token.where() + " is named \"" + name + "\", expected a token id", e);
        }
    }
}
