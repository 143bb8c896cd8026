package io.roseinfer.scheduler;

import io.roseinfer.base.Check;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** An intrusive doubly linked list. A sequence is in at most one list and is removed in O(1). */
final class SequenceList {
    private @Nullable Sequence first;
    private @Nullable Sequence last;
    private int size;

    int size() {
        return size;
    }

    boolean isEmpty() {
        return size == 0;
    }

    @Nullable
    Sequence first() {
        return first;
    }

    void addLast(Sequence sequence) {
        link(sequence);
        sequence.previous = last;
        sequence.next = null;
        if (last == null) {
            first = sequence;
        } else {
            last.next = sequence;
        }
        last = sequence;
    }

    void addFirst(Sequence sequence) {
        link(sequence);
        sequence.next = first;
        sequence.previous = null;
        if (first == null) {
            last = sequence;
        } else {
            first.previous = sequence;
        }
        first = sequence;
    }

    /** Adds a sequence before another one of this list, or at the end if {@code successor} is null. */
    void addBefore(Sequence sequence, @Nullable Sequence successor) {
        if (successor == null) {
            addLast(sequence);
        } else if (successor.previous == null) {
            addFirst(sequence);
        } else {
            link(sequence);
            sequence.previous = successor.previous;
            sequence.next = successor;
            successor.previous.next = sequence;
            successor.previous = sequence;
        }
    }

    private void link(Sequence sequence) {
        Check.that(sequence.list == null, "a sequence is already in a list");
        sequence.list = this;
        size++;
    }

    void remove(Sequence sequence) {
        Check.that(sequence.list == this, "a sequence is not in the list it is removed from");
        if (sequence.previous == null) {
            first = sequence.next;
        } else {
            sequence.previous.next = sequence.next;
        }
        if (sequence.next == null) {
            last = sequence.previous;
        } else {
            sequence.next.previous = sequence.previous;
        }
        sequence.list = null;
        sequence.previous = null;
        sequence.next = null;
        size--;
    }

    /** Moves the first sequence to the end. */
    void rotate() {
        Sequence head = Objects.requireNonNull(first);
        remove(head);
        addLast(head);
    }
}
