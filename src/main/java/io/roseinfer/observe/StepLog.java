package io.roseinfer.observe;

import io.roseinfer.base.Check;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;

/**
 * A fixed-size ring buffer of an engine's latest steps. A single thread appends, without allocating or blocking; any
 * thread may read at any time.
 *
 * <p>The writer updates {@code begun} before it overwrites an entry and {@code written} after. A reader copies written
 * entries and drops copies that may have been overwritten meanwhile.
 */
public final class StepLog implements StepObserver {
    private final int capacity;
    private final long[] ring;
    private volatile long begun;
    private volatile long written;

    /**
     * Creates an empty log.
     *
     * @param capacity maximum steps to keep
     */
    public StepLog(int capacity) {
        Check.that(capacity >= 1, "the capacity of a step log must be positive");
        this.capacity = capacity;
        this.ring = new long[Math.multiplyExact(capacity, StepRecord.FACTS)];
    }

    /** Appends a step when its facts are complete, replacing the oldest one if the ring is full. */
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
        step.copyTo(ring, offset(index));
        written = index + 1;
    }

    private int offset(long index) {
        return (int) (index % capacity) * StepRecord.FACTS;
    }

    /** Returns the number of steps appended so far, including overwritten ones. */
    public long appended() {
        return written;
    }

    /** Returns the steps in the log, oldest first. */
    public List<StepRecord> steps() {
        return steps(Long.MIN_VALUE, capacity);
    }

    /**
     * Returns consecutive steps in the log, oldest first.
     *
     * @param from number of the first step to return
     * @param max maximum steps to return
     */
    public List<StepRecord> steps(long from, int max) {
        long end = written;
        List<StepRecord> steps = new ArrayList<>();
        for (long index = Math.max(0, end - capacity); index < end && steps.size() < max; index++) {
            if (ring[offset(index) + Fact.STEP.ordinal()] >= from) {
                StepRecord step = StepRecord.copyOf(ring, offset(index));
                VarHandle.loadLoadFence();
                if (index >= begun - capacity) {
                    steps.add(step);
                } else {
                    // The writer has overtaken this reader: only later entries are consecutive.
                    steps.clear();
                }
            }
        }
        return List.copyOf(steps);
    }
}
