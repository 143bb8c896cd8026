package io.roseinfer.grammar;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.WorkCounter;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The work on a grammar, bounded in steps instead of time, so that a result does not depend on the machine. It belongs
 * to the thread that does it. An interrupt cancels it, as it does tokenizing.
 */
final class GrammarWork {
    /** Maximum steps of reading a source, and of cleaning a grammar; about 0.1 s. */
    private static final long READING_STEPS = 300_000;

    /** Maximum steps of one mask; about 0.7 s. */
    private static final long MASK_STEPS = 2_000_000;

    private static final ScopedValue<GrammarWork> CURRENT = ScopedValue.newInstance();

    private final WorkCounter counter = new WorkCounter();
    private final Map<Regex, RegexSolver> solvers = new HashMap<>();
    private final String what;
    private final long max;
    private final boolean countsLanguages;

    private GrammarWork(String what, long max, boolean countsLanguages) {
        this.what = what;
        this.max = max;
        this.countsLanguages = countsLanguages;
    }

    /**
     * Reads a source. A source within another one is part of its work.
     *
     * @throws BadInput if that takes too many steps
     */
    static <T> T reading(Supplier<T> reading) {
        return CURRENT.isBound() ? reading.get() : new GrammarWork("reading the grammar", READING_STEPS, false).run(reading);
    }

    /**
     * Compiles a grammar.
     *
     * @throws BadInput if that takes more than {@code max} steps
     */
    static <T> T compiling(long max, Supplier<T> compiling) {
        return new GrammarWork("compiling the grammar", max, true).run(compiling);
    }

    /**
     * Computes a mask.
     *
     * @throws BadInput if that takes too many steps
     */
    static <T> T mask(Supplier<T> computing) {
        return new GrammarWork("computing a mask of the grammar", MASK_STEPS, false).run(computing);
    }

    private <T> T run(Supplier<T> work) {
        return ScopedValue.where(CURRENT, this).call(work::get);
    }

    /** Returns the solver of an expression, which knows what it has decided; a new one outside of bounded work. */
    static RegexSolver solver(Regex regex) {
        return CURRENT.isBound()
                ? CURRENT.get().solvers.computeIfAbsent(regex, RegexSolver::new)
                : new RegexSolver(regex);
    }

    /** Counts steps; without effect outside of bounded work. */
    static void add(long steps) {
        if (CURRENT.isBound()) {
            CURRENT.get().count(steps);
        }
    }

    /** Throws again if the work has taken too many steps; for a caller that goes on after a failure. */
    static void requireLeft() {
        add(0);
    }

    /** Counts steps of regular languages; without effect outside of compiling. */
    static void addLanguages(long steps) {
        if (CURRENT.isBound() && CURRENT.get().countsLanguages) {
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
