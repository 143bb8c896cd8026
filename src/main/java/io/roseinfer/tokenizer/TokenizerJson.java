package io.roseinfer.tokenizer;

import io.roseinfer.base.RoseException.BadModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Reads {@code tokenizer.json}, the format of Hugging Face {@code tokenizers}. {@code truncation} and {@code padding}
 * are left to the caller, as in transformers; unknown fields are ignored, as in {@code tokenizers}.
 */
final class TokenizerJson {
    private TokenizerJson() {}

    static BpeModel read(byte[] utf8, String file, TokenizerConfig config) {
        JsonView root = JsonView.parse(utf8, file);
        List<String> warnings = new ArrayList<>();
        JsonView model = root.field("model").object();
        BpeModel.Options options = options(model);
        Normalizer normalizer = Normalizer.read(root.field("normalizer"));
        PreTokenizer preTokenizer = PreTokenizer.read(root.field("pre_tokenizer"), normalizer);
        TokenDecoder decoder = TokenDecoder.read(root.field("decoder"), preTokenizer.byteLevel(), warnings);
        PostProcessor postProcessor = PostProcessor.read(root.field("post_processor"));
        if (config.isGpt2()) {
            requireGpt2(root, preTokenizer, normalizer, options);
            preTokenizer = preTokenizer.asGpt2(config.addPrefixSpace(), file, warnings);
        }
        Map<String, Integer> ids = model.field("vocab").tokenIds();
        List<Merge> merges = merges(model.field("merges"));
        List<AddedToken> added = AddedTokens.of(file, ids, addedTokens(root.field("added_tokens")), config, warnings);
        PostProcessor around = config.ends()
                .filter(ends -> ends.explicit() || root.field("post_processor").isAbsent())
                .map(ends -> ends.postProcessor(token -> idOf(token, added, ids, file)))
                .orElse(postProcessor);
        return new BpeModel(
                file,
                ids,
                Merge.table(merges, ids, warnings),
                added,
                new BpeModel.Pipeline(normalizer, preTokenizer, around, decoder),
                options,
                config.roles(),
                warnings);
    }

    /**
     * Rejects a file for another pipeline if the class is GPT-2's, which uses only vocabulary and merges of the file.
     */
    private static void requireGpt2(
            JsonView root, PreTokenizer preTokenizer, Normalizer normalizer, BpeModel.Options options) {
        String complaint = "but the tokenizer's class is GPT2Tokenizer, or the model is a GPT-2 and"
                + " tokenizer_config.json names no class; set tokenizer_class to PreTrainedTokenizerFast to use this file's pipeline";
        if (!normalizer.isNone()) {
            throw root.field("normalizer").refused("is set, " + complaint);
        }
        if (!preTokenizer.byteLevel()) {
            throw root.field("pre_tokenizer").refused("has no ByteLevel, " + complaint);
        }
        if (options.ignoresMerges()) {
            throw root.field("model").field("ignore_merges").refused("is true, " + complaint);
        }
    }

    private static int idOf(String token, List<AddedToken> added, Map<String, Integer> ids, String file) {
        return added.stream()
                .filter(candidate -> candidate.content().equals(token))
                .map(AddedToken::id)
                .findFirst()
                .or(() -> Optional.ofNullable(ids.get(token)))
                .orElseThrow(() -> new BadModel(file + ": has no token \"" + token
                        + "\", which is needed for add_bos_token or add_eos_token of tokenizer_config.json"));
    }

    /**
     * Reads the options of the model and rejects unsupported ones that would change ids. Old files have no
     * {@code type}.
     */
    private static BpeModel.Options options(JsonView model) {
        JsonView type = model.field("type");
        if (!type.isAbsent() && !type.text().equals("BPE")) {
            throw type.refused("is \"" + type.text() + "\", only \"BPE\" is supported");
        }
        JsonView dropout = model.field("dropout");
        if (!dropout.isAbsent() && dropout.node().doubleValue(1) != 0) {
            throw dropout.refused("is set, which randomizes ids; only null or 0 is supported");
        }
        for (String name : List.of("continuing_subword_prefix", "end_of_word_suffix")) {
            JsonView affix = model.field(name);
            if (!affix.optionalText().orElse("").isEmpty()) {
                throw affix.refused("is \"" + affix.text() + "\", only null or \"\" is supported");
            }
        }
        return new BpeModel.Options(
                model.field("ignore_merges").flag(false),
                model.field("byte_fallback").flag(false),
                model.field("unk_token").optionalText(),
                model.field("fuse_unk").flag(false));
    }

    private static List<Merge> merges(JsonView merges) {
        // The rank is the position, not counting the header line of old files.
        return merges.elements()
                .filter(merge -> !(merge.node().isString() && merge.text().startsWith("#version")))
                .map(Merge::parse)
                .toList();
    }

    private static List<AddedToken> addedTokens(JsonView tokens) {
        Stream<JsonView> elements = tokens.isAbsent() ? Stream.empty() : tokens.elements();
        return elements.map(token ->
                        AddedToken.read(token, token.object().field("id").tokenId(), false))
                .filter(token -> !token.content().isEmpty()) // as in Hugging Face tokenizers
                .toList();
    }
}
