package io.roseinfer.cli.flags;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.replay.CostModel;
import io.roseinfer.bench.replay.StepRange;
import io.roseinfer.bench.replay.StepShape;

/** A cost model of a user, whose results are checked: a duration must be positive and finite, and an exception names its flag. */
record NamedCosts(String name, CostModel costs) implements CostModel {
    @Override
    public double nanos(StepShape shape) {
        double nanos;
        try {
            nanos = costs.nanos(shape);
        } catch (RuntimeException e) {
            throw new BadInput(name + " failed at " + shape + ": " + e, e);
        }
        if (nanos > 0 && Double.isFinite(nanos)) {
            return nanos;
        }
        throw new BadInput(name + " returned " + nanos + " ns for " + shape + "; it must be positive and finite");
    }

    @Override
    public StepRange range() {
        return costs.range();
    }
}
