package io.roseinfer.scheduler;

/** Which sequences there are and how far they have come: waiting, prefilling or decoding. The last two are the active ones. */
final class Roster {
    final SequenceList waiting = new SequenceList();
    final SequenceList prefilling = new SequenceList();
    final SequenceList decoding = new SequenceList();

    private int active;

    /** Sequences that hold KV blocks and have not ended; more than the lists hold while last tokens are on their way. */
    int active() {
        return active;
    }

    /** From waiting to the end of those that prefill. */
    void activate(Sequence sequence) {
        waiting.remove(sequence);
        sequence.state = Sequence.State.ACTIVE;
        active++;
        prefilling.addLast(sequence);
    }

    /** From prefilling or decoding to the head of those that wait. */
    void restart(Sequence sequence) {
        drop(sequence);
        sequence.state = Sequence.State.WAITING;
        waiting.addFirst(sequence);
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
