package io.roseinfer.scheduler;

/** Hears when an iteration turns to the waiting requests and when it is done with them; a profiler can show how long that takes. */
public interface AdmissionListener {
    /** Hears nothing. */
    AdmissionListener NONE = new AdmissionListener() {
        @Override
        public void begin() {}

        @Override
        public void end() {}
    };

    void begin();

    void end();
}
