package io.roseinfer.backend;

import io.roseinfer.base.Clock;
import java.util.List;

/** Times the operators of a runner's steps from the moment it is made. Asked only while no step is in flight. */
public interface StepProfiler {

    /** What a {@link ModelRunner} implements too if it can time its operators; none need to. */
    interface Source {
        /** Times every step from now on. Steps get a little slower by it. Called while no step is in flight. */
        StepProfiler profile(Clock clock);
    }

    /** Forgets all steps. */
    void clear();

    /** The newest steps, as many as it keeps, oldest first. A step that failed is left out. */
    List<StepProfile> steps();

    /** Steps timed since {@link #clear}, kept or not. */
    long recorded();
}
