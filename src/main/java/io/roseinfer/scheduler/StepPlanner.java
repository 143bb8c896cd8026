package io.roseinfer.scheduler;

import io.roseinfer.base.Check;
import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.scheduler.policy.StepBuilder;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Fills a plan with rows as the step policy asks for them: gets them their blocks, and moves sequences between the lists and their marks
 * over what the rows compute.
 */
final class StepPlanner implements StepBuilder {
    private final SchedulerOptions options;
    private final KvBlockPool pool;
    private final int maxStepTokens;
    private final Roster roster;
    private final BlockSupply blocks;
    private final Admission admission;

    private Runnable admissionBegins = () -> {};
    private Runnable admissionEnds = () -> {};
    private @Nullable StepPlan plan;
    private boolean decoded;
    private boolean prefilled;

    StepPlanner(SchedulerOptions options, KvBlockPool pool, int maxStepTokens, Roster roster) {
        this.options = options;
        this.pool = pool;
        this.maxStepTokens = maxStepTokens;
        this.roster = roster;
        this.blocks = new BlockSupply(roster, pool, options.policies().preemption());
        this.admission = new Admission(options.admission(), options.prefillMaxBatchSize(), roster, pool);
    }

    void onAdmission(Runnable begins, Runnable ends) {
        admissionBegins = begins;
        admissionEnds = ends;
    }

    /** Makes room for a queue of this length, so that no plan allocates. */
    void reserve(int waiting) {
        admission.reserve(waiting);
    }

    long preemptions() {
        return blocks.preemptions();
    }

    /** The KV blocks there are to give out. */
    BlockSupply blocks() {
        return blocks;
    }

    /** Returns whether the token budget of a step has room for a sequence after all that prefill or wait. */
    boolean hasBudgetFor(Sequence sequence) {
        long tokens = 0;
        for (Sequence s = roster.prefilling.first(); s != null; s = s.next) {
            tokens += s.remaining();
        }
        for (Sequence s = roster.waiting.first(); s != null; s = s.next) {
            tokens += uncached(s);
        }
        return tokens == 0
                || (options.chunkedPrefill()
                        ? tokens < options.prefillMaxTokens()
                        : tokens + uncached(sequence) <= options.prefillMaxTokens());
    }

    private static int uncached(Sequence sequence) {
        return sequence.plannedLength() - sequence.cachedLength();
    }

    /** Starts an empty plan. */
    void begin(StepPlan empty) {
        plan = empty;
        decoded = false;
        prefilled = false;
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
        for (int candidates = roster.decoding.size();
                candidates > 0 && plan.rows() < options.maxBatchSize() && plan.tokens() < maxStepTokens;
                candidates--) {
            Sequence sequence = roster.decoding.first();
            if (sequence == null || !isReady(sequence, plan)) {
                return;
            }
            if (blocks.makeRoom(sequence)) {
                roster.decoding.rotate();
                plan.addRow(sequence, 1, false);
                retireIfFull(plan, sequence);
            } else if (!sequence.isWaiting()) {
                return;
            }
        }
    }

    /** Not yet in this step, and its last token is known or sampled by the step just before, where the device can look it up. */
    private static boolean isReady(Sequence sequence, StepPlan plan) {
        return !plan.has(sequence) && (!sequence.hasPending() || sequence.plannedStep == plan.step() - 1);
    }

    private void prefill(StepPlan plan, int budgetTokens) {
        int budget = Math.min(budgetTokens, maxStepTokens - plan.tokens());
        int firstRow = plan.rows();
        Sequence next = roster.prefilling.first();
        while (next != null && budget > 0 && plan.rows() - firstRow < options.prefillMaxBatchSize()) {
            Sequence sequence = next;
            next = sequence.next;
            budget -= prefillRow(plan, sequence, budget, false);
        }
        if (!roster.waiting.isEmpty()) {
            admissionBegins.run();
            admit(plan, budget, firstRow);
            admissionEnds.run();
        }
    }

    private void admit(StepPlan plan, int budgetTokens, int firstRow) {
        int budget = budgetTokens;
        if (!hasPlace(plan, budget, firstRow)) {
            return;
        }
        admission.begin(plan.step());
        Sequence candidate = admission.next();
        while (candidate != null && hasPlace(plan, budget, firstRow)) {
            if (takeIn(candidate, plan, budget, plan.rows() == firstRow)) {
                admission.admitted(candidate);
                budget -= prefillRow(plan, candidate, budget, true);
            } else if (admission.holdsTheLine(candidate)) {
                break;
            }
            candidate = admission.next();
        }
        admission.end();
    }

    private boolean hasPlace(StepPlan plan, int budget, int firstRow) {
        return budget > 0
                && plan.rows() - firstRow < options.prefillMaxBatchSize()
                && roster.active() < options.maxActiveRequests();
    }

    /** Gives a waiting sequence its blocks and makes it active, if they are there and its tokens fit the budget. */
    private boolean takeIn(Sequence sequence, StepPlan plan, int budget, boolean isFirst) {
        int reused = sequence.reuse();
        sequence.deferred = options.prefixCache() && isBeingComputed(sequence, plan);
        int cost = sequence.plannedLength() - reused;
        boolean fits = options.chunkedPrefill() || cost <= budget || (isFirst && cost <= maxStepTokens);
        if (sequence.deferred || !fits || blocks.wanted(sequence) > pool.available()) {
            sequence.table().release();
            return false;
        }
        Check.that(sequence.table().grow(sequence.plannedLength()), "available blocks could not be allocated");
        sequence.computed = reused;
        sequence.confirmed = reused;
        roster.activate(sequence);
        return true;
    }

    /** Whether waiting one step would find in the cache what this step is computing for another sequence. */
    private boolean isBeingComputed(Sequence sequence, StepPlan plan) {
        for (int row = 0; row < plan.rows(); row++) {
            if (sequence.nextBlockIsComputedBy(plan.sequence(row), pool.blockSize())) {
                return true;
            }
        }
        return false;
    }

    /** Adds as much of a prompt as the budget allows (all of it, unless prompts are cut); returns the tokens added. */
    private int prefillRow(StepPlan plan, Sequence sequence, int budget, boolean admits) {
        int remaining = sequence.remaining();
        int count = options.chunkedPrefill() ? Math.min(budget, remaining) : remaining;
        plan.addRow(sequence, count, admits);
        if (count == remaining) {
            roster.prefilling.remove(sequence);
            roster.decoding.addLast(sequence);
            retireIfFull(plan, sequence);
        }
        return count;
    }

    /** A sequence whose last token this plan samples is not planned again; applying that token finishes it. */
    private void retireIfFull(StepPlan plan, Sequence sequence) {
        boolean samples = plan.sample(plan.rows() - 1) != StepPlan.NO_SAMPLE;
        if (samples && sequence.plannedLength() == sequence.maxLength()) {
            roster.decoding.remove(sequence);
        }
    }
}
