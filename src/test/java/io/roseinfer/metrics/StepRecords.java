package io.roseinfer.metrics;

import io.roseinfer.metrics.StepRecord.Fact;
import java.util.Map;

/** Records of steps that nobody ran. */
public final class StepRecords {
    private StepRecords() {}

    /** A record of these facts; the others are 0. */
    public static StepRecord step(Map<Fact, Long> facts) {
        StepRecord step = new StepRecord();
        facts.forEach(step::set);
        return step;
    }
}
