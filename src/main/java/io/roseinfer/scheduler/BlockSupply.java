package io.roseinfer.scheduler;

import io.roseinfer.kv.BlockTable;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.scheduler.policy.PreemptionPolicy;
import io.roseinfer.scheduler.policy.RunningRequest;
import org.jspecify.annotations.Nullable;

/**
 * Who gets KV blocks when there are not enough: room for the next token of an active sequence, at the cost of another if need be,
 * and how much must be free before another is admitted.
 */
final class BlockSupply {
    private final Roster roster;
    private final PreemptionPolicy policy;
    private final WaitingRoom room;
    private final StepRecord totals;

    BlockSupply(Roster roster, PreemptionPolicy policy, WaitingRoom room, StepRecord totals) {
        this.roster = roster;
        this.policy = policy;
        this.room = room;
        this.totals = totals;
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
     * Frees the blocks of the active sequence that the policy chooses among those in no step, if it can be one that has not started
     * over too often. When it could only be the oldest, that sits the step out: it is first in the next one, where others can make
     * room for it.
     *
     * @return whether {@code sequence} can try again
     */
    private boolean preemptFor(Sequence sequence) {
        boolean spared = isOldest(sequence);
        Sequence victim = victim(sequence, spared, Scheduler.MAX_RESTARTS);
        if (victim == null && spared) {
            victim = victim(sequence, true, Integer.MAX_VALUE);
        }
        if (victim == null || victim.inFlight > 0) {
            return false;
        }
        preempt(victim);
        return victim != sequence;
    }

    private boolean isOldest(Sequence sequence) {
        return sequence.arrival == oldestArrival();
    }

    private long oldestArrival() {
        return Math.min(oldestArrival(roster.prefilling), oldestArrival(roster.decoding));
    }

    private static long oldestArrival(SequenceList list) {
        long oldest = Long.MAX_VALUE;
        for (Sequence s = list.first(); s != null; s = s.next) {
            oldest = Math.min(oldest, s.arrival);
        }
        return oldest;
    }

    /**
     * The policy's choice among the sequence that needs a block, unless it is spared, and the others that have started over less than
     * {@code restarts} times; null if there are none. One that has started over too often stands only if nobody younger does.
     */
    private @Nullable Sequence victim(Sequence needy, boolean spared, int restarts) {
        boolean stands = !spared
                && (needy.preemptions < Scheduler.MAX_RESTARTS
                        || !(hasYounger(roster.prefilling, needy, restarts)
                                || hasYounger(roster.decoding, needy, restarts)));
        Sequence chosen = stands ? needy : null;
        chosen = choose(roster.decoding, chosen, needy, restarts);
        return choose(roster.prefilling, chosen, needy, restarts);
    }

    private static boolean hasYounger(SequenceList list, Sequence than, int restarts) {
        for (Sequence s = list.first(); s != null; s = s.next) {
            if (mayBeVictim(s, restarts) && s.arrival > than.arrival) {
                return true;
            }
        }
        return false;
    }

    private @Nullable Sequence choose(SequenceList list, @Nullable Sequence first, Sequence needy, int restarts) {
        long oldest = oldestArrival();
        Sequence chosen = first;
        for (Sequence s = list.first(); s != null; s = s.next) {
            if (s != needy && s.arrival != oldest && mayBeVictim(s, restarts)) {
                chosen = chosen == null ? s : choose(chosen, s);
            }
        }
        return chosen;
    }

    private Sequence choose(Sequence one, Sequence other) {
        return policyVictim(one, other) == one ? one : other;
    }

    private RunningRequest policyVictim(Sequence one, Sequence other) {
        try {
            RunningRequest victim;
            // Schedulers that share a room may share a policy.
            synchronized (room) {
                victim = policy.victim(one, other);
            }
            if (victim != one && victim != other) {
                throw new PolicyFailure.Misuse("chose neither of two requests");
            }
            return victim;
        } catch (Throwable thrown) {
            throw PolicyFailure.ofPreemption(policy, thrown);
        }
    }

    private static boolean mayBeVictim(Sequence sequence, int restarts) {
        return sequence.inFlight == 0 && sequence.preemptions < restarts;
    }

    private void preempt(Sequence sequence) {
        roster.restart(sequence);
        sequence.table().release();
        sequence.computed = 0;
        sequence.confirmed = 0;
        sequence.preemptions++;
        totals.add(Fact.PREEMPTIONS, 1);
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
