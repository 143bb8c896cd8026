package io.roseinfer.backend;

import java.util.List;

/** Times the operators of a runner's steps from the moment it is made. Asked only while no step is in flight. */
public interface StepProfiler {

    /** Forgets all steps. */
    void clear();

    /** The newest steps, as many as it keeps, oldest first. A step that failed is left out. */
    List<StepProfile> steps();

    /** Steps timed since {@link #clear}, kept or not. */
    long recorded();
}
