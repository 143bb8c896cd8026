package io.roseinfer.tokenizer;

import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.tokenizer.bpe.ByteAlphabet;
import io.roseinfer.tokenizer.bpe.MergeTable;
import io.roseinfer.tokenizer.bpe.WordSplitter;
import java.nio.charset.StandardCharsets;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * All that the files of a byte-level tokenizer say, read but not yet held against each other.
 *
 * @param description what messages call it
 * @param ids the model's tokens in the byte alphabet
 * @param addPrefixSpace whether text that does not begin with a space gets one
 * @param endOfText the token that ends a text, when the files name one
 */
record ByteLevelModel(
        String description,
        Map<String, Integer> ids,
        MergeTable merges,
        List<AddedToken> addedTokens,
        boolean addPrefixSpace,
        WordSplitter splitter,
        Optional<String> endOfText,
        List<String> warnings) {

    static final String END_OF_TEXT = "<|endoftext|>";

    /** The id of each byte's symbol: without all 256 some text could not be encoded. */
    int[] byteIds() {
        int[] byteIds = new int[ByteAlphabet.SIZE];
        for (int value = 0; value < byteIds.length; value++) {
            String symbol = String.valueOf(ByteAlphabet.symbol(value));
            Integer id = ids.get(symbol);
            if (id == null) {
                throw refused("the vocabulary has no token \"" + symbol + "\" for byte " + value
                        + "; a byte-level vocabulary has all 256");
            }
            byteIds[value] = id;
        }
        return byteIds;
    }

    /**
     * Every id's bytes; those of an added token outside the model's vocabulary are its UTF-8, so that it decodes to itself.
     * (Hugging Face reads such a token in the byte alphabet when all its characters happen to be in there: {@code é} becomes
     * the lone byte E9.)
     */
    Vocabulary vocabulary() {
        TreeMap<Integer, byte[]> tokens = new TreeMap<>();
        Map<Integer, String> names = new HashMap<>();
        ids.forEach((token, id) -> {
            claim(names, id, token);
            tokens.put(id, ByteAlphabet.bytes(token));
        });
        BitSet special = new BitSet();
        for (AddedToken token : addedTokens) {
            claim(names, token.id(), token.content());
            // A token that is in the vocabulary too keeps the bytes that merges make it from.
            tokens.putIfAbsent(token.id(), token.content().getBytes(StandardCharsets.UTF_8));
            special.set(token.id(), token.special());
        }
        return Vocabulary.of(tokens, special);
    }

    /** The id of the end of text: the named token's, else {@code <|endoftext|>}'s. */
    OptionalInt endOfTextId() {
        String wanted = endOfText.orElse(END_OF_TEXT);
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
