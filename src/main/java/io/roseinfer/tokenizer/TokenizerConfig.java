package io.roseinfer.tokenizer;

import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.tokenizer.PostProcessor.Ends;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What {@code tokenizer_config.json} adds to a tokenizer's other files, and in its absence the older files.
 *
 * @param isGpt2 whether the class is GPT-2's own, which takes only vocabulary and merges from {@code tokenizer.json} and has its
 *     own settings for the rest; that is what transformers loads for a GPT-2 if the file names no class
 * @param addPrefixSpace whether text that does not begin with a space gets one; where the class is another,
 *     {@code tokenizer.json} says
 * @param ends the tokens around a whole text, where the class decides that by {@code add_bos_token} and {@code add_eos_token}
 * @param listsAddedTokens whether there is an {@code added_tokens_decoder}, even an empty one
 * @param addedTokens {@code added_tokens_decoder}, or {@code added_tokens.json}
 * @param roles the special tokens by role, with the defaults of the class
 */
record TokenizerConfig(
        boolean isGpt2,
        boolean addPrefixSpace,
        boolean addBeginOfText,
        Optional<Ends> ends,
        boolean listsAddedTokens,
        List<AddedToken> addedTokens,
        SpecialTokens specialTokens,
        Map<String, String> roles) {

    /** The settings of a directory without the file. */
    static final TokenizerConfig GPT2 = of(true, List.of(), SpecialTokens.NONE.withGpt2Defaults());

    /** The settings of a {@code tokenizer.json} by itself, which adds nothing to what it says. */
    static final TokenizerConfig NONE = of(false, List.of(), SpecialTokens.NONE);

    private static final Set<String> GPT2_CLASSES = Set.of("GPT2Tokenizer", "GPT2TokenizerFast");

    /** The classes that put tokens around a text by their own settings, whatever {@code post_processor} says. */
    private static final Set<String> LLAMA_CLASSES = Set.of("LlamaTokenizer", "LlamaTokenizerFast");

    /** Settings that add tokens and nothing else. */
    static TokenizerConfig of(boolean isGpt2, List<AddedToken> addedTokens, SpecialTokens special) {
        return new TokenizerConfig(
                isGpt2, false, false, Optional.empty(), false, addedTokens, special, special.contents(""));
    }

    /**
     * Reads the file.
     *
     * @param gpt2Model whether the model is a GPT-2: for any other, transformers takes {@code tokenizer.json} as it is, though the
     *     file may name GPT-2's class
     * @param olderIds {@code added_tokens.json}, which counts if the file lists no added tokens itself
     * @param olderSpecial {@code special_tokens_map.json}, likewise
     */
    static TokenizerConfig read(
            JsonView root, Map<String, Integer> olderIds, SpecialTokens olderSpecial, boolean gpt2Model) {
        JsonView decoder = root.field("added_tokens_decoder");
        boolean listsAddedTokens = !decoder.isAbsent();
        Optional<String> className = root.field("tokenizer_class").optionalText();
        boolean isGpt2 = gpt2Model && className.map(GPT2_CLASSES::contains).orElse(true);
        boolean isLlama = className.map(LLAMA_CLASSES::contains).orElse(false);
        SpecialTokens special = SpecialTokens.read(root, false);
        if (!listsAddedTokens) {
            special = special.overriddenBy(olderSpecial);
        }
        if (isGpt2) {
            special = special.withGpt2Defaults();
        }
        return new TokenizerConfig(
                isGpt2,
                root.field("add_prefix_space").flag(false),
                root.field("add_bos_token").flag(false),
                isLlama ? Optional.of(ends(root, special)) : Optional.empty(),
                listsAddedTokens,
                listsAddedTokens ? addedTokens(decoder) : addedTokens(olderIds, special),
                special,
                special.contents(className.orElse("").replaceFirst("Fast$", "")));
    }

    /** The settings of Llama's class, with its own defaults. */
    private static Ends ends(JsonView root, SpecialTokens special) {
        JsonView begin = root.field("add_bos_token");
        JsonView end = root.field("add_eos_token");
        return new Ends(
                begin.flag(true) ? special.contentOf(SpecialTokens.BEGIN_OF_TEXT_ROLE, "<s>") : Optional.empty(),
                end.flag(false) ? special.contentOf(SpecialTokens.END_OF_TEXT_ROLE, "</s>") : Optional.empty(),
                !begin.isAbsent() || !end.isAbsent());
    }

    private static List<AddedToken> addedTokens(JsonView byId) {
        return byId.fields()
                .map(entry -> AddedToken.read(entry.getValue(), id(entry.getKey(), entry.getValue()), false))
                .filter(token -> !token.content().isEmpty())
                .toList();
    }

    /** Returns the tokens of {@code added_tokens.json}; those that a file names as special are. */
    private static List<AddedToken> addedTokens(Map<String, Integer> ids, SpecialTokens named) {
        Set<String> specials = named.all().map(AddedToken::content).collect(Collectors.toSet());
        return ids.entrySet().stream()
                .filter(entry -> !entry.getKey().isEmpty())
                .map(entry -> {
                    boolean isSpecial = specials.contains(entry.getKey());
                    return new AddedToken(entry.getValue(), entry.getKey(), isSpecial, false, false, false, !isSpecial);
                })
                .toList();
    }

    private static int id(String name, JsonView token) {
        try {
            return token.tokenId(Integer.parseInt(name));
        } catch (NumberFormatException e) {
            throw new BadModel(token.where() + " is named \"" + name + "\", expected a token id", e);
        }
    }
}
