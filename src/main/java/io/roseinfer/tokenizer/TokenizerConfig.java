package io.roseinfer.tokenizer;

import io.roseinfer.base.RoseException.BadModel;
import java.util.List;
import java.util.Set;

/**
 * What {@code tokenizer_config.json} adds to a tokenizer's other files, and in its absence the older files.
 *
 * @param isGpt2 whether the class is GPT-2's own, which takes only vocabulary and merges from {@code tokenizer.json} and has its
 *     own settings for the rest; that is what transformers loads for a GPT-2 if the file names no class
 * @param addPrefixSpace whether text that does not begin with a space gets one; where the class is another,
 *     {@code tokenizer.json} says
 * @param listsAddedTokens whether there is an {@code added_tokens_decoder}, even an empty one
 * @param addedTokens {@code added_tokens_decoder}, or {@code added_tokens.json}
 */
record TokenizerConfig(
        boolean isGpt2,
        boolean addPrefixSpace,
        boolean addBeginOfText,
        boolean listsAddedTokens,
        List<AddedToken> addedTokens,
        SpecialTokens specialTokens) {

    /** The settings of a directory without the file. */
    static final TokenizerConfig GPT2 =
            new TokenizerConfig(true, false, false, false, List.of(), SpecialTokens.NONE.withGpt2Defaults());

    /** The settings of a {@code tokenizer.json} by itself, which adds nothing to what it says. */
    static final TokenizerConfig NONE = new TokenizerConfig(false, false, false, false, List.of(), SpecialTokens.NONE);

    private static final Set<String> GPT2_CLASSES = Set.of("GPT2Tokenizer", "GPT2TokenizerFast");

    /**
     * Reads the file.
     *
     * @param olderTokens {@code added_tokens.json} and {@code special_tokens_map.json}, which count if the file lists no added
     *     tokens itself
     */
    static TokenizerConfig read(JsonView root, OlderFiles olderTokens) {
        JsonView decoder = root.field("added_tokens_decoder");
        boolean listsAddedTokens = !decoder.isAbsent();
        boolean isGpt2 = root.field("tokenizer_class")
                .optionalText()
                .map(GPT2_CLASSES::contains)
                .orElse(true);
        SpecialTokens special = SpecialTokens.read(root, false);
        if (!listsAddedTokens) {
            special = special.overriddenBy(olderTokens.special());
        }
        return new TokenizerConfig(
                isGpt2,
                root.field("add_prefix_space").flag(false),
                root.field("add_bos_token").flag(false),
                listsAddedTokens,
                listsAddedTokens ? addedTokens(decoder) : olderTokens.added(special),
                isGpt2 ? special.withGpt2Defaults() : special);
    }

    private static List<AddedToken> addedTokens(JsonView byId) {
        return byId.fields()
                .map(entry -> TokenReader.addedToken(entry.getValue(), id(entry.getKey(), entry.getValue()), false))
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
