package io.roseinfer.backend;

/**
 * Named ranges of time that a profiler outside the process shows above what the device did. Ranges nest, per thread: what is
 * begun last ends first. Without a profiler {@link #NONE} costs nothing.
 */
public interface ProfilerRanges {

    /** What a range is about; profilers show the name. */
    enum Range {
        /** Accepting a request, on the caller's thread. */
        SUBMIT("submit"),
        /** One turn of the engine's loop. */
        STEP("step"),
        /** Choosing the rows of the next step. */
        PLAN("plan"),
        /** Looking at the requests that wait and admitting those that fit, as part of {@link #PLAN}. */
        ADMIT("admit"),
        /** Writing the step down for the device. */
        PACK("pack"),
        /** Starting a step with prompt tokens in it. */
        PREFILL("prefill"),
        /** Starting a step whose rows bring one token each. */
        DECODE("decode"),
        /** Waiting for the oldest step in flight and its sampled tokens. */
        SAMPLE("sample"),
        /** Handing tokens and endings to their streams. */
        EMIT("emit");

        private final String text;

        Range(String text) {
            this.text = text;
        }

        /** As profilers show it. */
        public String text() {
            return text;
        }
    }

    /** Shows nothing. */
    ProfilerRanges NONE = new ProfilerRanges() {
        @Override
        public void begin(Range range) {}

        @Override
        public void begin(Range range, int rows, int tokens) {}

        @Override
        public void end() {}
    };

    /** Begins a range inside those that the calling thread has begun and not ended. */
    void begin(Range range);

    /** Begins a range whose name tells how many rows and tokens a step has; on the engine's thread. */
    void begin(Range range, int rows, int tokens);

    /** Ends the range that the calling thread began last. */
    void end();
}
