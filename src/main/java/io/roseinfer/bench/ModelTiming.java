package io.roseinfer.bench;

import io.roseinfer.metrics.Summary;

/**
 * How long a kind of step takes.
 *
 * @param stepMillis one value per run: the run's time by its steps, in milliseconds
 */
public record ModelTiming(ModelPoint point, Summary stepMillis) {
    private static final double MILLIS_PER_SECOND = 1e3;

    /** Tokens computed in a second by the median run, all rows together. */
    public double tokensPerSecond() {
        return stepMillis.p50() > 0 ? point.tokensPerStep() * MILLIS_PER_SECOND / stepMillis.p50() : 0;
    }
}
