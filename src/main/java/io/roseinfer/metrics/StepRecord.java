package io.roseinfer.metrics;

/**
 * What one step of an engine took and did. Its four phases follow each other without a gap: planning, packing, the device, and
 * taking in what it sampled. Where several steps are in flight, the device's phase includes waiting for the step before, and the
 * next step's planning and packing fall into it.
 *
 * @param step the step's number, counted from zero
 * @param startNanos when its planning began, of the engine's clock
 * @param planNanos deciding what it computes, admissions included
 * @param packNanos writing that into the device's arrays
 * @param deviceNanos from handing it to the device until its results were there
 * @param applyNanos taking the results in
 * @param submitNanos of the device's time, the call that handed the step over
 * @param waitNanos of the device's time, what the host spent waiting for it and doing nothing else
 * @param prefillTokens prompt tokens it computed
 * @param decodeRows rows that computed one generated token
 * @param waiting requests waiting when it was planned, those it admitted left out
 * @param active requests that held KV blocks when it was planned
 * @param freeBlocks KV blocks that could still be given out when it was planned, cached ones included
 * @param cachedTokens prompt tokens that the requests it admitted found in the prefix cache
 * @param preemptions requests that gave their blocks back so that it could be planned
 */
public record StepRecord(
        long step,
        long startNanos,
        long planNanos,
        long packNanos,
        long deviceNanos,
        long applyNanos,
        long submitNanos,
        long waitNanos,
        int prefillTokens,
        int decodeRows,
        int waiting,
        int active,
        int freeBlocks,
        long cachedTokens,
        long preemptions) {

    /** When its results had been taken in. */
    public long endNanos() {
        return startNanos + planNanos + packNanos + deviceNanos + applyNanos;
    }

    /** When the device had been given it. */
    public long submittedNanos() {
        return startNanos + planNanos + packNanos + submitNanos;
    }

    /** When its results were there. */
    public long awaitedNanos() {
        return startNanos + planNanos + packNanos + deviceNanos;
    }

    /** What it cost the thread that drives the device, waiting left out. */
    public long hostNanos() {
        return planNanos + packNanos + submitNanos + applyNanos;
    }
}
