package io.roseinfer.tokenizer;

import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.tokenizer.PostProcessor.Ends;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The settings of {@code tokenizer_config.json}, or in its absence of the legacy files.
 *
 * @param isGpt2 whether the class is GPT-2's, which uses only vocabulary and merges of {@code tokenizer.json};
 *     transformers uses it for a GPT-2 if the file names no class
 * @param addPrefixSpace whether text that does not begin with a space gets one; other classes use
 *     {@code tokenizer.json} for that
 * @param ends the tokens around a text, if the class uses {@code add_bos_token} and {@code add_eos_token}
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

    /** The settings of a GPT-2 directory without the file. */
    static final TokenizerConfig GPT2 = of(true, List.of(), SpecialTokens.NONE.withGpt2Defaults());

    /** The settings for a {@code tokenizer.json} alone, which add nothing. */
    static final TokenizerConfig NONE = of(false, List.of(), SpecialTokens.NONE);

    private static final Set<String> GPT2_CLASSES = Set.of("GPT2Tokenizer", "GPT2TokenizerFast");

    /** Classes that add tokens around a text by their own settings, regardless of {@code post_processor}. */
    private static final Set<String> LLAMA_CLASSES = Set.of("LlamaTokenizer", "LlamaTokenizerFast");

    /** Returns settings that only add tokens. */
    static TokenizerConfig of(boolean isGpt2, List<AddedToken> addedTokens, SpecialTokens special) {
        return new TokenizerConfig(
                isGpt2, false, false, Optional.empty(), false, addedTokens, special, special.contents(""));
    }

    /**
     * Reads the file.
     *
     * @param gpt2Model whether the model is a GPT-2; for others, transformers uses {@code tokenizer.json} even if the
     *     file names GPT-2's class
     * @param legacyIds {@code added_tokens.json}, used if the file has no {@code added_tokens_decoder}
     * @param legacySpecial {@code special_tokens_map.json}, which overrides the file's special tokens if it has no
     *     {@code added_tokens_decoder}
     */
    static TokenizerConfig read(
            JsonView root, Map<String, Integer> legacyIds, SpecialTokens legacySpecial, boolean gpt2Model) {
        JsonView decoder = root.field("added_tokens_decoder");
        boolean listsAddedTokens = !decoder.isAbsent();
        Optional<String> className = root.field("tokenizer_class").optionalText();
        boolean isGpt2 = gpt2Model && className.map(GPT2_CLASSES::contains).orElse(true);
        boolean isLlama = className.map(LLAMA_CLASSES::contains).orElse(false);
        SpecialTokens special = SpecialTokens.read(root, false);
        if (!listsAddedTokens) {
            special = special.overriddenBy(legacySpecial);
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
                listsAddedTokens ? addedTokens(decoder) : addedTokens(legacyIds, special),
                special,
                special.contents(className.orElse("").replaceFirst("Fast$", "")));
    }

    /** Returns the tokens around a text by the settings and defaults of Llama's class. */
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

    /** Returns the tokens of {@code added_tokens.json}; they are special if a file names them as special. */
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
