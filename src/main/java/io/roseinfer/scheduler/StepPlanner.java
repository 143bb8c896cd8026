package io.roseinfer.scheduler;

import io.roseinfer.base.Check;
import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.scheduler.policy.Drafter;
import io.roseinfer.scheduler.policy.StepBuilder;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Fills a plan with the rows that the step policy asks for: allocates their blocks, moves sequences between the queues
 * and advances them.
 */
final class StepPlanner implements StepBuilder {
    private final SchedulerOptions options;
    private final KvBlockPool pool;
    private final int maxStepTokens;
    private final SequenceQueues queues;
    private final WaitingQueue waitingQueue;
    private final int number;
    private final BlockAllocator blocks;
    private final Admission admission;
    private final Consumer<Sequence> onFirstAdmission;

    private final int maxRowDrafts;
    private final int[] drafts = new int[Drafter.MAX_STEP_TOKENS];

    private Runnable admissionBegins = () -> {};
    private Runnable admissionEnds = () -> {};
    private int maxShared;
    private long nowNanos;
    private @Nullable StepPlan plan;
    private boolean decoded;
    private boolean prefilled;
    private boolean postponed;

    /**
     * Creates a planner without a plan.
     *
     * @param number the scheduler's number in the waiting queue
     * @param totals counts what happens during planning
     * @param onFirstAdmission called with each sequence admitted for the first time, under the queue's lock
     */
    StepPlanner(
            SchedulerOptions options,
            KvBlockPool pool,
            int maxStepTokens,
            SequenceQueues queues,
            WaitingQueue waitingQueue,
            int number,
            StepRecord totals,
            Consumer<Sequence> onFirstAdmission) {
        this.waitingQueue = waitingQueue;
        this.number = number;
        this.onFirstAdmission = onFirstAdmission;
        this.options = options;
        this.pool = pool;
        this.maxStepTokens = maxStepTokens;
        this.queues = queues;
        this.blocks = new BlockAllocator(pool, queues, options.policies().preemption(), waitingQueue, totals);
        this.maxRowDrafts = Math.min(options.drafter().maxTokens(), Drafter.MAX_STEP_TOKENS - 1);
        this.admission =
                new Admission(options.admission(), options.prefillMaxBatchSize(), queues, waitingQueue, number, pool);
    }

    void onAdmission(Runnable begins, Runnable ends) {
        admissionBegins = begins;
        admissionEnds = ends;
    }

    /**
     * Starts an empty plan that may admit at most {@code maxSharedAdmissions} of the sequences that any scheduler may
     * admit.
     *
     * @param now the engine's clock, for policies
     */
    void begin(StepPlan empty, int maxSharedAdmissions, long now) {
        plan = empty;
        nowNanos = now;
        maxShared = maxSharedAdmissions;
        decoded = false;
        prefilled = false;
        postponed = false;
    }

    /** Returns whether the plan lacks a sequence that must wait, for a mask or until its drafts are verified. */
    boolean hasPostponed() {
        return postponed;
    }

    private StepPlan current() {
        return Objects.requireNonNull(plan);
    }

    @Override
    public boolean isEmpty() {
        return current().isEmpty();
    }

    @Override
    public int tokens() {
        return current().tokens();
    }

    @Override
    public int prefillMaxTokens() {
        return options.prefillMaxTokens();
    }

    @Override
    public void decode() {
        requireOnce(decoded, "decodes");
        decoded = true;
        decode(current());
    }

    @Override
    public void prefill(int budgetTokens) {
        requireOnce(prefilled, "prefills");
        prefilled = true;
        prefill(current(), budgetTokens);
    }

    private void requireOnce(boolean before, String what) {
        if (before && !isEmpty()) {
            throw new PolicyFailure.Misuse(what + " twice in one step");
        }
    }

    private void decode(StepPlan plan) {
        int maxDrafts = maxDrafts(plan);
        for (int candidates = queues.decoding.size();
                candidates > 0
                        && plan.rows() < options.maxBatchSize()
                        && plan.tokens() < maxStepTokens
                        && plan.remainingSamples() > 0;
                candidates--) {
            Sequence sequence = queues.decoding.first();
            if (sequence == null || !isReady(sequence, plan)) {
                return;
            }
            if (sequence.mustWait()) {
                postponed = true;
                queues.decoding.rotate();
                continue;
            }
            if (blocks.allocateSlot(sequence)) {
                queues.decoding.rotate();
                plan.addRow(sequence, 1 + drafts(sequence, maxDrafts), false);
                retireIfFull(sequence);
            } else if (!sequence.isWaiting()) {
                return;
            }
        }
    }

    /**
     * Returns whether a sequence can decode: it has no row yet, and its last token is known or sampled by the previous
     * step, where the device can look it up.
     */
    private static boolean isReady(Sequence sequence, StepPlan plan) {
        return !plan.contains(sequence) && (!sequence.hasPending() || sequence.plannedStep == plan.step() - 1);
    }

    /**
     * Returns the maximum drafts of each decode row. There are none while a prompt could be in the step instead, and each
     * row has the same share of what remains of the step.
     */
    private int maxDrafts(StepPlan plan) {
        int rows = Math.min(queues.decoding.size(), options.maxBatchSize() - plan.rows());
        if (maxRowDrafts == 0 || rows <= 0 || !queues.prefilling.isEmpty() || mayAdmit()) {
            return 0;
        }
        int tokens = Math.min(Drafter.MAX_STEP_TOKENS, maxStepTokens) - plan.tokens();
        int spare = Math.min(tokens, plan.remainingSamples()) - rows;
        return Math.clamp(spare / rows, 0, maxRowDrafts);
    }

