package io.roseinfer.scheduler;

import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;

/**
 * The cost of a draft: by how much each token after the first prolongs a step that only decodes, as a share of a step of one token. It is
 * learned from the steps so far by least squares with exponentially decaying weights, and with it the number of drafts that give the most
 * tokens per time:
 *
 * <pre>
 * step of n tokens           level · (1 + cost · (n − 1))
 * tokens of a row, k drafts  1 + a + a² + … + aᵏ, where a is the probability that a draft is accepted if those before it are
 * </pre>
 *
 * <p>A step takes from its start, or from the end of the step before it if that is later, to its end; so the cost includes that a step
 * with drafts cannot be launched ahead. The durations are facts of step records: the same steps in simulated time teach the same cost. Not
 * thread-safe.
 */
final class DraftCost {
    /** Additional time of the largest step with drafts, in steps of one token, before any is measured. */
    private static final double INITIAL_MAX = 4;

    /** The factor of a step's weight after each later step. */
    private static final double DECAY = 0.97;

    /** The least variance of the numbers of tokens from which a cost is computed. */
    private static final double MIN_VARIANCE = 0.1;

    /** A step that takes longer than this many times the expected duration counts as if it took so long: it was interrupted. */
    private static final double MAX_EXCESS = 2;

    private final int maxTokens;
    private double cost;

    /** Nanoseconds of a step of one token; 0 until a step has ended. */
    private double levelNanos;

    private double weight;

    /** Weighted means and moments of the tokens after the first, and of nanoseconds. */
    private double meanTokens;

    private double meanNanos;
    private double variance;
    private double covariance;

    /** Creates the cost on a device whose steps with drafts have up to {@code maxTokens} tokens. */
    DraftCost(int maxTokens) {
        this.maxTokens = maxTokens;
        this.cost = INITIAL_MAX / Math.max(1, maxTokens);
    }

    /** Learns from a step that has ended, and how long it took. */
    void learn(StepRecord step, long nanos) {
        long tokens = step.get(Fact.TOKENS);
        boolean onlyDecodes = step.get(Fact.DECODE_ROWS) == step.get(Fact.ROWS);
        if (onlyDecodes && tokens <= maxTokens && nanos > 0) {
            double expected = levelNanos * relative(tokens);
            learn(
                    (double) (tokens - 1),
                    expected == 0 ? (double) nanos : Math.min((double) nanos, MAX_EXCESS * expected));
        }
    }

    private void learn(double tokens, double nanos) {
        weight = DECAY * weight + 1;
        double share = 1 / weight;
        double ofTokens = tokens - meanTokens;
        double ofNanos = nanos - meanNanos;
        meanTokens += share * ofTokens;
        meanNanos += share * ofNanos;
        variance = (1 - share) * (variance + share * ofTokens * ofTokens);
        covariance = (1 - share) * (covariance + share * ofTokens * ofNanos);
        if (variance > MIN_VARIANCE) {
            double slope = Math.clamp(covariance / variance, 0, meanNanos / (1 + meanTokens));
            levelNanos = meanNanos - slope * meanTokens;
            cost = slope / levelNanos;
        } else {
            levelNanos = meanNanos / (1 + cost * meanTokens);
        }
    }

    /** Returns the duration of a step, in steps of one token. */
    private double relative(long tokens) {
        return 1 + cost * (tokens - 1);
    }

    /**
     * Returns the best number of drafts in each row, up to {@code max}; 0 if none are faster.
     *
     * @param rows rows of the step
     * @param acceptance the probability that a draft is accepted if those before it are
     */
    int bestDrafts(int rows, int max, double acceptance) {
        int best = 0;
        double bestRate = 1 / relative(rows);
        double tokens = 1;
        double accepted = 1;
        for (int drafts = 1; drafts <= max; drafts++) {
            accepted *= acceptance;
            tokens += accepted;
            double rate = tokens / relative((long) rows * (1 + drafts));
            if (rate > bestRate) {
                best = drafts;
                bestRate = rate;
            }
        }
        return best;
    }
}
