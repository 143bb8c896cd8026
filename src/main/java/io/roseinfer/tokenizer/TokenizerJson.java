package io.roseinfer.tokenizer;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Reads {@code tokenizer.json}, the one-file format of Hugging Face {@code tokenizers}. The fields {@code truncation} and
 * {@code padding} are left to the caller, as transformers does, and so is what the format itself ignores: unknown fields.
 */
final class TokenizerJson {
    private TokenizerJson() {}

    static ByteLevelModel read(byte[] utf8, String file, TokenizerConfig config) {
        JsonView root = JsonView.parse(utf8, file);
        List<String> warnings = new ArrayList<>();
        PipelineReader.requireNoNormalizer(root.field("normalizer"));
        PipelineReader.PreTokenizer preTokenizer = PipelineReader.preTokenizer(present(root, "pre_tokenizer"));
        if (config.isGpt2()) {
            preTokenizer = preTokenizer.asGpt2(config.addPrefixSpace(), file, warnings);
        }
        PipelineReader.requireNeutralPostProcessor(root.field("post_processor"));
        PipelineReader.requireByteLevelDecoder(root.field("decoder"), warnings);
        JsonView model = root.field("model").object();
        requirePlainBpe(model);
        Map<String, Integer> ids = TokenReader.ids(model.field("vocab"));
        List<Merge> merges = merges(model.field("merges"));
        return new ByteLevelModel(
                file,
                ids,
                Merge.table(merges, ids, warnings),
                AddedTokens.of(file, ids, addedTokens(root.field("added_tokens")), config, warnings),
                preTokenizer.addPrefixSpace(),
                preTokenizer.splitter(),
                config.specialTokens().endOfText(),
                warnings);
    }

    private static JsonView present(JsonView root, String name) {
        JsonView component = root.field(name);
        if (component.isAbsent()) {
            throw component.refused("is missing; a byte-level tokenizer has a ByteLevel " + name);
        }
        return component;
    }

    /**
     * Refuses every option that would change ids. An {@code unk_token} and its kin cannot: all 256 bytes have a token. Old
     * files have no {@code type}.
     */
    private static void requirePlainBpe(JsonView model) {
        JsonView type = model.field("type");
        if (!type.isAbsent() && !type.text().equals("BPE")) {
            throw type.refused("is \"" + type.text() + "\", only \"BPE\" is supported");
        }
        JsonView dropout = model.field("dropout");
        if (!dropout.isAbsent() && dropout.node().doubleValue(1) != 0) {
            throw dropout.refused("is set, which makes ids random; only null or 0 is supported");
        }
        for (String name : List.of("continuing_subword_prefix", "end_of_word_suffix")) {
            JsonView affix = model.field(name);
            if (!affix.optionalText().orElse("").isEmpty()) {
                throw affix.refused("is \"" + affix.text() + "\", only null or \"\" is supported");
            }
        }
        if (model.field("ignore_merges").flag(false)) {
            throw model.field("ignore_merges").refused("is true, only false is supported");
        }
    }

    private static List<Merge> merges(JsonView merges) {
        // Rank is position; the header line that old files carry here has none.
        return merges.elements()
                .filter(merge -> !(merge.node().isString() && merge.text().startsWith("#version")))
                .map(Merge::parse)
                .toList();
    }

    private static List<AddedToken> addedTokens(JsonView tokens) {
        Stream<JsonView> elements = tokens.isAbsent() ? Stream.empty() : tokens.elements();
        return elements.map(token -> TokenReader.addedToken(token, addedId(token), false))
                .filter(token -> !token.content().isEmpty()) // as Hugging Face does
                .toList();
    }

    private static int addedId(JsonView token) {
        JsonView id = token.object().field("id");
        return TokenReader.checkedId(id, id.integer());
    }
}
