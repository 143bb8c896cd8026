package io.roseinfer.observe;

import io.roseinfer.base.Check;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;

/**
 * The newest steps of an engine, in a ring of fixed size: one thread appends, which allocates nothing and never waits; any thread
 * may read at any time.
 *
 * <p>A place is announced in {@code begun} before it is overwritten and in {@code written} after. A reader copies what had been
 * written and drops a copy that may have been overwritten meanwhile.
 */
public final class StepLog implements StepObserver {
    private final int capacity;
    private final long[] ring;
    private volatile long begun;
    private volatile long written;

    /**
     * An empty log.
     *
     * @param capacity how many steps it keeps
     */
    public StepLog(int capacity) {
        Check.that(capacity >= 1, "a log of no steps");
        this.capacity = capacity;
        this.ring = new long[Math.multiplyExact(capacity, StepRecord.FACTS)];
    }

    /** Keeps a step whose figures are complete; it replaces the oldest one if the ring is full. */
    @Override
    public void on(StepEvent event, StepRecord step) {
        if (event == StepEvent.APPLIED) {
            append(step);
        }
    }

    private void append(StepRecord step) {
        long index = written;
        begun = index + 1;
        VarHandle.storeStoreFence();
        step.copyTo(ring, place(index));
        written = index + 1;
    }

    private int place(long index) {
        return (int) (index % capacity) * StepRecord.FACTS;
    }

    /** Steps kept so far, also those that have given way. */
    public long appended() {
        return written;
    }

    /** The steps that are kept, oldest first. */
    public List<StepRecord> steps() {
        return steps(Long.MIN_VALUE, capacity);
    }

    /**
     * Steps that are kept, oldest first and without a gap.
     *
     * @param from number of the first step wanted
     * @param most how many are wanted
     */
    public List<StepRecord> steps(long from, int most) {
        long end = written;
        List<StepRecord> steps = new ArrayList<>();
        for (long index = Math.max(0, end - capacity); index < end && steps.size() < most; index++) {
            if (ring[place(index) + Fact.STEP.ordinal()] >= from) {
                StepRecord step = StepRecord.copyOf(ring, place(index));
                VarHandle.loadLoadFence();
                if (index >= begun - capacity) {
                    steps.add(step);
                } else {
                    // The writer has overtaken: without a gap there are only those behind.
                    steps.clear();
                }
            }
        }
        return List.copyOf(steps);
    }
}
