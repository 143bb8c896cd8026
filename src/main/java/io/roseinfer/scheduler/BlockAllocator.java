package io.roseinfer.scheduler;

import io.roseinfer.kv.BlockTable;
import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.metrics.WritableStep;
import io.roseinfer.scheduler.policy.PreemptionPolicy;
import io.roseinfer.scheduler.policy.QueueView;
import org.jspecify.annotations.Nullable;

/**
 * Allocates KV blocks to active sequences, preempting if the pool is exhausted, and computes how many blocks must be
 * free before another sequence is admitted.
 */
final class BlockAllocator {
    private final KvBlockPool pool;
    private final SequenceQueues queues;
    private final PreemptionPolicy policy;
    private final QueueView view;
    private final WaitingQueue waitingQueue;
    private final WritableStep totals;

    BlockAllocator(
            KvBlockPool pool,
            SequenceQueues queues,
            PreemptionPolicy policy,
            QueueView view,
            WaitingQueue waitingQueue,
            WritableStep totals) {
        this.pool = pool;
        this.queues = queues;
        this.policy = policy;
        this.view = view;
        this.waitingQueue = waitingQueue;
        this.totals = totals;
    }

    /**
     * Allocates the next token's slot of an active sequence; returns false if it was preempted or must skip this step.
     */
    boolean allocateSlot(Sequence sequence) {
        BlockTable table = sequence.table();
        while (!table.grow(sequence.plannedLength())) {
            if (!preemptFor(sequence)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Allocates blocks for up to {@code drafts} more tokens of a sequence, but leaves one for every other active sequence.
     *
     * @return for how many there are blocks
     */
    int growForDrafts(Sequence sequence, int drafts) {
        BlockTable table = sequence.table();
        int wanted = sequence.plannedLength() + drafts;
        while (table.capacity() < wanted && pool.available() > queues.active()) {
            if (!table.grow(table.capacity() + 1)) {
                break;
            }
        }
        return Math.min(wanted, table.capacity()) - sequence.plannedLength();
    }

    /**
     * Preempts the active sequence that the policy chooses among those in no step in flight. Sequences that were
     * restarted too often are spared while there are others. If only the oldest could be preempted, it skips the step:
     * it is first in the next one, where others can be preempted for it.
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
        return Math.min(oldestArrival(queues.prefilling), oldestArrival(queues.decoding));
    }

    private static long oldestArrival(SequenceList list) {
        long oldest = Long.MAX_VALUE;
        for (Sequence s = list.first(); s != null; s = s.next) {
            oldest = Math.min(oldest, s.arrival);
        }
        return oldest;
    }

    /**
     * Returns the policy's choice among {@code needy}, unless it is spared, and the others with fewer than
     * {@code restarts} restarts; null if there is no candidate. If {@code needy} has been restarted too often, it is a
     * candidate only if no younger sequence is.
     */
    private @Nullable Sequence victim(Sequence needy, boolean spared, int restarts) {
        boolean stands = !spared
                && (needy.forcedPreemptions() < Scheduler.MAX_RESTARTS
                        || !(hasYounger(queues.prefilling, needy, restarts)
                                || hasYounger(queues.decoding, needy, restarts)));
        Sequence chosen = stands ? needy : null;
        chosen = choose(queues.decoding, chosen, needy, restarts);
        return choose(queues.prefilling, chosen, needy, restarts);
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
                chosen = chosen == null ? s : waitingQueue.policies().victim(policy, chosen, s, view);
            }
        }
        return chosen;
    }

    private static boolean mayBeVictim(Sequence sequence, int restarts) {
        return sequence.inFlight == 0 && sequence.forcedPreemptions() < restarts;
    }

    private void preempt(Sequence sequence) {
        sequence.restartsFirst = true;
        restart(sequence);
    }

    /**
     * Preempts a sequence because a policy wants it; then the admission policy decides when it runs again.
     *
     * @return false if it waits, is in a step in flight or, if {@code guarded}, is the oldest or was preempted like this
     *     {@link Scheduler#MAX_RESTARTS} times
     */
    boolean preempt(Sequence sequence, boolean guarded) {
        boolean runs = sequence.list == queues.prefilling || sequence.list == queues.decoding;
        if (!runs
                || sequence.inFlight > 0
                || (guarded && (isOldest(sequence) || sequence.chosenPreemptions >= Scheduler.MAX_RESTARTS))) {
            return false;
        }
        sequence.restartsFirst = false;
        sequence.chosenPreemptions++;
        restart(sequence);
        return true;
    }

    private void restart(Sequence sequence) {
        queues.restart(sequence);
        sequence.computed = 0;
        sequence.confirmed = 0;
        sequence.preemptions++;
        totals.add(Fact.PREEMPTIONS, 1);
        waitingQueue.policies().preempted(sequence);
        sequence.table().release();
    }

    /**
     * Returns how many blocks must be available to admit a sequence: its own, plus one for every active sequence to
     * grow into. Otherwise a sequence could be preempted right after its admission. A sequence that was restarted too
     * often should not be preempted again, so it waits for all blocks that it and the active sequences can grow to.
     */
    int requiredBlocks(Sequence sequence) {
        if (sequence.forcedPreemptions() < Scheduler.MAX_RESTARTS) {
            return sequence.table().missingBlocks(sequence.goal()) + queues.active();
        }
        return sequence.table().missingBlocks(sequence.maxComputed())
                + growth(queues.prefilling)
                + growth(queues.decoding);
    }

    private static int growth(SequenceList list) {
        int blocks = 0;
        for (Sequence s = list.first(); s != null; s = s.next) {
            blocks += s.table().missingBlocks(s.maxComputed());
        }
        return blocks;
    }
}
