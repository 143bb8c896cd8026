package io.roseinfer.scheduler.policy;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.SplitMix64;
import io.roseinfer.sampling.TokenHistory;

/** {@link Drafter#ngram}. */
record Ngram(int maxTokens) implements Drafter {
    /** Number of tokens that must match. */
    static final int LENGTH = 3;

    Ngram {
        BadInput.require(
                maxTokens >= 1 && maxTokens < MAX_ROW_TOKENS,
                "draft tokens of ngram",
                maxTokens,
                "1 to " + (MAX_ROW_TOKENS - 1));
    }

    @Override
    public Drafts newDrafts(PolicyRequest request) {
        return new Index();
    }

    @Override
    public String toString() {
        return "ngram:" + maxTokens;
    }

    /**
     * The last occurrence of each n-gram, in a hash table that grows with the text up to {@value #MAX_ENTRIES} entries. N-grams
     * with the same hash overwrite each other.
     */
    private static final class Index implements Drafts {
        private static final int MIN_ENTRIES = 256;
        private static final int MAX_ENTRIES = 1 << 16;

        /** The index after each n-gram's last token; 0 if there is none. */
        private int[] ends = new int[MIN_ENTRIES];

        /** The end of the n-grams in the table: all but the latest one, which has no next token yet. */
        private int indexed = LENGTH - 1;

        @Override
        public int propose(TokenHistory tokens, int max, int[] into) {
            int length = tokens.length();
            if (length <= LENGTH) {
                return 0;
            }
            ensureEntries(length);
            while (indexed < length - 1) {
                indexed++;
                ends[entry(tokens, indexed)] = indexed;
            }
            int end = ends[entry(tokens, length)];
            return matches(tokens, end, length) ? copy(tokens, end, max, into) : 0;
        }

        /** Copies the tokens from {@code from}; after the last known one it continues with the copies. */
        private static int copy(TokenHistory tokens, int from, int max, int[] into) {
            int known = tokens.length() - from;
            for (int i = 0; i < max; i++) {
                into[i] = i < known ? tokens.token(from + i) : into[i - known];
            }
            return max;
        }

        private static boolean matches(TokenHistory tokens, int end, int length) {
            if (end == 0) {
                return false;
            }
            for (int i = 1; i <= LENGTH; i++) {
                if (tokens.token(end - i) != tokens.token(length - i)) {
                    return false;
                }
            }
            return true;
        }

        /** Doubles the table until it has an entry per token; then all n-grams are indexed again. */
        private void ensureEntries(int length) {
            if (ends.length < Math.min(length, MAX_ENTRIES)) {
                int entries = ends.length;
                while (entries < Math.min(length, MAX_ENTRIES)) {
                    entries *= 2;
                }
                ends = new int[entries];
                indexed = LENGTH - 1;
            }
        }

        private int entry(TokenHistory tokens, int end) {
            long key = 0;
            for (int i = 1; i <= LENGTH; i++) {
                key = key * 0x9E3779B97F4A7C15L + tokens.token(end - i);
            }
            return (int) SplitMix64.mix(key) & ends.length - 1;
        }
    }
}
