package io.roseinfer.tokenizer;

import io.roseinfer.base.RoseException.BadModel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The content of a tokenizer's files, not yet checked for consistency.
 *
 * @param description its name in messages
 * @param ids the model's tokens, in the byte alphabet if its symbols are bytes
 * @param roles the special tokens by role, such as {@code eos_token}
 */
record BpeModel(
        String description,
        Map<String, Integer> ids,
        MergeTable merges,
        List<AddedToken> addedTokens,
        Pipeline pipeline,
        Options options,
        Map<String, String> roles,
        List<String> warnings) {

    static final String END_OF_TEXT = "<|endoftext|>";

    /** Bytes that never occur in UTF-8, so a vocabulary need not have them. */
    private static final List<Integer> UNUSED_BYTES = Stream.concat(
                    Stream.of(0xc0, 0xc1), IntStream.range(0xf5, 0x100).boxed())
            .toList();

    /** The processing of a text before and after its words are merged. */
    record Pipeline(
            Normalizer normalizer, PreTokenizer preTokenizer, PostProcessor postProcessor, TokenDecoder decoder) {
        static Pipeline ofGpt2(boolean prefixSpace) {
            return new Pipeline(
                    Normalizer.NONE, PreTokenizer.ofGpt2(prefixSpace), PostProcessor.NONE, TokenDecoder.BYTE_LEVEL);
        }
    }

    /**
     * Options for words and symbols.
     *
     * @param ignoresMerges whether a word that is a token becomes that token without merging
     * @param byteFallback whether a symbol outside the vocabulary becomes bytes such as {@code <0xE4>}
     * @param unknown the token for a symbol that has no other encoding
     * @param fusesUnknown whether consecutive unknown symbols become one token
     */
    record Options(boolean ignoresMerges, boolean byteFallback, Optional<String> unknown, boolean fusesUnknown) {
        static final Options NONE = new Options(false, false, Optional.empty(), false);
    }

    private boolean byteLevel() {
        return pipeline.preTokenizer.byteLevel();
    }

    /**
     * Returns the symbols that words consist of.
     *
     * @param found receives a line if some text cannot be encoded
     */
    Symbols symbols(List<String> found) {
        return byteLevel() ? byteSymbols(found) : codePointSymbols();
    }

    private Symbols byteSymbols(List<String> found) {
        int[] byteIds = new int[ByteAlphabet.SIZE];
        List<Integer> missing = new ArrayList<>();
        for (int value = 0; value < byteIds.length; value++) {
            byteIds[value] = ids.getOrDefault(String.valueOf(ByteAlphabet.symbol(value)), Symbols.MISSING);
            if (byteIds[value] == Symbols.MISSING) {
                missing.add(value);
            }
        }
        if (missing.isEmpty()) {
            return new ByteSymbols(byteIds, Symbols.Unknown.NONE);
        }
        if (missing.size() > ByteAlphabet.SIZE / 2) {
            throw refused("the vocabulary has no token for " + missing.size()
                    + " of the 256 bytes; a byte-level vocabulary needs at least half of them");
        }
        if (options.byteFallback) {
            throw refused("byte_fallback is true and the vocabulary has no token for some bytes; the combination"
                    + " is not supported with ByteLevel");
        }
        Symbols.Unknown unknown = unknown();
        missing.removeAll(UNUSED_BYTES);
        if (!missing.isEmpty()) {
            found.add(description + ": the vocabulary has no token for the bytes "
                    + missing.stream()
                            .map(value -> String.format("%02X", value))
                            .toList()
                    + "; in text they become "
                    + options.unknown.map(token -> "\"" + token + "\"").orElse("nothing"));
        }
        return new ByteSymbols(byteIds, unknown);
    }

    private Symbols codePointSymbols() {
        Map<Integer, Integer> codePoints = new HashMap<>();
        ids.forEach((token, id) -> {
            if (!token.isEmpty() && token.length() == Character.charCount(token.codePointAt(0))) {
                codePoints.put(token.codePointAt(0), id);
            }
        });
        int[] byteIds = new int[ByteAlphabet.SIZE];
        Arrays.fill(byteIds, Symbols.MISSING);
        if (options.byteFallback) {
            for (int value = 0; value < byteIds.length; value++) {
                byteIds[value] = ids.getOrDefault(String.format("<0x%02X>", value), Symbols.MISSING);
            }
        }
        return new CodePointSymbols(codePoints, byteIds, unknown());
    }

    private Symbols.Unknown unknown() {
        return options.unknown
                .map(token -> Optional.ofNullable(ids.get(token))
                        .orElseThrow(() -> refused("model.unk_token is \"" + token
                                + "\", which is not in the vocabulary although some text needs it")))
                .map(id -> new Symbols.Unknown(id, options.fusesUnknown))
                .orElse(Symbols.Unknown.NONE);
    }

    /** Returns the words that are tokens regardless of merges; none unless the files enable that. */
    WordTable words() {
        Map<String, Integer> words = new HashMap<>();
        if (options.ignoresMerges) {
            ids.forEach((token, id) -> word(token).ifPresent(word -> words.put(word, id)));
        }
        return new WordTable(words);
    }

    /** Returns the text of a token, if its bytes are complete characters. */
    private Optional<String> word(String token) {
        return (byteLevel() ? ByteAlphabet.text(token) : Optional.of(token)).filter(word -> !word.isEmpty());
    }

    /**
     * Returns every id's bytes; those of an added token outside the model's vocabulary are its text, so that it decodes
     * to itself.
     */
    Vocabulary vocabulary() {
        TreeMap<Integer, byte[]> tokens = new TreeMap<>();
        Map<Integer, String> names = new HashMap<>();
        TokenDecoder decoder = pipeline.decoder;
        ids.forEach((token, id) -> {
            claim(names, id, token);
            tokens.put(id, decoder.bytes(token));
        });
        var kinds = new Vocabulary.Kinds();
        for (AddedToken token : addedTokens) {
            claim(names, token.id(), token.content());
            // A token that is also in the vocabulary keeps its bytes there.
            tokens.computeIfAbsent(token.id(), id -> decoder.addedBytes(token.content()));
            kinds.special().set(token.id(), token.special());
        }
        if (!decoder.byteLevel()) {
            names.forEach((id, token) -> {
                kinds.fallbackBytes().set(id, decoder.fallbackByte(token).isPresent());
                kinds.literalSpaces().set(id, token.indexOf(' ') >= 0);
            });
        }
        return Vocabulary.of(tokens, kinds, decoder.start());
    }

    /** Returns the end-of-text id: that of the named token, or else of {@code <|endoftext|>}. */
    OptionalInt endOfTextId() {
        String wanted = roles.getOrDefault(SpecialTokens.END_OF_TEXT_ROLE, END_OF_TEXT);
        IntStream added = addedTokens.stream()
                .filter(token -> token.content().equals(wanted))
                .mapToInt(AddedToken::id);
        IntStream ordinary = Stream.ofNullable(ids.get(wanted)).mapToInt(id -> id);
        return IntStream.concat(added, ordinary).findFirst();
    }

    private void claim(Map<Integer, String> names, int id, String token) {
        String other = names.putIfAbsent(id, token);
        if (other != null && !other.equals(token)) {
            throw refused("the tokens \"" + other + "\" and \"" + token + "\" have the same id " + id);
        }
    }

    private BadModel refused(String complaint) {
        return new BadModel(description + ": " + complaint);
    }
}
