package io.roseinfer.scheduler;

import io.roseinfer.kv.BlockTable;
import io.roseinfer.kv.KvBlockPool;

/**
 * Who gets KV blocks when there are not enough: room for the next token of an active sequence, at the cost of the youngest if need
 * be, and how much must be free before another is admitted.
 */
final class BlockSupply {
    private final Roster roster;
    private final KvBlockPool pool;
    private long preemptions;

    BlockSupply(Roster roster, KvBlockPool pool) {
        this.roster = roster;
        this.pool = pool;
    }

    long preemptions() {
        return preemptions;
    }

    /** Gives the next token of an active sequence a slot of its own; false if it was preempted or has to sit this step out. */
    boolean makeRoom(Sequence sequence) {
        BlockTable table = sequence.table();
        while (!table.grow(sequence.plannedLength())) {
            if (!preemptFor(sequence)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Frees the blocks of the youngest active sequence that is in no step, if it can be one that has not started over too often.
     * When it could only be the oldest, that sits the step out: it is first in the next one, where others can make room for it.
     *
     * @return whether {@code sequence} can try again
     */
    private boolean preemptFor(Sequence sequence) {
        boolean spared = isOldest(sequence);
        Sequence victim = youngest(sequence, Scheduler.MAX_RESTARTS);
        if (victim == sequence && spared) {
            victim = youngest(sequence, Integer.MAX_VALUE);
        }
        if (victim.inFlight > 0 || (victim == sequence && spared)) {
            return false;
        }
        preempt(victim);
        return victim != sequence;
    }

    /** The youngest sequence after {@code than} that has started over less than {@code restarts} times; {@code than} if none. */
    private Sequence youngest(Sequence than, int restarts) {
        return youngest(roster.prefilling, youngest(roster.decoding, than, restarts), restarts);
    }

    private static Sequence youngest(SequenceList list, Sequence than, int restarts) {
        Sequence youngest = than;
        for (Sequence s = list.first(); s != null; s = s.next) {
            if (s.inFlight == 0 && s.preemptions < restarts && s.arrival > youngest.arrival) {
                youngest = s;
            }
        }
        return youngest;
    }

    private boolean isOldest(Sequence sequence) {
        return isOldest(roster.prefilling, sequence) && isOldest(roster.decoding, sequence);
    }

    private static boolean isOldest(SequenceList list, Sequence sequence) {
        for (Sequence s = list.first(); s != null; s = s.next) {
            if (s.arrival < sequence.arrival) {
                return false;
            }
        }
        return true;
    }

    private void preempt(Sequence sequence) {
        roster.restart(sequence);
        sequence.table().release();
        sequence.computed = 0;
        sequence.confirmed = 0;
        sequence.preemptions++;
        preemptions++;
    }

    /**
     * Blocks that must be there to admit a sequence: its own, and one for every active sequence to grow into, or admission and
     * preemption would chase each other. One that has started over too often is not to be a victim again, so for it everything
     * counts that it and the active ones can grow to.
     */
    int wanted(Sequence sequence) {
        if (sequence.preemptions < Scheduler.MAX_RESTARTS) {
            return sequence.table().missing(sequence.plannedLength()) + roster.active();
        }
        return sequence.table().missing(sequence.maxComputed()) + growth(roster.prefilling) + growth(roster.decoding);
    }

    private static int growth(SequenceList list) {
        int blocks = 0;
        for (Sequence s = list.first(); s != null; s = s.next) {
            blocks += s.table().missing(s.maxComputed());
        }
        return blocks;
    }
}
