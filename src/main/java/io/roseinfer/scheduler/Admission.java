package io.roseinfer.scheduler;

import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.QueueView;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One iteration's view of the requests that wait and that its scheduler may admit: those that a policy looks at, in the order of its
 * ranks. As many as an iteration may admit are always looked at. From {@link #begin} to {@link #end} the room's lock is held.
 *
 * <p>The window is the front of the queue and its offers come from a binary heap, so an iteration costs O(n) to look at n
 * requests and O(log n) for each one offered.
 */
final class Admission implements QueueView {
    private static final long NOBODY = -1;

    /** A window of this length is there from the start; only a policy that looks at more has it grow. */
    private static final int MIN_CAPACITY = 4096;

    private final AdmissionPolicy policy;
    private final int maxWindow;
    private final Roster roster;
    private final WaitingRoom room;
    private final int number;
    private final KvBlockPool pool;

    /** Those in sight, in the order of the queue. */
    private @Nullable Sequence[] window;

    private long[] ranks;

    /** Places in the window of those not offered yet; the lowest rank, and of equal ranks the first in the queue, is on top. */
    private int[] heap;

    private int inSight;
    private int toOffer;

    /** How many more of those that any scheduler may admit this iteration may take. */
    private int sharedLeft;

    private boolean isOfferedShared;

    private long iteration;
    private long step;
    private boolean strict;

    /** The last to arrive of those admitted for the first time in this iteration. */
    private long newestAdmitted = NOBODY;

    /** The first one offered in this iteration that has never run. */
    private @Nullable Sequence head;

    /** Whether the head of a strict iteration still waits, so that the iteration is repeated. */
    private boolean isHeld;

    Admission(AdmissionPolicy policy, int maxAdmitted, Roster roster, WaitingRoom room, int number, KvBlockPool pool) {
        this.policy = policy;
        this.roster = roster;
        this.room = room;
        this.number = number;
        this.pool = pool;
        this.maxWindow = Math.max(lookahead(policy, room), maxAdmitted);
        int capacity = Math.min(maxWindow, MIN_CAPACITY);
        this.window = new Sequence[capacity];
        this.ranks = new long[capacity];
        this.heap = new int[capacity];
    }

    private static int lookahead(AdmissionPolicy policy, WaitingRoom room) {
        try {
            // Schedulers that share a room may share a policy.
            synchronized (room) {
                return policy.lookahead();
            }
        } catch (Throwable thrown) {
            throw PolicyFailure.ofAdmission(policy, thrown);
        }
    }

    /** Has room for the requests that wait now, which grows when more wait than ever before. */
    private void reserve() {
        int wanted = Math.min(waiting(), maxWindow);
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
        return roster.restarting.size() + room.bound(number) + room.shared();
    }

    /** Returns whether there are requests to consider, given how many of the shared ones may be taken. */
    boolean hasWaiting(int maxShared) {
        return !roster.restarting.isEmpty() || room.bound(number) > 0 || (maxShared > 0 && room.shared() > 0);
    }

    /** Starts an iteration with a limit on the shared requests that it takes. */
    void begin(int maxShared) {
        step = room.steps();
        sharedLeft = maxShared;
        if (!isHeld) {
            iteration++;
        }
        strict = isStrict();
        newestAdmitted = NOBODY;
        head = null;
        look();
        toOffer = inSight;
        for (int parent = toOffer / 2 - 1; parent >= 0; parent--) {
            siftDown(parent);
        }
    }

    /** Sees those that start over, then those that wait in the order of arrival, as many as the window has room for. */
    private void look() {
        reserve();
        inSight = 0;
        for (Sequence s = roster.restarting.first(); s != null && inSight < maxWindow; s = s.next) {
            see(s);
        }
        Sequence own = room.waiting(number).first();
        Sequence any = sharedLeft > 0 ? room.waiting(WaitingRoom.ANY).first() : null;
        while ((own != null || any != null) && inSight < maxWindow) {
            boolean isOwn = any == null || (own != null && own.arrival < any.arrival);
            Sequence next = Objects.requireNonNull(isOwn ? own : any);
            own = isOwn ? next.next : own;
            any = isOwn ? any : next.next;
            next.table().use(pool);
            see(next);
        }
    }

    private void see(Sequence sequence) {
        window[inSight] = sequence;
        ranks[inSight] = rank(sequence);
        heap[inSight] = inSight;
        inSight++;
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
        while (toOffer > 0) {
            Sequence offered = Objects.requireNonNull(window[heap[0]]);
            heap[0] = heap[--toOffer];
            siftDown(0);
            isOfferedShared = offered.scheduler() == WaitingRoom.ANY;
            if (isOfferedShared && sharedLeft <= 0 && !offered.mustBeNext()) {
                continue;
            }
            if (head == null && !offered.isRestart()) {
                head = offered;
            }
            return offered;
        }
        return null;
    }

    /** Notes that the sequence offered last was admitted. */
    void admitted(Sequence sequence) {
        sharedLeft -= isOfferedShared ? 1 : 0;
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
        isHeld = strict && (head == null ? waiting() > 0 : head.isWaiting());
        head = null;
    }
}
