package io.roseinfer.scheduler;

import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.QueueView;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One iteration's view of the queue: the requests a policy looks at, in the order of its ranks. As many as an iteration may
 * admit are always looked at.
 *
 * <p>The window is the front of the queue and its offers come from a binary heap, so an iteration costs O(n) to look at n
 * requests and O(log n) for each one offered.
 */
final class Admission implements QueueView {
    private static final long NOBODY = -1;

    /** A window of this length is there from the start; only a policy that looks at more has it grow. */
    private static final int LEAST_CAPACITY = 4096;

    private final AdmissionPolicy policy;
    private final int maxWindow;
    private final Roster roster;
    private final KvBlockPool pool;

    /** Those in sight, in the order of the queue. */
    private @Nullable Sequence[] window;

    private long[] ranks;

    /** Places in the window of those not offered yet; the lowest rank, and of equal ranks the first in the queue, is on top. */
    private int[] heap;

    private int inSight;
    private int toOffer;

    private long iteration;
    private long step;
    private boolean strict;

    /** The last to arrive of those admitted for the first time in this iteration. */
    private long newestAdmitted = NOBODY;

    /** The first one offered in this iteration that has never run. */
    private @Nullable Sequence head;

    /** Whether the head of a strict iteration still waits, so that the iteration is repeated. */
    private boolean isHeld;

    Admission(AdmissionPolicy policy, int mostAdmitted, Roster roster, KvBlockPool pool) {
        this.policy = policy;
        this.roster = roster;
        this.pool = pool;
        this.maxWindow = Math.max(lookahead(policy), mostAdmitted);
        int capacity = Math.min(maxWindow, LEAST_CAPACITY);
        this.window = new Sequence[capacity];
        this.ranks = new long[capacity];
        this.heap = new int[capacity];
    }

    private static int lookahead(AdmissionPolicy policy) {
        try {
            return policy.lookahead();
        } catch (Throwable thrown) {
            throw PolicyFailure.ofAdmission(policy, thrown);
        }
    }

    /** Makes room for a queue of this length, so that no iteration allocates. */
    void reserve(int waiting) {
        int wanted = Math.min(waiting, maxWindow);
        if (wanted > window.length) {
            int capacity = (int) Math.min(maxWindow, Math.max(wanted, 2L * window.length));
            int[] largerHeap = new int[capacity];
            long[] largerRanks = new long[capacity];
            window = Arrays.copyOf(window, capacity);
            heap = largerHeap;
            ranks = largerRanks;
        }
    }

    @Override
    public long iteration() {
        return iteration;
    }

    @Override
    public long step() {
        return step;
    }

    @Override
    public int freeBlocks() {
        return pool.available();
    }

    @Override
    public int runningRows() {
        return roster.active();
    }

    @Override
    public int waiting() {
        return roster.waiting.size();
    }

    /** Starts an iteration over the queue, for this step. */
    void begin(long stepNumber) {
        step = stepNumber;
        if (!isHeld) {
            iteration++;
        }
        strict = isStrict();
        newestAdmitted = NOBODY;
        head = null;
        inSight = 0;
        for (Sequence s = roster.waiting.first(); s != null && inSight < maxWindow; s = s.next) {
            window[inSight] = s;
            ranks[inSight] = rank(s);
            heap[inSight] = inSight;
            inSight++;
        }
        toOffer = inSight;
        for (int parent = toOffer / 2 - 1; parent >= 0; parent--) {
            siftDown(parent);
        }
    }

    /** The policy's rank; a sequence that must be next goes before everybody the policy has a say in. */
    private long rank(Sequence sequence) {
        return sequence.mustBeNext() ? Long.MIN_VALUE : Math.max(Long.MIN_VALUE + 1, policyRank(sequence));
    }

    private long policyRank(Sequence sequence) {
        try {
            return policy.rank(sequence, this);
        } catch (Throwable thrown) {
            throw PolicyFailure.ofAdmission(policy, thrown);
        }
    }

    private boolean isStrict() {
        try {
            return policy.isStrict(this);
        } catch (Throwable thrown) {
            throw PolicyFailure.ofAdmission(policy, thrown);
        }
    }

    private void siftDown(int from) {
        int parent = from;
        int moving = heap[from];
        int child = 2 * parent + 1;
        while (child < toOffer) {
            if (child + 1 < toOffer && isBefore(heap[child + 1], heap[child])) {
                child++;
            }
            if (!isBefore(heap[child], moving)) {
                break;
            }
            heap[parent] = heap[child];
            parent = child;
            child = 2 * parent + 1;
        }
        heap[parent] = moving;
    }

    private boolean isBefore(int place, int other) {
        return ranks[place] < ranks[other] || (ranks[place] == ranks[other] && place < other);
    }

    /** The next sequence to consider, or null when none is left this iteration. */
    @Nullable
    Sequence next() {
        if (toOffer == 0) {
            return null;
        }
        Sequence offered = Objects.requireNonNull(window[heap[0]]);
        heap[0] = heap[--toOffer];
        siftDown(0);
        if (head == null && !offered.isRestart()) {
            head = offered;
        }
        return offered;
    }

    /** Notes that a sequence offered in this iteration was admitted. */
    void admitted(Sequence sequence) {
        if (!sequence.isRestart()) {
            newestAdmitted = Math.max(newestAdmitted, sequence.arrival);
        }
    }

    /**
     * Whether a sequence that was not admitted keeps those after it waiting. What a strict iteration leaves out only until another
     * has computed what both begin with does not.
     */
    boolean holdsTheLine(Sequence sequence) {
        return sequence.mustBeNext() || (strict && !sequence.deferred);
    }

    /** Ends the iteration and counts: a sequence that still waits after one that came later was admitted has been passed over once more. */
    void end() {
        for (int i = 0; i < inSight; i++) {
            Sequence sequence = Objects.requireNonNull(window[i]);
            window[i] = null;
            if (sequence.isWaiting() && sequence.arrival < newestAdmitted) {
                sequence.timesPassedOver++;
            }
        }
        // Without a head, those that start over took all the room or the whole window: the one behind them has yet to
        // be offered.
        isHeld = strict && (head == null ? !roster.waiting.isEmpty() : head.isWaiting());
        head = null;
    }
}
