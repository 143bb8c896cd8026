package io.roseinfer.scheduler.policy;

import io.roseinfer.sampling.TokenHistory;
import java.util.Optional;

/**
 * Proposes tokens that a request may generate next (speculative decoding). A step computes such drafts with the request's
 * last token and samples after each of them. It keeps the samples up to the first that differs from its draft: the tokens
 * that the request would have generated without drafts.
 *
 * <p>A drafter has no state of its own, so that one drafter can serve many schedulers, each on its own thread; what it
 * remembers of a request is in {@link Drafts}.
 */
public interface Drafter {
    /** Maximum tokens of a row with drafts: a request's last token and its drafts. */
    int MAX_ROW_TOKENS = 16;

    /** Returns the maximum drafts in a row of a step, a constant up to {@value #MAX_ROW_TOKENS} - 1; 0 never drafts. */
    int maxTokens();

    /** Returns what proposes the drafts of one request; called once per request, at the earliest before its second token. */
    Drafts newDrafts(PolicyRequest request);

    /** Proposes the drafts of one request. The scheduler's thread calls it; it should not allocate in the long run. */
    @FunctionalInterface
    interface Drafts {
        /**
         * Proposes the tokens that follow.
         *
         * @param tokens all tokens of the request so far; they never change, so only new ones need to be read
         * @param max maximum tokens to propose, positive; fewer in a step of many rows, where drafts cost more
         * @param into receives token ids of the model's vocabulary
         * @return the number of proposed tokens, 0 to {@code max}
         */
        int propose(TokenHistory tokens, int max, int[] into);

        /** Returns whether the last call proposed nothing because it has not read all tokens yet; then the next step asks again. */
        default boolean isBehind() {
            return false;
        }

        /** Notifies that the request has ended with all its tokens; not called for one that failed or was cancelled. */
        default void ended(TokenHistory tokens) {}
    }

    /** Returns the drafter without drafts. */
    static Drafter none() {
        return None.INSTANCE;
    }

    /**
     * Returns the drafter that finds the last occurrence of a request's latest {@value Ngram#LENGTH} tokens, and proposes the
     * tokens that followed it. Good for text that repeats its prompt or itself.
     *
     * @param maxTokens maximum drafts in a row of a step, 1 to {@value #MAX_ROW_TOKENS} - 1
     * @throws io.roseinfer.base.RoseException.BadInput if it is out of range
     */
    static Drafter ngram(int maxTokens) {
        return new Ngram(maxTokens);
    }

    /**
     * Returns the drafter that finds the longest suffix of a request's text that occurs before, by a suffix automaton, and
     * proposes the tokens that followed it: more after a longer match. It takes about 170 bytes per token of a request.
     *
     * @param maxTokens maximum drafts in a row of a step, 1 to {@value #MAX_ROW_TOKENS} - 1
     * @param shared whether to look also in the answers of requests that have ended, up to 131,072 tokens of all
     *     replicas; then response times reveal whether an answer resembles an earlier one
     * @throws io.roseinfer.base.RoseException.BadInput if it is out of range
     */
    static Drafter suffix(int maxTokens, boolean shared) {
        return new Suffix(maxTokens, shared ? Optional.of(new Suffix.Answers()) : Optional.empty());
    }

    /** {@link #none}. */
    enum None implements Drafter {
        INSTANCE;

        @Override
        public int maxTokens() {
            return 0;
        }

        @Override
        public Drafts newDrafts(PolicyRequest request) {
            return (tokens, max, into) -> 0;
        }

        @Override
        public String toString() {
            return "none";
        }
    }
}
