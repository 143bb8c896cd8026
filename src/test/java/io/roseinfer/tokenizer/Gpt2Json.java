package io.roseinfer.tokenizer;

import com.knuddels.jtokkit.Encodings;
import com.knuddels.jtokkit.api.Encoding;
import com.knuddels.jtokkit.api.EncodingType;
import com.knuddels.jtokkit.api.IntArrayList;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * GPT-2's {@code tokenizer.json}, derived from jtokkit's public API by string operations, independently of the code
 * under test.
 */
final class Gpt2Json {
    static final Encoding JTOKKIT = Encodings.newLazyEncodingRegistry().getEncoding(EncodingType.R50K_BASE);

    private Gpt2Json() {}

    static String make() {
        Map<String, Integer> ranks = new HashMap<>();
        List<String> latin1 = new ArrayList<>();
        for (int id = 0; id < 50256; id++) {
            String token = new String(JTOKKIT.decodeBytes(list(id)), StandardCharsets.ISO_8859_1);
            ranks.put(token, id);
            latin1.add(token);
        }
        List<String> tokens = new ArrayList<>();
        List<List<String>> merges = new ArrayList<>();
        for (String token : latin1) {
            tokens.add(symbols(token));
            if (token.length() > 1) {
                merges.add(parts(token, ranks).stream().map(Gpt2Json::symbols).toList());
            }
        }
        tokens.add("<|endoftext|>");
        var root = new TrainedVocabulary(tokens, merges).tokenizerJson();
        root.put("added_tokens", List.of(TrainedVocabulary.added(50256, "<|endoftext|>", "special")));
        return TrainedVocabulary.json(root);
    }

    private static String symbols(String latin1) {
        return ByteAlphabet.symbols(latin1.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** The two parts into which the tokens of lower rank merge a token. */
    private static List<String> parts(String token, Map<String, Integer> ranks) {
        List<String> parts = new ArrayList<>(List.of(token.split("(?s)(?<=.)(?=.)")));
        while (parts.size() > 2) {
            int best = 0;
            int bestRank = Integer.MAX_VALUE;
            for (int i = 0; i + 1 < parts.size(); i++) {
                int rank = ranks.getOrDefault(parts.get(i) + parts.get(i + 1), Integer.MAX_VALUE);
                if (rank < bestRank) {
                    bestRank = rank;
                    best = i;
                }
            }
            parts.set(best, parts.get(best) + parts.remove(best + 1));
        }
        return parts;
    }

    static IntArrayList list(int... ids) {
        IntArrayList list = new IntArrayList(ids.length);
        for (int id : ids) {
            list.add(id);
        }
        return list;
    }
}
