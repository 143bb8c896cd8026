package io.roseinfer.scheduler;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One iteration's view of the queue: the requests a policy looks at, in the order of its ranks. As many as an iteration may
 * admit are always looked at.
 */
final class Admission {
    private final AdmissionPolicy policy;
    private final @Nullable Sequence[] window;
    private final long[] ranks;
    private int size;
    private int offered;
    private long iteration;

    Admission(AdmissionPolicy policy, int mostAdmitted) {
        this.policy = policy;
        this.window = new Sequence[Math.max(policy.lookahead(), mostAdmitted)];
        this.ranks = new long[window.length];
    }

    /** Starts an iteration over the queue. The window is short and mostly in order, so an insertion sort serves; it is stable. */
    void begin(SequenceList waiting) {
        iteration++;
        size = 0;
        offered = 0;
        for (Sequence s = waiting.first(); s != null && size < window.length; s = s.next) {
            long rank = s.isRestart() ? Long.MIN_VALUE : policy.rank(s, iteration);
            int at = size++;
            while (at > 0 && rank < ranks[at - 1]) {
                window[at] = window[at - 1];
                ranks[at] = ranks[at - 1];
                at--;
            }
            window[at] = s;
            ranks[at] = rank;
        }
    }

    boolean isStrict() {
        return policy.isStrict(iteration);
    }

    /** The next sequence to consider, or null when none is left this iteration. */
    @Nullable
    Sequence next() {
        return offered < size ? window[offered++] : null;
    }

    /** Ends the iteration: whoever was looked at and still waits has been passed over once more. */
    void end() {
        for (int i = 0; i < size; i++) {
            Sequence sequence = Objects.requireNonNull(window[i]);
            if (sequence.isWaiting()) {
                sequence.timesPassedOver++;
            }
            window[i] = null;
        }
    }
}
