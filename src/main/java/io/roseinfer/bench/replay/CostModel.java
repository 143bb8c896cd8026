package io.roseinfer.bench.replay;

/**
 * The durations of steps in simulated time. {@link CostTable} and {@link Roofline} are built in; {@code --step-costs CLASS} names another
 * one. One thread uses a model at a time.
 */
@FunctionalInterface
public interface CostModel {
    /**
     * Returns the duration of a step in nanoseconds, including planning, packing, device and applying: a positive function of the shape
     * alone, at most 10,000 s.
     */
    double nanos(StepShape shape);

    /** Returns the measured steps, by default all; costs of others are extrapolated. */
    default StepRange range() {
        return StepRange.ALL;
    }

    /** Returns this model with all durations multiplied by a positive factor. */
    default CostModel times(double factor) {
        CostModel own = this;
        return new CostModel() {
            @Override
            public double nanos(StepShape shape) {
                return own.nanos(shape) * factor;
            }

            @Override
            public StepRange range() {
                return own.range();
            }
        };
    }
}
