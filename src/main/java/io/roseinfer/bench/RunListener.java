package io.roseinfer.bench;

/** Listener for the progress of a benchmark. {@link #requestEnded} is called on reader threads, everything else on the caller's thread. */
public interface RunListener {
    /** Called at the start of a run. */
    void started(Phase phase, int number, int of, int requests);

    /** Called when a request has ended or was rejected. */
    void requestEnded();

    /** Called at the end of a run. */
    void finished(Phase phase, RunResult result);

    /** The purpose of a run. */
    enum Phase {
        /** Warms up the machine; its results are discarded. */
        WARMUP,
        MEASURED
    }
}
