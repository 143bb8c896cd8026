package io.roseinfer.bench;

import io.roseinfer.metrics.Summary;
import java.util.List;

/**
 * The measured times of a step shape.
 *
 * @param runMillis milliseconds per step of each run, in order
 */
public record ModelTiming(ModelPoint point, List<Double> runMillis) {
    private static final double MILLIS_PER_SECOND = 1e3;

    public ModelTiming {
        runMillis = List.copyOf(runMillis);
    }

    /** Returns a summary over the runs. */
    public Summary stepMillis() {
        return Summary.of(runMillis.stream().mapToDouble(Double::doubleValue).toArray());
    }

    /** Returns the tokens per second of the median run, over all rows. */
    public double tokensPerSecond() {
        double median = stepMillis().p50();
        return median > 0 ? point.tokensPerStep() * MILLIS_PER_SECOND / median : 0;
    }
}
