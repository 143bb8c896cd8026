package io.roseinfer.grammar;

/**
 * Bounds of the work for one grammar. A grammar that exceeds one fails with
 * {@link io.roseinfer.base.RoseException.BadInput}, which names it.
 *
 * @param states the maximum number of states searched to decide whether a regular language is empty, and of
 *     simultaneous parses of one text
 * @param bytes the maximum size of the caches of one compiled grammar, in bytes; they are cleared beyond it. The
 *     grammar's regular expressions may take half of it
 * @param rules the maximum number of alternatives of all rules, after repetitions are expanded
 * @param steps the maximum work of compiling: languages made or found, and derivatives
 */
public record GrammarLimits(int states, long bytes, int rules, long steps) {
    /** 20,000 states, 64 MiB, 200,000 rules, 1,200,000 steps. */
    public static final GrammarLimits DEFAULT = new GrammarLimits(20_000, 64L << 20, 200_000, 1_200_000);

    /**
     * Creates limits.
     *
     * @throws IllegalArgumentException unless all are positive
     */
    public GrammarLimits {
        if (states <= 0 || bytes <= 0 || rules <= 0 || steps <= 0) {
            throw new IllegalArgumentException("limits must be positive: states " + states + ", bytes " + bytes
                    + ", rules " + rules + ", steps " + steps);
        }
    }
}
