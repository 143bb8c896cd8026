package io.roseinfer.scheduler;

import io.roseinfer.base.Check;
import io.roseinfer.kv.BlockTable;
import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.metrics.WritableStep;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.EvictionPolicy;
import io.roseinfer.scheduler.policy.PreemptionPolicy;
import io.roseinfer.scheduler.policy.RequestEvents;
import io.roseinfer.scheduler.policy.StepPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Plans steps and applies their results. Single-threaded and without a clock: the
 * caller passes the time, for policies. A call takes time proportional to the
 * rows of the step and the requests that the admission policy looks at, regardless of how many wait, and allocates no
 * memory.
 *
 * <p>By default an iteration admits waiting sequences and prefills them in one ragged step, then decodes in another.
 * With chunked prefill both share one step. Decode rows are taken round-robin, so there may be more active sequences
 * than {@code maxBatchSize}.
 *
 * <p>If the pool is exhausted, one sequence, by default the youngest, is preempted and recomputed later. The oldest is
 * never preempted, so there is always progress. After {@value #MAX_RESTARTS} preemptions a sequence waits until all
 * blocks are free that it and the active sequences can grow to; then it is preempted only if there is no other
 * candidate.
 */
public final class Scheduler {
    /** Preemptions after which a sequence is admitted only with all the blocks it can need. */
    public static final int MAX_RESTARTS = 3;

    private static final Fact[] COUNTS = Fact.counts().toArray(Fact[]::new);

    /** Maximum consecutive empty plans while requests wait and no step is in flight. */
    public static final int MAX_EMPTY_PLANS = 100;

    private final SchedulerOptions options;
    private final KvBlockPool pool;
    private final int maxStepTokens;
    private final int maxStepSamples;
    private final WaitingQueue waitingQueue;
    private final int number;
    private final SequenceQueues queues = new SequenceQueues();
    private final StepPlanner planner;
    private final SequenceList finished = new SequenceList();

    /** Sums over all steps so far. */
    private final WritableStep totals = new WritableStep();

    /** The part of the totals that {@link #record} has attributed to a step. */
    private final WritableStep attributed = new WritableStep();

    private final StepPolicy stepPolicy;
    /** Whether the step policy is called under the waiting queue's lock, because it has state that other calls use. */
    private final boolean sharesState;

    private final Runnable planByPolicy = this::planByPolicy;
    private final PolicyCalls policies;

    private long steps;
    private long changesOfTotals;
    private int inFlight;
    private int draftRowsInFlight;
    private int emptyPlans;

    /**
     * Creates a scheduler with a separate waiting queue.
     *
     * @param pool the KV blocks to allocate
     * @param maxStepTokens maximum tokens per step; without chunked prefill at least the longest possible sequence
     */
    public Scheduler(SchedulerOptions options, KvBlockPool pool, int maxStepTokens) {
        this(
                options,
                pool,
                maxStepTokens,
                maxRows(options),
                maxStepTokens,
                Integer.MAX_VALUE,
                new WaitingQueue(1, options.policies()),
                0,
                admitted -> {});
    }

    /**
     * Creates a scheduler that shares a waiting queue.
     *
     * @param pool the KV blocks to allocate
     * @param maxStepTokens maximum tokens per step; without chunked prefill at least the longest possible sequence
     * @param maxStepSamples maximum samples per step, at least {@link #maxRows}
     * @param maxDraftedTokens maximum tokens of a step with drafts
     * @param vocabularySize the ids of drafts are below it
     * @param waitingQueue the sequences waiting for their first admission
     * @param number this scheduler's number in the queue
     * @param onFirstAdmission called with each sequence admitted for the first time, under the queue's lock
     */
    public Scheduler(
            SchedulerOptions options,
            KvBlockPool pool,
            int maxStepTokens,
            int maxStepSamples,
            int maxDraftedTokens,
            int vocabularySize,
            WaitingQueue waitingQueue,
            int number,
            Consumer<Sequence> onFirstAdmission) {
        this.waitingQueue = waitingQueue;
        this.number = number;
        this.options = options;
        this.pool = pool;
        this.maxStepTokens = maxStepTokens;
        this.maxStepSamples = maxStepSamples;
        this.policies = waitingQueue.policies();
        this.stepPolicy = stepPolicy(options.policies().step(), number);
        this.sharesState = stepPolicy instanceof RequestEvents
                || stepPolicy instanceof AdmissionPolicy
                || stepPolicy instanceof PreemptionPolicy
                || stepPolicy instanceof EvictionPolicy;
        this.planner = new StepPlanner(
                options,
                pool,
                maxStepTokens,
                Math.min(maxDraftedTokens, maxStepTokens),
                maxStepSamples,
                vocabularySize,
                queues,
                waitingQueue,
                number,
                totals,
                onFirstAdmission);
    }

    private static StepPolicy stepPolicy(StepPolicy shared, int number) {
        try {
            return Objects.requireNonNull(shared.forScheduler(number), "forScheduler returned null");
        } catch (Throwable thrown) {
            throw ExtensionFailure.ofStep(shared, thrown);
        }
    }

    /** Creates a plan large enough for any step; {@link #plan} can fill it repeatedly. */
    public StepPlan newPlan() {
        return new StepPlan(maxRows(options), maxStepTokens, maxStepSamples, options.maxPasses());
    }

    /** Sets actions to run when an iteration starts and stops admitting waiting requests. */
    public void onAdmission(Runnable begins, Runnable ends) {
        planner.onAdmission(begins, ends);
    }

    /** Returns the maximum rows of a step with these options. */
    public static int maxRows(SchedulerOptions options) {
        return Math.addExact(options.maxBatchSize(), options.prefillMaxBatchSize());
    }

    /** Adds a sequence that only this scheduler may admit. */
    public void add(Sequence sequence) {
        Check.that(
                Math.ceilDiv(sequence.maxComputed(), pool.blockSize()) <= pool.blocks(),
                "a sequence does not fit into the pool");
        waitingQueue.add(sequence, number);
    }

    /**
     * Ends a sequence in any state; no effect if it has ended. Its blocks are released now, or after the last step in
     * flight that it is part of.
     */
    public void end(Sequence sequence, FinishReason reason) {
        if (sequence.state == Sequence.State.FINISHED) {
            return;
        }
        if (!waitingQueue.remove(sequence)) {
            queues.drop(sequence);
            policies.ended(sequence);
        }
        boolean isWhole = reason == FinishReason.STOP || reason == FinishReason.LENGTH;
        if (isWhole && sequence.drafting != null) {
            sequence.drafting.ended();
        }
        sequence.finish(reason);
        if (sequence.inFlight == 0) {
            sequence.table().release();
        }
        finished.addLast(sequence);
    }

    /** Returns the next ended sequence that was neither returned before nor discarded. */
    public Optional<Sequence> pollFinished() {
        Sequence ended = finished.first();
        if (ended != null) {
            finished.remove(ended);
        }
        return Optional.ofNullable(ended);
    }

    /** Ends a sequence without returning it from {@link #pollFinished}. */
    public void discard(Sequence sequence) {
        end(sequence, FinishReason.CANCELLED);
        if (sequence.list == finished) {
            finished.remove(sequence);
        }
    }

    /** Plans the next step at time 0, with any number of admissions; see {@link #plan(StepPlan, int, long)}. */
    public StepPlan plan(StepPlan plan) {
        return plan(plan, Integer.MAX_VALUE, 0);
    }

    /**
     * Plans the next step. If the plan is empty, there is nothing to do until another plan is applied or a sequence is
     * added; an empty plan needs no {@link #apply}. At most two plans may be in flight.
     *
     * @param plan overwritten; must come from {@link #newPlan} and not be in flight
     * @param maxShared maximum admissions of sequences that any scheduler may admit; those that have reached the maximum
     *     of passes are not limited
     * @param nowNanos the time that policies see
     * @return the same plan
     */
    public StepPlan plan(StepPlan plan, int maxShared, long nowNanos) {
        begin(plan, maxShared, nowNanos);
        callStepPolicy();
        commit(plan);
        requireProgress(plan, maxShared);
        return plan;
    }

    /** Fails if the step policy keeps leaving steps empty although there is work. */
    private void requireProgress(StepPlan plan, int maxShared) {
        boolean hasWork = hasWork() || (maxShared > 0 && waitingQueue.sharedCount() > 0);
        boolean isAvoidable = inFlight == 0 && hasWork && !planner.hasPostponed();
        emptyPlans = plan.isEmpty() && isAvoidable ? emptyPlans + 1 : 0;
        if (emptyPlans == MAX_EMPTY_PLANS) {
            throw ExtensionFailure.ofStep(
                    stepPolicy,
                    new ExtensionFailure.Misuse("left " + MAX_EMPTY_PLANS + " steps in a row empty while "
                            + (waiting() + waitingQueue.sharedCount()) + " requests waited and " + queues.active()
                            + " were active"));
        }
    }

    /**
     * Returns whether the next step should wait for the step in flight, because a sequence is likely to have drafts once its last token is
     * known.
     */
    public boolean awaitsDrafts() {
        return draftRowsInFlight > 0 || planner.awaitsDrafts(steps);
    }

    /** Plans a step that only prefills; for callers that drive the phases themselves. */
    public StepPlan planPrefillOnly(StepPlan plan, long nowNanos) {
        begin(plan, Integer.MAX_VALUE, nowNanos);
        planner.prefill(options.prefillMaxTokens());
        planner.end();
        afterPrefill();
        commit(plan);
        return plan;
    }

    private void callStepPolicy() {
        try {
            if (sharesState) {
                waitingQueue.locked(planByPolicy);
            } else {
                planByPolicy();
            }
        } catch (Throwable thrown) {
            throw ExtensionFailure.ofStep(stepPolicy, thrown);
        } finally {
            planner.end();
        }
    }

    private void planByPolicy() {
        stepPolicy.plan(planner);
    }

    private void afterPrefill() {
        try {
            stepPolicy.afterPrefill();
        } catch (Throwable thrown) {
            throw ExtensionFailure.ofStep(stepPolicy, thrown);
        }
    }

    private void begin(StepPlan plan, int maxShared, long nowNanos) {
        policies.requireNoFailure();
        plan.clear(steps);
        planner.begin(plan, maxShared, nowNanos);
    }

    private void commit(StepPlan plan) {
        plan.addTo(totals);
        changesOfTotals++;
        if (!plan.isEmpty()) {
            steps++;
            inFlight++;
            draftRowsInFlight += plan.draftRows();
            waitingQueue.recordSteps(number, steps);
        }
    }

    /**
     * Applies the result of a step: appends tokens, publishes full blocks to the prefix cache, ends sequences and
     * releases the blocks of those that ended meanwhile. Plans must be applied in the order they were made.
     */
    public void apply(StepPlan plan, SampledTokens sampled) {
        endStep(plan);
        for (int row = 0; row < plan.rows(); row++) {
            Sequence sequence = plan.sequence(row);
            endRow(sequence);
            if (sequence.state != Sequence.State.FINISHED) {
                applyRow(plan, row, sampled);
            }
        }
        totals.add(Fact.ACCEPTED_TOKENS, plan.acceptedTokens());
        changesOfTotals += plan.acceptedTokens() > 0 ? 1 : 0;
    }

    private void applyRow(StepPlan plan, int row, SampledTokens sampled) {
        Sequence sequence = plan.sequence(row);
        int applied = applySamples(plan, row, sampled);
        plan.setApplied(row, applied);
        if (plan.failedSample(row) != StepPlan.NO_SAMPLE) {
            end(sequence, FinishReason.ERROR);
            return;
        }
        int rejected = plan.samples(row) - applied;
        if (sequence.drafts > 0) {
            plan.addAccepted(sequence.drafts - rejected);
            verified(sequence, plan.rows(), rejected);
        }
        sequence.confirmed = plan.start(row) + plan.count(row) - rejected;
        sequence.publish();
        int tokens = plan.sampledTokens(row);
        policies.stepped(sequence, plan.count(row) - rejected, tokens);
        if (tokens > 0 && sequence.isEndOfText(plan.sampledToken(row, tokens - 1))) {
            end(sequence, FinishReason.STOP);
        } else if (sequence.length() == sequence.maxLength() && sequence.confirmed == sequence.goal()) {
            end(sequence, FinishReason.LENGTH);
        } else {
            for (int i = 0; i < tokens; i++) {
                sequence.masks().append(plan.sampledToken(row, i));
            }
        }
    }

    /**
     * Applies the samples of a row in order, and returns how many: up to an end-of-text token, a token that is not the
     * draft in its place, or an unusable sample, which is recorded.
     */
    private static int applySamples(StepPlan plan, int row, SampledTokens sampled) {
        Sequence sequence = plan.sequence(row);
        int first = plan.firstSample(row);
        int firstDraw = plan.firstDraw(row);
        int end = plan.skipsDraw(row) ? firstDraw : first + plan.samples(row);
        boolean continues = true;
        int sample = first;
        while (sample < end && continues) {
            if (!sampled.isUsable(sample)) {
                plan.setFailedSample(row, sample);
                break;
            }
            if (sample >= firstDraw) {
                int token = sampled.token(sample);
                plan.setSampledToken(sample, token);
                continues = sequence.resolve(token) && !sequence.isEndOfText(token);
            }
            sample++;
        }
        return sample - first;
    }

    /**
     * Takes back the draw of a row in flight, whose mask is late. The row's last token is then not confirmed: it is computed
     * again with the draw, in a step for which the mask is ready.
     */
    public void skipDraw(StepPlan plan, int row) {
        Sequence sequence = plan.sequence(row);
        plan.skipDraw(row);
        sequence.skipDraw();
        if (sequence.list == null) {
            queues.decoding.addLast(sequence); // the draw would have been its last
        }
    }

    /**
     * Takes the times of a plan that has been applied: policies see them, and what drafts cost, on which their number depends, is learned
     * from them.
     */
    public void learn(StepPlan plan, StepRecord step) {
        for (int row = 0; row < plan.rows(); row++) {
            if (plan.sampledTokens(row) > 0) {
                plan.sequence(row).lastTokenNanos = step.endNanos();
            }
        }
        planner.learn(step);
    }

    /** Ends every sequence of a step that failed on the device, and releases its blocks. */
    public void abandon(StepPlan plan) {
        endStep(plan);
        for (int row = 0; row < plan.rows(); row++) {
            Sequence sequence = plan.sequence(row);
            end(sequence, FinishReason.ERROR);
            endRow(sequence);
        }
    }

    private void endStep(StepPlan plan) {
        inFlight -= plan.isEmpty() ? 0 : 1;
        draftRowsInFlight -= plan.draftRows();
    }

    /** Counts one step in flight less for a sequence; releases its blocks if it has ended and this was the last. */
    private static void endRow(Sequence sequence) {
        sequence.inFlight--;
        if (sequence.state == Sequence.State.FINISHED && sequence.inFlight == 0) {
            sequence.table().release();
        }
    }

    /** Records how many drafts of a row were accepted, and rolls back the rejected ones. */
    private void verified(Sequence sequence, int rows, int rejected) {
        if (sequence.drafting != null) {
            sequence.drafting.verified(steps, rows, sequence.drafts, sequence.drafts - rejected);
        }
        sequence.drafts = 0;
        if (rejected > 0) {
            sequence.rollBack(rejected);
        }
    }

    /** The tokens that a step sampled. */
    @FunctionalInterface
    public interface SampledTokens {
        /** Returns the token of a usable sample. */
        int token(int sample);

        /** Returns whether a sample has a token; otherwise its sequence fails. */
        default boolean isUsable(int sample) {
            return true;
        }
    }

    /** Returns whether this scheduler's own sequences have work, now or after the steps in flight are applied. */
    public boolean hasWork() {
        return queues.active() > 0 || waiting() > 0;
    }

    /** Returns whether the next step may have prompt tokens. */
    public boolean mayPrefill() {
        return queues.prefilling.size() > 0 || waiting() > 0 || waitingQueue.sharedCount() > 0;
    }

    /** Returns the number of sequences that only this scheduler may admit: bound and preempted ones. */
    public int waiting() {
        return queues.restarting.size() + waitingQueue.boundCount(number);
    }

    /** Returns the number of preempted sequences that wait to be admitted again. */
    public int restarting() {
        return queues.restarting.size();
    }

    /** Returns the number of sequences that hold KV blocks and have not ended. */
    public int active() {
        return queues.active();
    }

    /** Returns the number of steps planned so far. */
    public long steps() {
        return steps;
    }

    /** Returns a number that changes whenever a {@link #total} may have changed. */
    public long changesOfTotals() {
        return changesOfTotals;
    }

    /** Returns the sum of a count over all steps planned so far. */
    public long total(Fact fact) {
        return totals.get(fact);
    }

    /**
     * Fills in the scheduler's facts of the step planned last, which must not be empty. Its counts include what empty
     * plans counted since the previous step.
     */
    public void record(StepPlan plan, WritableStep step) {
        step.set(Fact.STEP, plan.step());
        step.set(Fact.WAITING, waiting());
        step.set(Fact.ACTIVE, active());
        step.set(Fact.FREE_BLOCKS, pool.available());
        step.set(Fact.LONGEST, plan.longest());
        for (Fact count : COUNTS) {
            long total = totals.get(count);
            step.set(count, total - attributed.get(count));
            attributed.set(count, total);
        }
    }

    /** Fills in the facts of a step that are known when it has been applied. */
    public static void recordResults(StepPlan plan, WritableStep step) {
        plan.recordAccepted(step);
    }

    public SchedulerOptions options() {
        return options;
    }

    public KvBlockPool pool() {
        return pool;
    }

    /** Returns the queue from which it admits sequences. */
    public WaitingQueue waitingQueue() {
        return waitingQueue;
    }

    /**
     * Fails if blocks are held although nothing waits or runs; a cheap version of {@link #check} for an idle scheduler.
     */
    public void checkIdle() {
        Check.that(
                hasWork() || pool.held() == 0,
                "%d of %d KV blocks are held though nothing waits or runs",
                pool.held(),
                pool.blocks());
    }

    /** Checks all reference counts and lists. No step may be in flight. */
    public void check() {
        List<BlockTable> tables = new ArrayList<>();
        int holders = 0;
        for (SequenceList list : List.of(queues.prefilling, queues.decoding)) {
            for (Sequence s = list.first(); s != null; s = s.next) {
                tables.add(s.table());
                holders++;
                Check.that(s.inFlight == 0, "a sequence is in flight during the check");
            }
        }
        Check.that(holders == queues.active(), "%d sequences in lists, %d active", holders, queues.active());
        pool.check(tables);
    }
}
