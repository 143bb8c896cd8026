package io.roseinfer.cli.flags;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.replay.CostModel;
import io.roseinfer.bench.replay.StepRange;
import io.roseinfer.bench.replay.StepShape;

/** A cost model of a user, whose results are checked: a duration must be positive and at most 10,000 s, and an exception names its flag. */
record NamedCosts(String name, CostModel costs) implements CostModel {
    /** Maximum duration of a step, so that many of them add up to a time that a long can hold. */
    private static final double MAX_NANOS = 1e13;

    @Override
    public double nanos(StepShape shape) {
        double nanos;
        try {
            nanos = costs.nanos(shape);
        } catch (RuntimeException e) {
            throw new BadInput(name + " failed at " + shape + ": " + e, e);
        }
        if (nanos > 0 && nanos <= MAX_NANOS) {
            return nanos;
        }
        throw new BadInput(name + " returned " + nanos + " ns for " + shape
                + "; it must be positive and at most 1e13, which is 10,000 s");
    }

    @Override
    public StepRange range() {
        return costs.range();
    }
}
