package io.roseinfer.tokenizer;

import io.roseinfer.base.RoseException.BadModel;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** Reads {@code vocab.json} and {@code merges.txt}, the two-file format of GPT-2, with GPT-2's defaults around them. */
final class VocabularyFiles {
    private VocabularyFiles() {}

    /**
     * The model of both files.
     *
     * @param added what {@code added_tokens.json} and the like add; {@code <|endoftext|>} is special in any case
     */
    static ByteLevelModel read(
            byte[] vocabulary, byte[] merges, String description, TokenizerConfig config, List<AddedToken> added) {
        if (config.addBeginOfText()) {
            throw new BadModel(
                    description + ": add_bos_token is true in tokenizer_config.json, only false is supported");
        }
        List<String> warnings = new ArrayList<>();
        Map<String, Integer> ids = TokenReader.ids(JsonView.parse(vocabulary, description + " vocab.json"));
        List<Merge> pairs = merges(text(merges, description + " merges.txt"), description + " merges.txt");
        return new ByteLevelModel(
                description,
                ids,
                Merge.table(pairs, ids, warnings),
                withEndOfText(added, ids),
                config.addPrefixSpace(),
                new Gpt2WordSplitter(),
                config.endOfText(),
                warnings);
    }

    /** Ids by token in {@code added_tokens.json}; which of them are special {@code special_tokens_map.json} says. */
    static List<AddedToken> addedTokens(JsonView addedTokens, Set<String> special) {
        return TokenReader.ids(addedTokens).entrySet().stream()
                .filter(entry -> !entry.getKey().isEmpty())
                .map(entry -> {
                    boolean isSpecial = special.contains(entry.getKey());
                    return new AddedToken(entry.getValue(), entry.getKey(), isSpecial, false, false, false, !isSpecial);
                })
                .toList();
    }

    /** Every token that {@code special_tokens_map.json} names. */
    static Set<String> specialTokens(JsonView map) {
        Set<String> special = new HashSet<>();
        map.fields().map(Map.Entry::getValue).forEach(value -> {
            Stream<JsonView> tokens = value.node().isArray() ? value.elements() : Stream.of(value);
            tokens.forEach(token -> TokenizerConfig.tokenText(token).ifPresent(special::add));
        });
        return special;
    }

    private static List<AddedToken> withEndOfText(List<AddedToken> added, Map<String, Integer> ids) {
        Integer id = ids.get(ByteLevelModel.END_OF_TEXT);
        boolean known = added.stream().anyMatch(token -> token.content().equals(ByteLevelModel.END_OF_TEXT));
        if (id == null || known) {
            return added;
        }
        return Stream.concat(added.stream(), Stream.of(AddedToken.special(id, ByteLevelModel.END_OF_TEXT)))
                .toList();
    }

    private static List<Merge> merges(String text, String file) {
        List<Merge> merges = new ArrayList<>();
        int number = 0;
        for (String line : text.split("\n", -1)) {
            number++;
            String merge = line.endsWith("\r") ? line.substring(0, line.length() - 1) : line;
            if (!merge.isEmpty() && !merge.startsWith("#version")) {
                merges.add(Merge.parse(file + " line " + number, merge));
            }
        }
        return merges;
    }

    private static String text(byte[] utf8, String file) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(utf8))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new BadModel(file + " is not UTF-8 text; get the file again", e);
        }
    }
}
