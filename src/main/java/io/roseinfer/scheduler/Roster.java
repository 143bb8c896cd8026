package io.roseinfer.scheduler;

import org.jspecify.annotations.Nullable;

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

    /** To the head of a list of active ones, from wherever it is among them. */
    void putBack(Sequence sequence, SequenceList home) {
        if (sequence.list != null) {
            sequence.list.remove(sequence);
        }
        home.addFirst(sequence);
    }

    /** From the active ones to its place among those that wait, before {@code successor}; null is nobody. */
    void queueAgain(Sequence sequence, @Nullable Sequence successor) {
        drop(sequence);
        sequence.state = Sequence.State.WAITING;
        waiting.addBefore(sequence, successor);
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
