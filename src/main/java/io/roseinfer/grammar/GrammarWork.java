package io.roseinfer.grammar;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.WorkCounter;
import java.util.function.Supplier;

/**
 * The work on a grammar, bounded in steps instead of time, so that a result does not depend on the machine. It belongs
 * to the thread that does it. An interrupt cancels it, as it does tokenizing.
 */
final class GrammarWork {
    /** Maximum steps of reading a source, and of cleaning a grammar; about 0.1 s. */
    private static final long READING_STEPS = 500_000;

    /** Maximum steps of one mask; about 0.7 s. */
    private static final long MASK_STEPS = 2_000_000;

    private static final ScopedValue<GrammarWork> CURRENT = ScopedValue.newInstance();

    private final WorkCounter counter = new WorkCounter();
    private final String what;
    private final long max;

    private GrammarWork(String what, long max) {
        this.what = what;
        this.max = max;
    }

    /**
     * Reads a source. A source within another one is part of its work.
     *
     * @throws BadInput if that takes too many steps
     */
    static <T> T reading(Supplier<T> reading) {
        return CURRENT.isBound() ? reading.get() : new GrammarWork("reading the grammar", READING_STEPS).run(reading);
    }

    /**
     * Computes a mask.
     *
     * @throws BadInput if that takes too many steps
     */
    static <T> T mask(Supplier<T> computing) {
        return new GrammarWork("computing a mask of the grammar", MASK_STEPS).run(computing);
    }

    private <T> T run(Supplier<T> work) {
        return ScopedValue.where(CURRENT, this).call(work::get);
    }

    /** Counts steps; without effect outside of bounded work. */
    static void add(long steps) {
        if (CURRENT.isBound()) {
            CURRENT.get().count(steps);
        }
    }

    private void count(long steps) {
        counter.add(steps);
        if (counter.count() > max) {
            throw new BadInput(what + " takes more than " + max
                    + " steps (the limit); simplify its rules, patterns, numbers and combined schemas");
        }
    }
}
