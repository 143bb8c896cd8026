package io.roseinfer.bench;

import io.roseinfer.metrics.Summary;
import java.util.List;

/**
 * How long a kind of step takes.
 *
 * @param runMillis one value per run, in order: the run's time by its steps, in milliseconds
 */
public record ModelTiming(ModelPoint point, List<Double> runMillis) {
    private static final double MILLIS_PER_SECOND = 1e3;

    public ModelTiming {
        runMillis = List.copyOf(runMillis);
    }

    /** The runs summarized. */
    public Summary stepMillis() {
        return Summary.of(runMillis.stream().mapToDouble(Double::doubleValue).toArray());
    }

    /** Tokens computed in a second by the median run, all rows together. */
    public double tokensPerSecond() {
        double median = stepMillis().p50();
        return median > 0 ? point.tokensPerStep() * MILLIS_PER_SECOND / median : 0;
    }
}
