package io.roseinfer.metrics;

import io.roseinfer.metrics.StepRecord.Fact;
import java.util.Map;

/** Creates step records for tests. */
public final class StepRecords {
    private StepRecords() {}

    /** Returns a record with these facts; all others are 0. */
    public static WritableStep step(Map<Fact, Long> facts) {
        WritableStep step = new WritableStep();
        facts.forEach(step::set);
        return step;
    }
}
