package io.roseinfer.metrics;

/** A {@link StepRecord} that the engine writes. One thread uses it. */
public final class WritableStep extends StepRecord {
    public void set(Fact fact, long value) {
        values[fact.ordinal()] = value;
    }

    public void add(Fact fact, long value) {
        values[fact.ordinal()] += value;
    }

    /** Sets how many rows, at most {@link #MAX_DRAFT_ROWS}, accepted the draft at a position. */
    public void setAcceptedAt(int position, int rows) {
        Fact fact = acceptedFact(position);
        int shift = acceptedShift(position);
        set(fact, (get(fact) & ~((long) MAX_DRAFT_ROWS << shift)) | ((long) rows << shift));
    }

    /** Sets that no row accepted a draft. */
    public void clearAcceptedAt() {
        set(Fact.ACCEPTED_AT_0_TO_7, 0);
        set(Fact.ACCEPTED_AT_8_TO_15, 0);
    }
}
