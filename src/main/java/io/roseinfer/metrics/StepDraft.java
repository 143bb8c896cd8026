package io.roseinfer.metrics;

/**
 * The figures of a step under way, noted as they become known: start, what was planned, then the end of each phase. Reused from
 * step to step, so that noting them allocates nothing.
 */
public final class StepDraft {
    static final int FIELDS = 15;

    private static final int STEP = 0;
    private static final int START = 1;
    private static final int PLAN = 2;
    private static final int PACK = 3;
    private static final int DEVICE = 4;
    private static final int APPLY = 5;
    private static final int PREFILL_TOKENS = 6;
    private static final int DECODE_ROWS = 7;
    private static final int WAITING = 8;
    private static final int ACTIVE = 9;
    private static final int FREE_BLOCKS = 10;
    private static final int CACHED_TOKENS = 11;
    private static final int PREEMPTIONS = 12;
    private static final int SUBMIT = 13;
    private static final int WAIT = 14;

    private final long[] values = new long[FIELDS];
    private long phaseNanos;
    private long awaitingNanos;

    /** Planning begins; what was noted before is forgotten step by step. */
    public void start(long nanos) {
        values[START] = nanos;
        values[SUBMIT] = 0;
        values[WAIT] = 0;
        phaseNanos = nanos;
        awaitingNanos = Long.MAX_VALUE;
    }

    public void work(long step, int prefillTokens, int decodeRows) {
        values[STEP] = step;
        values[PREFILL_TOKENS] = prefillTokens;
        values[DECODE_ROWS] = decodeRows;
    }

    public void queue(int waiting, int active, int freeBlocks) {
        values[WAITING] = waiting;
        values[ACTIVE] = active;
        values[FREE_BLOCKS] = freeBlocks;
    }

    public void reuse(long cachedTokens, long preemptions) {
        values[CACHED_TOKENS] = cachedTokens;
        values[PREEMPTIONS] = preemptions;
    }

    public void planned(long nanos) {
        endPhase(PLAN, nanos);
    }

    public void packed(long nanos) {
        endPhase(PACK, nanos);
    }

    /** The device has the step; noted within the device's phase. */
    public void submitted(long nanos) {
        values[SUBMIT] = nanos - phaseNanos;
    }

    /** Waiting for the device begins, within the device's phase. */
    public void awaiting(long nanos) {
        awaitingNanos = nanos;
    }

    /** The device's results are there, or it has lost the step. */
    public void awaited(long nanos) {
        values[WAIT] = Math.max(0, nanos - awaitingNanos);
        endPhase(DEVICE, nanos);
    }

    public void applied(long nanos) {
        endPhase(APPLY, nanos);
    }

    private void endPhase(int phase, long nanos) {
        values[phase] = nanos - phaseNanos;
        phaseNanos = nanos;
    }

    void copyTo(long[] target, int at) {
        System.arraycopy(values, 0, target, at, FIELDS);
    }

    /** The figures as they are now. */
    public StepRecord toRecord() {
        return read(values, 0);
    }

    static StepRecord read(long[] values, int at) {
        return new StepRecord(
                values[at + STEP],
                values[at + START],
                values[at + PLAN],
                values[at + PACK],
                values[at + DEVICE],
                values[at + APPLY],
                values[at + SUBMIT],
                values[at + WAIT],
                (int) values[at + PREFILL_TOKENS],
                (int) values[at + DECODE_ROWS],
                (int) values[at + WAITING],
                (int) values[at + ACTIVE],
                (int) values[at + FREE_BLOCKS],
                values[at + CACHED_TOKENS],
                values[at + PREEMPTIONS]);
    }
}
