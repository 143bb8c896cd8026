package io.roseinfer.grammar;

import io.roseinfer.base.TokenMask;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * A vocabulary arranged for masks: a prefix tree of all tokens, and slices of the tokens for texts that are loosely
 * constrained, such as JSON strings. Built once per model. Immutable and thread-safe.
 */
public final class TokenTrie {
    /** The first numbers of characters of the slices. */
    private static final int[] SLICES = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 21, 25, 33};

    private final PlainChars plain = new PlainChars();
    private final TokenVocabulary vocabulary;
    private final FlatTrie all;
    private final List<PlainSlice> slices;
    private final FlatTrie rest;
    private final int[] twins;
    private final int maxBytes;

    private TokenTrie(TokenVocabulary vocabulary) {
        this.vocabulary = vocabulary;
        List<Integer> sorted = IntStream.range(0, vocabulary.size())
                .filter(token -> vocabulary.bytes(token) != null)
                .boxed()
                .sorted(Comparator.comparing(vocabulary::bytes, Arrays::compareUnsigned))
                .toList();
        int[] distinct = new int[sorted.size()];
        int[] pairs = new int[2 * sorted.size()];
        int size = 0;
        int pairCount = 0;
        int longest = 0;
        for (int token : sorted) {
            longest = Math.max(longest, length(token));
            if (size > 0 && Arrays.equals(vocabulary.bytes(token), vocabulary.bytes(distinct[size - 1]))) {
                pairs[pairCount++] = distinct[size - 1];
                pairs[pairCount++] = token;
            } else {
                distinct[size++] = token;
            }
        }
        twins = Arrays.copyOf(pairs, pairCount);
        maxBytes = longest;
        int[] tokens = Arrays.copyOf(distinct, size);
        all = new FlatTrie(vocabulary, tokens);
        Map<Integer, List<Integer>> bySlice = new TreeMap<>();
        for (int token : tokens) {
            bySlice.computeIfAbsent(slice(token), _ -> new ArrayList<>()).add(token);
        }
        List<PlainSlice> made = new ArrayList<>();
        for (int i = 0; i < SLICES.length; i++) {
            int[] own = toArray(bySlice.getOrDefault(i, List.of()));
            if (own.length > 0) {
                int max = i + 1 < SLICES.length ? SLICES[i + 1] - 1 : Integer.MAX_VALUE;
                made.add(new PlainSlice(SLICES[i], max, new FlatTrie(vocabulary, own), mask(own)));
            }
        }
        slices = List.copyOf(made);
        rest = new FlatTrie(vocabulary, toArray(bySlice.getOrDefault(-1, List.of())));
    }

    private static int[] toArray(List<Integer> values) {
        return values.stream().mapToInt(i -> i).toArray();
    }

    /** Returns the index of a token's slice, or -1. */
    private int slice(int token) {
        byte[] text = vocabulary.bytes(token);
        int count = text == null ? -1 : plain.count(text);
        int found = Arrays.binarySearch(SLICES, count);
        return found >= 0 ? found : -found - 2;
    }

    private TokenMask mask(int[] tokens) {
        TokenMask mask = newMask();
        for (int token : tokens) {
            mask.allow(token);
        }
        MaskParts.addTwins(mask, twins);
        return mask;
    }

    /** Builds the prefix tree; takes about a second for 100,000 tokens. */
    public static TokenTrie of(TokenVocabulary vocabulary) {
        return new TokenTrie(vocabulary);
    }

    private int length(int token) {
        byte[] text = vocabulary.bytes(token);
        return text == null ? 0 : text.length;
    }

    /** Returns the vocabulary. */
    public TokenVocabulary vocabulary() {
        return vocabulary;
    }

    /** Returns a mask over the vocabulary that allows no token. */
    TokenMask newMask() {
        return new TokenMask(vocabulary.size());
    }

    /** Returns the length of the longest token in bytes. */
    int maxBytes() {
        return maxBytes;
    }

    FlatTrie all() {
        return all;
    }

    PlainChars plain() {
        return plain;
    }

    /** Returns disjoint sets of tokens, by ascending number of characters. */
    List<PlainSlice> slices() {
        return slices;
    }

    /** Returns the tokens in no slice. */
    FlatTrie rest() {
        return rest;
    }

    /** Returns pairs of tokens with the same text: the one in the trees, and another. */
    int[] twins() {
        return twins;
    }
}
