package io.roseinfer.scheduler;

/** The sequences that a scheduler has admitted: those that start over, and those that prefill or decode, which are the active ones. */
final class Roster {
    /** Those that gave their blocks back and wait to be admitted again. */
    final SequenceList restarting = new SequenceList();

    final SequenceList prefilling = new SequenceList();
    final SequenceList decoding = new SequenceList();

    private int active;

    /** Sequences that hold KV blocks and have not ended; more than the lists hold while last tokens are on their way. */
    int active() {
        return active;
    }

    /** To the end of those that prefill; from those that start over if it is among them. */
    void activate(Sequence sequence) {
        if (sequence.list != null) {
            sequence.list.remove(sequence);
        }
        sequence.state = Sequence.State.ACTIVE;
        active++;
        prefilling.addLast(sequence);
    }

    /** From prefilling or decoding to the head of those that start over. */
    void restart(Sequence sequence) {
        drop(sequence);
        sequence.state = Sequence.State.WAITING;
        restarting.addFirst(sequence);
    }

    /** Out of every list, wherever it is. */
    void drop(Sequence sequence) {
        if (sequence.list != null) {
            sequence.list.remove(sequence);
        }
        if (sequence.state == Sequence.State.ACTIVE) {
            active--;
        }
    }
}
