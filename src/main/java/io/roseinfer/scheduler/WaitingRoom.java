package io.roseinfer.scheduler;

import io.roseinfer.base.Check;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The sequences that wait for their first admission: those that any of several schedulers may admit, and those that are bound to one.
 * There is no queue before it. Any thread adds and removes; a scheduler ranks and admits what it may under the room's lock, which is
 * this object's monitor. Who removes a sequence, or admits it, is the only one that may end it from then on.
 */
public final class WaitingRoom {
    /** The scheduler of a sequence that any may admit. */
    public static final int ANY = -1;

    /** Sequences in the order of arrival; what is volatile is read without the lock. */
    private static final class Line {
        private final SequenceList sequences = new SequenceList();
        private volatile int size;
        /** Steps that the scheduler of this line has planned; only that one writes. */
        private volatile long steps;
        /** Whether the scheduler of this line admits nothing more. */
        private boolean left;

        void insert(Sequence sequence, @Nullable Sequence before) {
            sequences.addBefore(sequence, before);
            size = sequences.size();
        }

        void remove(Sequence sequence) {
            sequences.remove(sequence);
            size = sequences.size();
        }

        List<Sequence> removeAll() {
            List<Sequence> all = new ArrayList<>(sequences.size());
            for (Sequence s = sequences.first(); s != null; s = sequences.first()) {
                sequences.remove(s);
                all.add(s);
            }
            size = 0;
            return all;
        }
    }

    private final Line shared = new Line();
    private final List<Line> bound;
    private long arrivals;

    /** An empty room for so many schedulers, which are numbered from 0 on. */
    public WaitingRoom(int schedulers) {
        this.bound = Stream.generate(Line::new).limit(schedulers).toList();
    }

    private Line line(int scheduler) {
        return scheduler == ANY ? shared : bound.get(scheduler);
    }

    /** Adds a sequence behind all others, bound to a scheduler or to {@link #ANY}; to any if that scheduler has left. */
    public synchronized void add(Sequence sequence, int scheduler) {
        sequence.arrive(arrivals++, steps());
        sequence.bind(line(scheduler).left ? ANY : scheduler);
        line(sequence.scheduler()).insert(sequence, null);
    }

    /** Adds a sequence for any scheduler at the place that its arrival gives it. */
    public synchronized void addAgain(Sequence sequence) {
        addAgain(sequence, shared.sequences.first());
    }

    /** Adds a sequence for any scheduler before the first that came later, not looking before {@code from}; returns that one. */
    private @Nullable Sequence addAgain(Sequence sequence, @Nullable Sequence from) {
        Sequence later = from;
        while (later != null && later.arrival < sequence.arrival) {
            later = later.next;
        }
        sequence.bind(ANY);
        shared.insert(sequence, later);
        return later;
    }

    /** Takes a sequence out; returns whether it waited here. */
    public synchronized boolean remove(Sequence sequence) {
        Line line = line(sequence.scheduler());
        boolean waited = sequence.list == line.sequences;
        if (waited) {
            line.remove(sequence);
        }
        return waited;
    }

    /** Takes a sequence out that a scheduler admits, and binds it to that one; under the lock. */
    void admit(Sequence sequence, int scheduler) {
        Check.that(remove(sequence), "a sequence is admitted that does not wait");
        sequence.bind(scheduler);
    }

    /** Lets any scheduler admit what is bound to one that is about to stop; returns those. */
    public synchronized List<Sequence> leave(int scheduler) {
        Line line = line(scheduler);
        line.left = true;
        List<Sequence> own = line.removeAll();
        Sequence later = shared.sequences.first();
        for (Sequence sequence : own) {
            later = addAgain(sequence, later);
        }
        return own;
    }

    /** Takes all sequences out. */
    public synchronized List<Sequence> clear() {
        List<Sequence> all = new ArrayList<>(shared.removeAll());
        bound.forEach(line -> all.addAll(line.removeAll()));
        return all;
    }

    /** How many sequences any scheduler may admit. Never waits. */
    public int shared() {
        return shared.size;
    }

    /** How many sequences are bound to a scheduler. Never waits. */
    public int bound(int scheduler) {
        return bound.get(scheduler).size;
    }

    /** Steps that all schedulers have planned, so that a sequence has an age whichever ranks it. */
    long steps() {
        long steps = 0;
        for (int i = 0; i < bound.size(); i++) {
            steps += bound.get(i).steps;
        }
        return steps;
    }

    /** Notes how many steps a scheduler has planned; for that one. */
    void planned(int scheduler, long steps) {
        bound.get(scheduler).steps = steps;
    }

    /** The sequences that any scheduler may admit, or those bound to one, in the order of arrival; under the lock. */
    SequenceList waiting(int scheduler) {
        return line(scheduler).sequences;
    }
}
