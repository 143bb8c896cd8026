package io.roseinfer.scheduler;

/**
 * Queues of the sequences that a scheduler has admitted: restarting, prefilling and decoding; the last two are active.
 */
final class SequenceQueues {
    /** Preempted sequences that wait to be admitted again. */
    final SequenceList restarting = new SequenceList();

    final SequenceList prefilling = new SequenceList();
    final SequenceList decoding = new SequenceList();

    private int active;

    /**
     * Returns the number of sequences that hold KV blocks and have not ended. It exceeds the lists' sizes while last
     * tokens are in flight.
     */
    int active() {
        return active;
    }

    /** Appends a sequence to the prefilling queue, removing it from the restarting queue if it is there. */
    void activate(Sequence sequence) {
        if (sequence.list != null) {
            sequence.list.remove(sequence);
        }
        sequence.state = Sequence.State.ACTIVE;
        active++;
        prefilling.addLast(sequence);
    }

    /** Moves a prefilling or decoding sequence to the head of the restarting queue. */
    void restart(Sequence sequence) {
        drop(sequence);
        sequence.state = Sequence.State.WAITING;
        restarting.addFirst(sequence);
    }

    /** Removes a sequence from its queue, if any. */
    void drop(Sequence sequence) {
        if (sequence.list != null) {
            sequence.list.remove(sequence);
        }
        if (sequence.state == Sequence.State.ACTIVE) {
            active--;
        }
    }
}
