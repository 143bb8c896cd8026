package io.roseinfer.scheduler;

import io.roseinfer.base.Check;
import io.roseinfer.scheduler.policy.Policies;
import io.roseinfer.scheduler.policy.PolicyRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The sequences that wait for their first admission: shared ones, which any of several schedulers may admit, and ones
 * bound to a scheduler. Any thread may add and remove sequences. A scheduler ranks and admits under the queue's lock,
 * see {@link #locked}. Only the thread that removed or admitted a sequence may end it.
 */
public final class WaitingQueue {
    /** The scheduler number of shared sequences. */
    public static final int ANY = PolicyRequest.ANY_REPLICA;

    /** Sequences in order of arrival; the volatile fields are read without the lock. */
    private static final class Queue {
        private final SequenceList sequences = new SequenceList();
        private volatile int size;

        private volatile long predictedTokens;
        private volatile long promptTokens;
        /** Steps planned by this queue's scheduler, which is the only writer. */
        private volatile long steps;
        /** Whether this queue's scheduler has stopped admitting. */
        private boolean closed;

        void insert(Sequence sequence, @Nullable Sequence before) {
            sequences.addBefore(sequence, before);
            count(sequence, 1);
        }

        void remove(Sequence sequence) {
            sequences.remove(sequence);
            count(sequence, -1);
        }

        private void count(Sequence sequence, int sign) {
            size = sequences.size();
            long predicted = predictedTokens;
            predictedTokens = predicted + sign * sequence.predictedLength();
            long prompts = promptTokens;
            promptTokens = prompts + (sequence.isPromptComputed() ? 0 : (long) sign * sequence.promptLength());
        }

        List<Sequence> removeAll() {
            List<Sequence> all = new ArrayList<>(sequences.size());
            for (Sequence s = sequences.first(); s != null; s = sequences.first()) {
                remove(s);
                all.add(s);
            }
            return all;
        }
    }

    private final Queue shared = new Queue();
    private final List<Queue> bound;
    private final PolicyCalls policies;
    private long arrivals;

    /**
     * Creates an empty queue for schedulers 0 to {@code schedulers - 1}.
     *
     * @param policies the schedulers' policies
     */
    public WaitingQueue(int schedulers, Policies policies) {
        this.policies = new PolicyCalls(policies, this);
        this.bound = Stream.generate(Queue::new).limit(schedulers).toList();
    }

    private Queue queue(int scheduler) {
        return scheduler == ANY ? shared : bound.get(scheduler);
    }

    /** Adds a sequence at the end, bound to a scheduler; shared if that is {@link #ANY} or has stopped. */
    public synchronized void add(Sequence sequence, int scheduler) {
        sequence.setArrival(arrivals++, steps());
        sequence.bind(queue(scheduler).closed ? ANY : scheduler);
        queue(sequence.scheduler()).insert(sequence, null);
        policies.arrived(sequence);
    }

    /**
     * Adds a shared sequence whose scheduler has failed, at the position of its arrival.
     *
     * @param wasRunning whether it ran there; policies know already of one that waited after a preemption
     */
    public synchronized void requeue(Sequence sequence, boolean wasRunning) {
        if (wasRunning) {
            policies.preempted(sequence);
        }
        requeue(sequence, shared.sequences.first());
    }

    /** Adds a shared sequence before the first one, at or after {@code from}, that arrived later; returns that one. */
    private @Nullable Sequence requeue(Sequence sequence, @Nullable Sequence from) {
        Sequence later = from;
        while (later != null && later.arrival < sequence.arrival) {
            later = later.next;
        }
        sequence.bind(ANY);
        shared.insert(sequence, later);
        return later;
    }

    /** Returns the calls of policies. */
    PolicyCalls policies() {
        return policies;
    }

    /** Runs an action under the lock, for a change of a request and of this queue that no other thread sees halfway. */
    public synchronized <T> T locked(Supplier<T> action) {
        return action.get();
    }

    /** Runs an action under the lock. */
    public synchronized void locked(Runnable action) {
        action.run();
    }

    /** Removes a sequence, which ends; returns whether it was waiting. */
    public synchronized boolean remove(Sequence sequence) {
        boolean waited = take(sequence);
        if (waited) {
            policies.ended(sequence);
        }
        return waited;
    }

    /** Notifies policies that a sequence ended after its scheduler had failed or stopped. */
    public void abandoned(Sequence sequence) {
        policies.ended(sequence);
    }

    private boolean take(Sequence sequence) {
        Queue queue = queue(sequence.scheduler());
        boolean waited = sequence.list == queue.sequences;
        if (waited) {
            queue.remove(sequence);
        }
        return waited;
    }

    /** Removes a sequence that a scheduler admits and binds it to that scheduler; the caller must hold the lock. */
    void admit(Sequence sequence, int scheduler) {
        Check.that(take(sequence), "an admitted sequence was not waiting");
        sequence.bind(scheduler);
    }

    /** Shares the sequences bound to a scheduler that is about to stop, and returns them. */
    public synchronized List<Sequence> unbindAll(int scheduler) {
        Queue queue = queue(scheduler);
        queue.closed = true;
        List<Sequence> own = queue.removeAll();
        Sequence later = shared.sequences.first();
        for (Sequence sequence : own) {
            later = requeue(sequence, later);
        }
        return own;
    }

    /** Lets a scheduler that has stopped admit sequences again. */
    public synchronized void reopen(int scheduler) {
        queue(scheduler).closed = false;
    }

    /** Removes and returns all sequences, which end. */
    public synchronized List<Sequence> drain() {
        List<Sequence> all = new ArrayList<>(shared.removeAll());
        bound.forEach(queue -> all.addAll(queue.removeAll()));
        all.forEach(policies::ended);
        return all;
    }

    /** Returns the number of shared sequences, without locking. */
    public int sharedCount() {
        return shared.size;
    }

    /** Returns the predicted tokens of the shared sequences, prompts and completions, without locking. */
    public long sharedPredictedTokens() {
        return shared.predictedTokens;
    }

    /** Returns the prompt tokens of the shared sequences to compute, without locking. */
    public long sharedPromptTokens() {
        return shared.promptTokens;
    }

    /** Returns the number of sequences bound to a scheduler, without locking. */
    public int boundCount(int scheduler) {
        return bound.get(scheduler).size;
    }

    /** Returns the steps planned by all schedulers, the unit of a sequence's age. */
    long steps() {
        long steps = 0;
        for (int i = 0; i < bound.size(); i++) {
            steps += bound.get(i).steps;
        }
        return steps;
    }

    /** Records the number of steps that a scheduler has planned; called by that scheduler only. */
    void recordSteps(int scheduler, long steps) {
        bound.get(scheduler).steps = steps;
    }

    /**
     * Returns the shared sequences, or those bound to a scheduler, in order of arrival; the caller must hold the lock.
     */
    SequenceList sequences(int scheduler) {
        return queue(scheduler).sequences;
    }
}
