package io.roseinfer.tokenizer;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import tools.jackson.databind.json.JsonMapper;

/**
 * A small byte-level vocabulary, and its files.
 *
 * @param tokens in the byte alphabet, the index is the id
 * @param merges pairs of tokens in order of rank
 */
record TrainedVocabulary(List<String> tokens, List<List<String>> merges) {
    private static final JsonMapper JSON = new JsonMapper();

    /**
     * Trains on seeded text with the textbook algorithm: repeatedly, the most frequent pair, the smallest on a tie,
     * becomes a token.
     */
    static TrainedVocabulary train(long seed, int merges) {
        List<String> tokens = new ArrayList<>();
        IntStream.range(0, 256).forEach(value -> tokens.add(String.valueOf(ByteAlphabet.symbol(value))));
        List<List<String>> pairs = new ArrayList<>();
        List<List<String>> corpus = corpus(seed);
        while (pairs.size() < merges) {
            List<String> best = mostFrequentPair(corpus);
            pairs.add(best);
            String joined = best.get(0) + best.get(1);
            if (!tokens.contains(joined)) {
                tokens.add(joined);
            }
            corpus.forEach(word -> join(word, best));
        }
        return new TrainedVocabulary(tokens, pairs);
    }

    private static List<List<String>> corpus(long seed) {
        Texts texts = new Texts(seed);
        List<List<String>> words = new ArrayList<>();
        for (int i = 0; i < 600; i++) {
            for (String word : texts.next().split("(?<=\\S)(?=\\s)")) {
                String symbols = ByteAlphabet.symbols(word.getBytes(StandardCharsets.UTF_8));
                words.add(new ArrayList<>(List.of(symbols.split(""))));
            }
        }
        return words;
    }

    private static List<String> mostFrequentPair(List<List<String>> corpus) {
        Map<List<String>, Integer> counts = new HashMap<>();
        for (List<String> word : corpus) {
            for (int i = 0; i + 1 < word.size(); i++) {
                counts.merge(List.of(word.get(i), word.get(i + 1)), 1, Integer::sum);
            }
        }
        Comparator<Map.Entry<List<String>, Integer>> byCount = Map.Entry.comparingByValue();
        return counts.entrySet().stream()
                .max(byCount.thenComparing(entry -> String.join(" ", entry.getKey()), Comparator.reverseOrder()))
                .orElseThrow()
                .getKey();
    }

    private static void join(List<String> word, List<String> pair) {
        for (int i = 0; i + 1 < word.size(); i++) {
            if (word.get(i).equals(pair.get(0)) && word.get(i + 1).equals(pair.get(1))) {
                word.set(i, pair.get(0) + pair.get(1));
                word.remove(i + 1);
            }
        }
    }

    /** The fields of a {@code tokenizer.json} without added tokens, which can be changed. */
    TreeMap<String, Object> tokenizerJson() {
        TreeMap<String, Object> root = new TreeMap<>();
        root.put("version", "1.0");
        root.put("added_tokens", List.of());
        root.put("pre_tokenizer", byteLevel(false));
        root.put("decoder", byteLevel(true));
        root.put("post_processor", byteLevel(false));
        root.put("model", model());
        return root;
    }

    /** The fields of the {@code model}, which can be changed. */
    TreeMap<String, Object> model() {
        TreeMap<String, Object> model = new TreeMap<>();
        model.put("type", "BPE");
        model.put("vocab", ids());
        model.put("merges", merges);
        return model;
    }

    Map<String, Object> ids() {
        return IntStream.range(0, tokens.size()).boxed().collect(Collectors.toMap(tokens::get, id -> id));
    }

    String mergesTxt() {
        return "#version: 0.2\n"
                + merges.stream().map(pair -> String.join(" ", pair) + "\n").collect(Collectors.joining());
    }

    static TreeMap<String, Object> byteLevel(boolean addPrefixSpace) {
        return new TreeMap<>(Map.of(
                "type", "ByteLevel", "add_prefix_space", addPrefixSpace, "trim_offsets", true, "use_regex", true));
    }

    /** An added token; {@code flags} are the enabled properties. */
    static Map<String, Object> added(int id, String content, String... flags) {
        Map<String, Object> token = new TreeMap<>();
        token.put("id", id);
        token.put("content", content);
        for (String flag : List.of("special", "single_word", "lstrip", "rstrip", "normalized")) {
            token.put(flag, List.of(flags).contains(flag));
        }
        return token;
    }

    static String json(Object value) {
        return JSON.writeValueAsString(value);
    }
}
