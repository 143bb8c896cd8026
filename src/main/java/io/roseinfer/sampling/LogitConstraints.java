package io.roseinfer.sampling;

import io.roseinfer.base.TokenMask;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A request's {@link TokenConstraints} for one model: finds mask and biases of each of its samples. Immutable and
 * thread-safe; allocates nothing after construction.
 */
public final class LogitConstraints {
    /** Receives the mask and the biases of a sample. */
    public interface Target {
        /** Sets the allowed tokens; the mask never changes. */
        void mask(TokenMask mask);

        /** Adds a bias; −∞ forbids the token. */
        void bias(int token, float bias);
    }

    /** No constraints. */
    public static final LogitConstraints NONE = new LogitConstraints(TokenConstraints.NONE, 1, new int[0], List.of());

    private final int minTokens;
    private final int[] stopTokens;
    private final @Nullable TokenMask allowed;
    private final int[] biasTokens;
    private final float[] biases;
    /** Token ids of each bad word. */
    private final int[][] badWords;

    /**
     * Creates the constraints of a request, whose ids are within the vocabulary.
     *
     * @param stopTokens the model's end-of-text tokens and the request's stop tokens
     * @param badWords the token ids of {@link TokenConstraints#badWords}, each at least one
     */
    public LogitConstraints(TokenConstraints of, int vocabularySize, int[] stopTokens, List<int[]> badWords) {
        this.minTokens = of.minTokens();
        this.stopTokens = stopTokens.clone();
        this.allowed = of.allowedTokens().isEmpty() ? null : TokenMask.of(vocabularySize, of.allowedTokens());
        this.biasTokens = new int[of.logitBias().size()];
        this.biases = new float[biasTokens.length];
        int count = 0;
        for (Map.Entry<Integer, Float> bias : of.logitBias().entrySet()) {
            biasTokens[count] = bias.getKey();
            biases[count] = bias.getValue();
            count++;
        }
        this.badWords = badWords.stream().map(int[]::clone).toArray(int[][]::new);
    }

    /** Returns the only tokens that any sample may take; empty if it may take all. The mask must not be changed. */
    public Optional<TokenMask> allowed() {
        return Optional.ofNullable(allowed);
    }

    /** Returns the maximum biases of a sample. */
    public int maxBiases() {
        return biases.length + (minTokens > 0 ? stopTokens.length : 0) + badWords.length;
    }

    /** Returns whether a sample's constraints depend on earlier tokens, which must be known then. */
    public boolean needsTokens() {
        for (int[] word : badWords) {
            if (word.length > 1) {
                return true;
            }
        }
        return false;
    }

    /**
     * Finds the mask and the biases of a sample.
     *
     * @param tokens the request's tokens; the completion's are read if {@link #needsTokens}
     * @param length number of tokens up to the sample
     */
    public void apply(TokenHistory tokens, int length, Target target) {
        if (allowed != null) {
            target.mask(allowed);
        }
        for (int i = 0; i < biases.length; i++) {
            target.bias(biasTokens[i], biases[i]);
        }
        int generated = length - tokens.promptLength();
        if (generated < minTokens) {
            for (int stop : stopTokens) {
                target.bias(stop, Float.NEGATIVE_INFINITY);
            }
        }
        for (int[] word : badWords) {
            if (word.length - 1 <= generated && endsWithAllButLast(word, tokens, length)) {
                target.bias(word[word.length - 1], Float.NEGATIVE_INFINITY);
            }
        }
    }

    private static boolean endsWithAllButLast(int[] word, TokenHistory tokens, int length) {
        int start = length - (word.length - 1);
        for (int i = 0; i < word.length - 1; i++) {
            if (tokens.token(start + i) != word[i]) {
                return false;
            }
        }
        return true;
    }
}
