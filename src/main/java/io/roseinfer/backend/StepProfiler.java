package io.roseinfer.backend;

import io.roseinfer.base.Clock;
import java.util.List;

/** Times the operators of a runner's steps from its creation. Called only while no step is in flight. */
public interface StepProfiler {

    /** Optional interface of a {@link ModelRunner} that can time its operators. */
    interface Source {
        /** Starts timing steps, which get a little slower. Called while no step is in flight. */
        StepProfiler profile(Clock clock);
    }

    /** Discards all steps. */
    void clear();

    /** Returns the most recent steps, oldest first, without failed ones. */
    List<StepProfile> steps();

    /** Returns the number of steps timed since {@link #clear}, kept or not. */
    long recorded();
}
