package io.roseinfer.bench;

/** Listener for the progress of a benchmark. {@link #requestEnded} is called on reader threads, everything else on the caller's thread. */
public interface RunListener {
    /** Called at the start of a measured run, and of a warm-up run if their number was given. */
    void started(Phase phase, int number, int of, int requests);

    /** Called when a request has ended or was rejected. */
    void requestEnded();

    /** Called at the end of the same runs. */
    void finished(Phase phase, RunResult result);

    /** Called at the end of the warm-up, also of one without runs. */
    void warmedUp(WarmUp warmUp);

    /** The purpose of a run. */
    enum Phase {
        /** Warms up the machine; its results are discarded. */
        WARMUP,
        MEASURED
    }
}
