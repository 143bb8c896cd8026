package io.roseinfer.scheduler;

import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.QueueView;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The waiting requests that one iteration may admit, in the order of the policy's ranks. It considers as many as the
 * policy looks at, and at least as many as an iteration can admit. The waiting queue's lock is held from {@link #begin}
 * to {@link #end}.
 *
 * <p>The window is the front of the queue and requests are offered from a binary heap. An iteration costs O(n) for n
 * requests in the window, and O(log n) for each one offered.
 */
final class Admission implements QueueView {
    private static final long NONE = -1;

    /** Initial capacity of the window; it grows only if the policy looks at more. */
    private static final int MIN_CAPACITY = 4096;

    private final AdmissionPolicy policy;
    private final int maxWindow;
    private final int maxPasses;
    private final SequenceQueues queues;
    private final WaitingQueue waitingQueue;
    private final int number;
    private final KvBlockPool pool;

    /** Requests under consideration, in queue order. */
    private @Nullable Sequence[] window;

    private long[] ranks;

    /** Indices into the window of the requests not offered yet: a min-heap by rank, then by position in the queue. */
    private int[] heap;

    private int windowSize;
    private int heapSize;

    /** Number of shared requests, which any scheduler may admit, that this iteration may still take. */
    private int remainingShared;

    private boolean isOfferedShared;

    /** Whether a policy may be running, so that it may use this view. */
    private boolean isOpen;

    private long iteration;
    private long step;
    private long nowNanos;
    private boolean strict;

    private long lastStepEndNanos = Long.MIN_VALUE;
    private long lastStepNanos;
    private int lastStepTokens;
    private int lastStepPromptTokens;
    private int lastStepDecodeRows;
    private long lastStepAttended;

    /** The latest arrival among the requests admitted for the first time in this iteration. */
    private long newestAdmitted = NONE;

    /** The first request offered in this iteration that has never run. */
    private @Nullable Sequence head;

    /** Whether the head of a strict iteration still waits, so that the iteration number stays the same. */
    private boolean repeatsIteration;

    Admission(
            SchedulerOptions options, SequenceQueues queues, WaitingQueue waitingQueue, int number, KvBlockPool pool) {
        this.policy = options.admission();
        this.maxPasses = options.maxPasses();
        this.queues = queues;
        this.waitingQueue = waitingQueue;
        this.number = number;
        this.pool = pool;
        this.maxWindow = Math.max(waitingQueue.policies().lookahead(policy), options.prefillMaxBatchSize());
        int capacity = Math.min(maxWindow, MIN_CAPACITY);
        this.window = new Sequence[capacity];
        this.ranks = new long[capacity];
        this.heap = new int[capacity];
    }

    /** Grows the window if more requests wait than fit. */
    private void reserve() {
        int wanted = Math.min(waitingCount(), maxWindow);
        if (wanted > window.length) {
            int capacity = (int) Math.min(maxWindow, Math.max(wanted, 2L * window.length));
            int[] largerHeap = new int[capacity];
            long[] largerRanks = new long[capacity];
            window = Arrays.copyOf(window, capacity);
            heap = largerHeap;
            ranks = largerRanks;
        }
    }

    /** Sets whether policies may use this view; returns whether they could. */
    boolean setOpen(boolean value) {
        boolean was = isOpen;
        isOpen = value;
        return was;
    }

    private Admission open() {
        if (!isOpen) {
            throw new ExtensionFailure.Misuse("uses a QueueView after the call that it was passed to");
        }
        return this;
    }

    @Override
    public int replica() {
        return open().number;
    }

    @Override
    public long iteration() {
        return open().iteration;
    }

    @Override
    public long step() {
        return open().step;
    }

    @Override
    public long nowNanos() {
        return open().nowNanos;
    }

    @Override
    public long lastStepNanos() {
        return open().lastStepNanos;
    }

    @Override
    public int lastStepTokens() {
        return open().lastStepTokens;
    }

    @Override
    public int lastStepPromptTokens() {
        return open().lastStepPromptTokens;
    }

    @Override
    public int lastStepDecodeRows() {
        return open().lastStepDecodeRows;
    }

    @Override
    public long lastStepAttended() {
        return open().lastStepAttended;
    }

    @Override
    public int blockSize() {
        return open().pool.blockSize();
    }

    @Override
    public int totalBlocks() {
        return open().pool.blocks();
    }

    @Override
    public int freeBlocks() {
        return open().pool.available();
    }

    @Override
    public int runningRows() {
        return open().queues.active();
    }

    @Override
    public int waiting() {
        return open().waitingCount();
    }

    private int waitingCount() {
        return queues.restarting.size() + waitingQueue.boundCount(number) + waitingQueue.sharedCount();
    }

    /**
     * Returns whether there are requests to consider.
     *
     * @param maxShared maximum shared requests to take
     */
    boolean hasWaiting(int maxShared) {
        return !queues.restarting.isEmpty()
                || waitingQueue.boundCount(number) > 0
                || (maxShared > 0 && waitingQueue.sharedCount() > 0);
    }

    /** Sets the time and the number of the step being planned, which policies see. */
    void at(long now) {
        nowNanos = now;
        step = waitingQueue.steps();
    }

    /** Notes the duration and the size of a step that has ended, which policies see; returns the duration. */
    long stepEnded(StepRecord ended) {
        long startNanos = Math.max(ended.get(Fact.START_NANOS), lastStepEndNanos);
        lastStepEndNanos = ended.endNanos();
        lastStepNanos = lastStepEndNanos - startNanos;
        lastStepTokens = (int) ended.get(Fact.TOKENS);
        lastStepPromptTokens = (int) ended.get(Fact.PREFILL_TOKENS);
        lastStepDecodeRows = (int) ended.get(Fact.DECODE_ROWS);
        lastStepAttended = ended.get(Fact.ATTENDED);
        return lastStepNanos;
    }

    /** Starts an iteration that takes at most {@code maxShared} shared requests. */
    void begin(int maxShared) {
        step = waitingQueue.steps();
        remainingShared = maxShared;
        if (!repeatsIteration) {
            iteration++;
        }
        strict = isStrict();
        newestAdmitted = NONE;
        head = null;
        fillWindow();
        heapSize = windowSize;
        for (int parent = heapSize / 2 - 1; parent >= 0; parent--) {
            siftDown(parent);
        }
    }

    /** Fills the window with preempted requests, then with waiting ones in order of arrival. */
    private void fillWindow() {
        reserve();
        windowSize = 0;
        for (Sequence s = queues.restarting.first(); s != null && windowSize < maxWindow; s = s.next) {
            addToWindow(s);
        }
        Sequence own = waitingQueue.sequences(number).first();
        Sequence any =
                remainingShared > 0 ? waitingQueue.sequences(WaitingQueue.ANY).first() : null;
        while ((own != null || any != null) && windowSize < maxWindow) {
            boolean isOwn = any == null || (own != null && own.arrival < any.arrival);
            Sequence next = Objects.requireNonNull(isOwn ? own : any);
            own = isOwn ? next.next : own;
            any = isOwn ? any : next.next;
            next.table().setPool(pool);
            addToWindow(next);
        }
    }

    private void addToWindow(Sequence sequence) {
        window[windowSize] = sequence;
        ranks[windowSize] = rank(sequence);
        heap[windowSize] = windowSize;
        windowSize++;
    }

    /** Returns the policy's rank, or the minimum if the sequence must be next. */
    private long rank(Sequence sequence) {
        return sequence.mustBeNext(maxPasses) ? Long.MIN_VALUE : Math.max(Long.MIN_VALUE + 1, policyRank(sequence));
    }

    private long policyRank(Sequence sequence) {
        try {
            return policy.rank(sequence.waiting, this);
        } catch (Throwable thrown) {
            throw ExtensionFailure.ofAdmission(policy, thrown);
        }
    }

    /** Returns whether the policy keeps a sequence waiting. It cannot while nothing runs, as no step would follow. */
    private boolean isHeld(Sequence sequence) {
        if (queues.active() == 0 || sequence.mustBeNext(maxPasses)) {
            return false;
        }
        try {
            return policy.holds(sequence.waiting, this);
        } catch (Throwable thrown) {
            throw ExtensionFailure.ofAdmission(policy, thrown);
        }
    }

    private boolean isStrict() {
        try {
            return policy.isStrict(this);
        } catch (Throwable thrown) {
            throw ExtensionFailure.ofAdmission(policy, thrown);
        }
    }

    private void siftDown(int from) {
        int parent = from;
        int moving = heap[from];
        int child = 2 * parent + 1;
        while (child < heapSize) {
            if (child + 1 < heapSize && isBefore(heap[child + 1], heap[child])) {
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

    /** Returns the next sequence to consider, or null if none is left in this iteration. */
    @Nullable
    Sequence next() {
        while (heapSize > 0) {
            Sequence offered = Objects.requireNonNull(window[heap[0]]);
            heap[0] = heap[--heapSize];
            siftDown(0);
            isOfferedShared = offered.scheduler() == WaitingQueue.ANY;
            if (isOfferedShared && remainingShared <= 0 && !offered.mustBeNext(maxPasses)) {
                continue;
            }
            if (isHeld(offered)) {
                continue;
            }
            if (head == null && !offered.isRestart()) {
                head = offered;
            }
            return offered;
        }
        return null;
    }

    /** Records that the sequence offered last was admitted. */
    void admitted(Sequence sequence) {
        remainingShared -= isOfferedShared ? 1 : 0;
        if (!sequence.isRestart()) {
            newestAdmitted = Math.max(newestAdmitted, sequence.arrival);
        }
    }

    /**
     * Returns whether a sequence that was not admitted keeps later ones waiting. In a strict iteration it does, unless
     * it was deferred to reuse the prefix that another sequence is computing.
     */
    boolean blocksQueue(Sequence sequence) {
        return sequence.mustBeNext(maxPasses) || (strict && !sequence.deferred);
    }

    /** Ends the iteration and counts a pass for each sequence that still waits although a later one was admitted. */
    void end() {
        for (int i = 0; i < windowSize; i++) {
            Sequence sequence = Objects.requireNonNull(window[i]);
            window[i] = null;
            if (sequence.isWaiting() && sequence.arrival < newestAdmitted) {
                sequence.timesPassedOver++;
            }
        }
        // Without a head, preempted requests took the whole capacity or the whole window, so the next request
        // has not been offered yet.
        repeatsIteration = strict && (head == null ? waitingCount() > 0 : head.isWaiting());
        head = null;
    }
}
