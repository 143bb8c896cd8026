package io.roseinfer.grammar;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.WorkCounter;
import java.util.function.Supplier;

/**
 * The work of reading a grammar's source, bounded in steps instead of time, so that a result does not depend on the
 * machine. It belongs to the thread that reads. An interrupt cancels it, as it does tokenizing.
 */
final class ReadingWork {
    /** Maximum steps of one source; about 0.1 s. */
    static final long MAX_STEPS = 500_000;

    private static final ScopedValue<ReadingWork> CURRENT = ScopedValue.newInstance();

    private final WorkCounter counter = new WorkCounter();
    private final long max;

    private ReadingWork(long max) {
        this.max = max;
    }

    /**
     * Reads a source. A source within another one is part of its work.
     *
     * @throws BadInput if that takes more than {@link #MAX_STEPS}
     */
    static <T> T bounded(Supplier<T> reading) {
        return bounded(MAX_STEPS, reading);
    }

    /** Reads a source with another limit. */
    static <T> T bounded(long maxSteps, Supplier<T> reading) {
        return CURRENT.isBound()
                ? reading.get()
                : ScopedValue.where(CURRENT, new ReadingWork(maxSteps)).call(reading::get);
    }

    /** Counts steps; without effect outside {@link #bounded}. */
    static void add(long steps) {
        if (CURRENT.isBound()) {
            CURRENT.get().count(steps);
        }
    }

    private void count(long steps) {
        counter.add(steps);
        if (counter.count() > max) {
            throw new BadInput("reading the grammar takes more than " + max
                    + " steps (the limit); simplify its patterns, numbers and combined schemas");
        }
    }
}
