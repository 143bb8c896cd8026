package io.roseinfer.metrics;

import io.roseinfer.base.Check;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;

/**
 * The newest steps of an engine, in a ring of fixed size: one thread appends, which allocates nothing and never waits; any thread
 * may read at any time.
 *
 * <p>A place is announced in {@code begun} before it is overwritten and in {@code written} after. A reader copies what had been
 * written and then drops what may have been overwritten meanwhile.
 */
public final class StepLog {
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
        this.ring = new long[Math.multiplyExact(capacity, StepDraft.FIELDS)];
    }

    /** Keeps a step whose figures are complete; the oldest one gives way to it if the ring is full. */
    public void append(StepDraft draft) {
        long index = written;
        begun = index + 1;
        VarHandle.storeStoreFence();
        draft.copyTo(ring, place(index));
        written = index + 1;
    }

    private int place(long index) {
        return (int) (index % capacity) * StepDraft.FIELDS;
    }

    /** Steps appended so far, kept or not. */
    public long appended() {
        return written;
    }

    /** The steps that are kept, oldest first. */
    public List<StepRecord> steps() {
        long end = written;
        long first = Math.max(0, end - capacity);
        List<StepRecord> steps = new ArrayList<>((int) (end - first));
        for (long index = first; index < end; index++) {
            steps.add(StepDraft.read(ring, place(index)));
        }
        VarHandle.loadLoadFence();
        long oldestIntact = Math.max(first, begun - capacity);
        return List.copyOf(steps.subList((int) Math.min(oldestIntact - first, steps.size()), steps.size()));
    }
}
