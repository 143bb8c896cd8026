package io.roseinfer.scheduler.policy;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.sampling.TokenHistory;
import io.roseinfer.scheduler.policy.SuffixAutomaton.Match;
import java.util.List;
import java.util.Optional;

/**
 * {@link Drafter#suffix}.
 *
 * @param answers the finished answers of all requests, or empty if each request has only its own text
 */
record Suffix(int maxTokens, Optional<Answers> answers) implements Drafter {
    /** Minimum length of a match; with fewer tokens most drafts are wrong. */
    static final int MIN_MATCH = 2;

    /** Maximum tokens of an automaton of one text; then its older half is forgotten. */
    static final int MAX_TOKENS = 1 << 17;

    /** Maximum tokens that are added before a step, about a millisecond. Until a prompt has been added there are no drafts. */
    private static final int MAX_ADDED = 2048;

    /** Maximum tokens at the end of a prompt that are looked for in the answers of other requests. */
    private static final int MAX_CONTEXT = 64;

    Suffix {
        BadInput.require(
                maxTokens >= 1 && maxTokens < MAX_ROW_TOKENS,
                "draft tokens of suffix",
                maxTokens,
                "1 to " + (MAX_ROW_TOKENS - 1));
    }

    @Override
    public Drafts newDrafts(PolicyRequest request) {
        return new Text();
    }

    @Override
    public String toString() {
        return "suffix:" + maxTokens + (answers.isPresent() ? ":shared" : "");
    }

    /** Returns the maximum drafts after a match: long matches are more often right. */
    private static int limit(int match, int max) {
        return match < MIN_MATCH ? 0 : Math.min(max, 2 * (match - 1));
    }

    private final class Text implements Drafts {
        private final SuffixAutomaton own = new SuffixAutomaton();
        private final AnswerMatch others = new AnswerMatch();
        /** The tokens that are in the automaton, or were forgotten. */
        private int added;

        private boolean isBehind;

        @Override
        public boolean isBehind() {
            return isBehind;
        }

        @Override
        public int propose(TokenHistory tokens, int max, int[] into) {
            int end = Math.min(tokens.length(), added + MAX_ADDED);
            while (added < end) {
                if (own.size() == MAX_TOKENS) {
                    own.clear();
                    added -= MAX_TOKENS / 2;
                    end = added + MAX_ADDED;
                }
                own.append(tokens.token(added++));
            }
            isBehind = added < tokens.length();
            int known = isBehind ? 0 : own.repeatedLength();
            if (answers.isPresent()) {
                int count = answers.get().propose(others, tokens, known, max, into);
                if (count > 0) {
                    return count;
                }
            }
            int count = limit(known, max);
            return count == 0 ? 0 : own.copyRepeated(count, into);
        }

        @Override
        public void ended(TokenHistory tokens) {
            answers.ifPresent(shared -> shared.add(tokens));
        }
    }

    /** The longest suffixes of a request's text in the two automata of {@link Answers}. */
    private static final class AnswerMatch {
        private final List<Match> matches = List.of(new Match(), new Match());
        private final long[] generations = {-1, -1};
        private int read;

        void clear() {
            matches.forEach(Match::clear);
        }
    }

    /**
     * Answers that have ended, in two automata: the latest ones, and those before. Once the first is full, the other one
     * is forgotten. Thread-safe.
     */
    static final class Answers {
        /** Maximum tokens of each automaton. */
        static final int MAX_TOKENS = 1 << 16;

        /** Maximum tokens of an answer; its others are ignored. */
        static final int MAX_ANSWER = 2048;

        /** Between two answers; no token equals it. */
        private static final int SEPARATOR = -1;

        private final List<SuffixAutomaton> automata = List.of(new SuffixAutomaton(), new SuffixAutomaton());
        /** Counts how often each automaton was emptied. */
        private final long[] generations = {0, 0};

        private int current;

        private synchronized void add(TokenHistory tokens) {
            int start = tokens.promptLength();
            int end = Math.min(tokens.length(), start + MAX_ANSWER);
            if (automata.get(current).size() + end - start >= MAX_TOKENS) {
                current = 1 - current;
                automata.get(current).clear();
                generations[current]++;
            }
            SuffixAutomaton automaton = automata.get(current);
            for (int i = start; i < end; i++) {
                automaton.append(tokens.token(i));
            }
            automaton.append(SEPARATOR);
        }

        /** Proposes the tokens after a match longer than {@code known}; returns their number, 0 without one. */
        private synchronized int propose(AnswerMatch of, TokenHistory tokens, int known, int max, int[] into) {
            int from = Math.max(of.read, tokens.length() - MAX_CONTEXT);
            if (from > of.read) {
                of.clear(); // the text goes on after tokens that were not read
            }
            of.read = tokens.length();
            int best = known;
            int chosen = -1;
            for (int i = 0; i < automata.size(); i++) {
                Match match = of.matches.get(i);
                int length = advance(of, i, tokens, from);
                if (length > best) {
                    best = match.length();
                    chosen = i;
                }
            }
            int count = limit(best, max);
            return chosen < 0 || count == 0 ? 0 : automata.get(chosen).copyAfter(of.matches.get(chosen), count, into);
        }

        private int advance(AnswerMatch of, int index, TokenHistory tokens, int from) {
            Match match = of.matches.get(index);
            int next = from;
            if (of.generations[index] != generations[index]) {
                of.generations[index] = generations[index];
                match.clear();
                next = Math.max(0, tokens.length() - MAX_CONTEXT);
            }
            while (next < tokens.length()) {
                automata.get(index).advance(match, tokens.token(next++));
            }
            return match.length();
        }
    }
}
