package io.roseinfer.tokenizer;

import java.util.Random;
import java.util.stream.IntStream;

/** Seeded sequences of a tokenizer's ids, rich in its bytes and special tokens. */
final class RandomIds {
    private final Random random;
    private final int[] all;
    private final int[] bytes;
    private final int[] special;

    RandomIds(long seed, Tokenizer tokenizer) {
        random = new Random(seed);
        Vocabulary vocabulary = tokenizer.vocabulary();
        all = IntStream.range(0, vocabulary.size()).filter(vocabulary::contains).toArray();
        bytes = IntStream.of(all).filter(id -> vocabulary.bytes(id).length == 1).toArray();
        special = tokenizer.addedTokens().stream().mapToInt(AddedToken::id).toArray();
    }

    int[] next() {
        int[] ids = new int[random.nextInt(16)];
        for (int i = 0; i < ids.length; i++) {
            int kind = random.nextInt(8);
            ids[i] = from(kind < 4 ? bytes : kind == 4 && special.length > 0 ? special : all);
        }
        return ids;
    }

    private int from(int... candidates) {
        return candidates[random.nextInt(candidates.length)];
    }
}
