package io.roseinfer.scheduler;

import io.roseinfer.scheduler.SchedulerOptions.Admission.Fifo;
import io.roseinfer.scheduler.SchedulerOptions.Admission.Pack;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The order in which waiting sequences are offered to an iteration. First in, first out walks the queue; packing sorts a window
 * of the oldest by length, so that a long prompt at the head does not keep short ones out of the token budget. A preempted
 * sequence stands at the head of the queue and is always offered first.
 */
final class Admission {
    private final SchedulerOptions.Admission policy;
    private final Sequence[] window;
    private int windowSize;
    private int offered;
    private @Nullable Sequence cursor;
    private long iteration;

    Admission(SchedulerOptions.Admission policy) {
        this.policy = policy;
        this.window = new Sequence[policy instanceof Pack pack ? pack.lookahead() : 0];
    }

    /** Starts an iteration over the queue. */
    void begin(SequenceList waiting) {
        iteration++;
        offered = 0;
        windowSize = 0;
        cursor = waiting.first();
        if (policy instanceof Pack pack && !isForcedFifo(pack)) {
            fillWindow();
        }
    }

    private boolean isForcedFifo(Pack pack) {
        return pack.forceFifoEvery() > 0 && iteration % pack.forceFifoEvery() == 0;
    }

    /** Whether sequences are offered in another order than that of arrival, so that one that does not fit may be passed over. */
    boolean mayPassOver() {
        return !(policy instanceof Fifo) && windowSize > 0;
    }

    /** The next sequence to consider, or null when none is left this iteration. It must be removed from the queue only after. */
    @Nullable
    Sequence next() {
        if (windowSize > 0) {
            return offered < windowSize ? window[offered++] : null;
        }
        Sequence sequence = cursor;
        if (sequence != null) {
            cursor = sequence.next;
        }
        return sequence;
    }

    /** The window is short, so an insertion sort serves; it is stable, which keeps the order of arrival among equals. */
    private void fillWindow() {
        for (Sequence s = cursor; s != null && windowSize < window.length; s = s.next) {
            int at = windowSize++;
            while (at > 0 && before(s, Objects.requireNonNull(window[at - 1]))) {
                window[at] = window[at - 1];
                at--;
            }
            window[at] = s;
        }
    }

    private static boolean before(Sequence a, Sequence b) {
        boolean restartsA = a.preemptions > 0;
        boolean restartsB = b.preemptions > 0;
        return restartsA == restartsB ? !restartsA && a.remaining() < b.remaining() : restartsA;
    }
}