    private boolean mayAdmit() {
        return queues.active() < options.maxActiveRequests() && admission.hasWaiting(maxShared);
    }

    /**
     * Sets up to {@code max} drafts of a sequence and allocates their blocks; returns their number. Drafts take only blocks
     * that no other sequence needs for its next token, so they preempt nothing.
     */
    private int drafts(Sequence sequence, int max) {
        // The last token of a sequence is never computed.
        int wanted = Math.min(max, sequence.maxLength() - sequence.plannedLength() - 1);
        if (wanted <= 0 || !sequence.mayDraft()) {
            return 0;
        }
        if (sequence.drafting == null) {
            sequence.drafting = new Drafting(options.drafter());
        }
        int count = sequence.drafting.propose(sequence, wanted, drafts);
        int fitting = Math.min(count, blocks.growForDrafts(sequence, count));
        sequence.setDrafts(drafts, fitting);
        return fitting;
    }

    private void prefill(StepPlan plan, int budgetTokens) {
        int budget = Math.min(budgetTokens, maxStepTokens - plan.tokens());
        int firstRow = plan.rows();
        Sequence next = queues.prefilling.first();
        while (next != null
                && budget > 0
                && plan.rows() - firstRow < options.prefillMaxBatchSize()
                && plan.remainingSamples() > 0) {
            Sequence sequence = next;
            next = sequence.next;
            budget -= prefillRow(plan, sequence, budget, false);
        }
        if (admission.hasWaiting(maxShared)) {
            admissionBegins.run();
            admit(plan, budget, firstRow);
            admissionEnds.run();
        }
    }

    private void admit(StepPlan plan, int budgetTokens, int firstRow) {
        if (hasCapacity(plan, budgetTokens, firstRow)) {
            synchronized (waitingQueue) {
                admitRanked(plan, budgetTokens, firstRow);
            }
        }
    }

    private void admitRanked(StepPlan plan, int budgetTokens, int firstRow) {
        int budget = budgetTokens;
        admission.begin(maxShared, nowNanos);
        Sequence candidate = admission.next();
        while (candidate != null && hasCapacity(plan, budget, firstRow)) {
            if (tryAdmit(candidate, plan, budget, plan.rows() == firstRow)) {
                admission.admitted(candidate);
                budget -= prefillRow(plan, candidate, budget, true);
            } else if (admission.blocksQueue(candidate)) {
                break;
            }
            candidate = admission.next();
        }
        admission.end();
    }

    private boolean hasCapacity(StepPlan plan, int budget, int firstRow) {
        return budget > 0
                && plan.remainingSamples() > 0
                && plan.rows() - firstRow < options.prefillMaxBatchSize()
                && queues.active() < options.maxActiveRequests();
    }

    /**
     * Admits a waiting sequence if its next sample can be taken, its tokens fit the budget and its blocks can be allocated.
     */
    private boolean tryAdmit(Sequence sequence, StepPlan plan, int budget, boolean isFirst) {
        if (sequence.mustWait()) {
            postponed = true;
            return false;
        }
        int reused = sequence.reuse();
        sequence.deferred = options.prefixCache() && isBeingComputed(sequence, plan);
        int cost = sequence.goal() - reused;
        boolean fits = isSplit(sequence) || cost <= budget || (isFirst && cost <= maxStepTokens);
        if (sequence.deferred || !fits || blocks.requiredBlocks(sequence) > pool.available()) {
            sequence.table().release();
            return false;
        }
        Check.that(sequence.table().grow(sequence.goal()), "available blocks could not be allocated");
        sequence.computed = reused;
        sequence.confirmed = reused;
        if (!sequence.isRestart()) {
            waitingQueue.admit(sequence, number);
            onFirstAdmission.accept(sequence);
        }
        queues.activate(sequence);
        return true;
    }

    /**
     * Returns whether this step computes, for another sequence, a block that can be reused from the cache one step
     * later.
     */
    private boolean isBeingComputed(Sequence sequence, StepPlan plan) {
        for (int row = 0; row < plan.rows(); row++) {
            if (sequence.nextBlockIsComputedBy(plan.sequence(row), pool.blockSize())) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether a prompt may take several steps. One with reports always may, as the samples of a step are limited. */
    private boolean isSplit(Sequence sequence) {
        return options.chunkedPrefill() || sequence.hasReports();
    }

    /**
     * Adds as much of a prompt as budget and samples allow, or all of it if it is not split; returns the tokens added.
     */
    private int prefillRow(StepPlan plan, Sequence sequence, int budget, boolean admits) {
        int remaining = sequence.remaining();
        int fitting = Math.min(budget, sequence.tokensFor(plan.remainingSamples()));
        int count = isSplit(sequence) ? Math.min(fitting, remaining) : remaining;
        plan.addRow(sequence, count, admits);
        if (count == remaining) {
            queues.prefilling.remove(sequence);
            queues.decoding.addLast(sequence);
            retireIfFull(sequence);
        }
        return count;
    }

    /**
     * Stops planning a sequence that needs no further step; it ends when this plan is applied. With drafts, it may need more.
     */
    private void retireIfFull(Sequence sequence) {
        if (sequence.plannedLength() == sequence.maxLength() && sequence.drafts == 0) {
            queues.decoding.remove(sequence);
        }
    }
}
