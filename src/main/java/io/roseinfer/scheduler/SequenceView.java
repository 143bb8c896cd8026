package io.roseinfer.scheduler;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The sequences of a list when a policy first asked for them in a step, by index. Allocates memory only to grow. */
final class SequenceView {
    private static final int NOT_TAKEN = -1;

    private @Nullable Sequence[] sequences = new Sequence[0];
    private int size = NOT_TAKEN;

    /** Forgets the sequences. */
    void clear() {
        if (size > 0) {
            Arrays.fill(sequences, 0, size, null);
        }
        size = NOT_TAKEN;
    }

    /** Copies the list, unless that was done since {@link #clear}. */
    void take(SequenceList list) {
        if (isTaken()) {
            return;
        }
        if (sequences.length < list.size()) {
            sequences = new Sequence[Math.max(list.size(), 2 * sequences.length)];
        }
        size = 0;
        for (Sequence s = list.first(); s != null; s = s.next) {
            s.viewIndex = size;
            sequences[size++] = s;
        }
    }

    boolean isTaken() {
        return size != NOT_TAKEN;
    }

    int size() {
        return size;
    }

    Sequence get(int index) {
        Objects.checkIndex(index, size);
        return Objects.requireNonNull(sequences[index]);
    }

    boolean contains(Sequence sequence) {
        return sequence.viewIndex < size && sequences[sequence.viewIndex] == sequence;
    }
}
