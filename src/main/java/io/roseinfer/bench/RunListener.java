package io.roseinfer.bench;

/** Told how a benchmark is getting on; requests end on threads of their own, everything else happens on the caller's. */
public interface RunListener {
    /** A run begins. */
    void started(Phase phase, int number, int of, int requests);

    /** One of its requests has ended or was rejected. */
    void requestEnded();

    /** A run is over. */
    void finished(Phase phase, RunResult result);

    /** The purpose of a run. */
    enum Phase {
        /** Brings the machine to its working temperature; its numbers are thrown away. */
        WARMUP,
        MEASURED
    }
}
