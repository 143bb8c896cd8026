package io.roseinfer.scheduler;

import io.roseinfer.base.Check;
import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.scheduler.policy.StepBuilder;
import java.util.Objects;
import java.util.function.Consumer;
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
    private final WaitingRoom room;
    private final int number;
    private final BlockSupply blocks;
    private final Admission admission;
    private final Consumer<Sequence> onFirstAdmission;

    private Runnable admissionBegins = () -> {};
    private Runnable admissionEnds = () -> {};
    private int maxShared;
    private @Nullable StepPlan plan;
    private boolean decoded;
    private boolean prefilled;

    /**
     * A planner without a plan.
     *
     * @param number the scheduler's in the room
     * @param totals counts what happens while steps are planned
     * @param onFirstAdmission is given each sequence that is admitted for the first time, under the room's lock
     */
    StepPlanner(
            SchedulerOptions options,
            KvBlockPool pool,
            int maxStepTokens,
            Roster roster,
            WaitingRoom room,
            int number,
            StepRecord totals,
            Consumer<Sequence> onFirstAdmission) {
        this.room = room;
        this.number = number;
        this.onFirstAdmission = onFirstAdmission;
        this.options = options;
        this.pool = pool;
        this.maxStepTokens = maxStepTokens;
        this.roster = roster;
        this.blocks = new BlockSupply(roster, options.policies().preemption(), room, totals);
        this.admission = new Admission(options.admission(), options.prefillMaxBatchSize(), roster, room, number, pool);
    }

    void onAdmission(Runnable begins, Runnable ends) {
        admissionBegins = begins;
        admissionEnds = ends;
    }

    /** Starts an empty plan, for which so many sequences that any scheduler may admit can be admitted. */
    void begin(StepPlan empty, int mostShared) {
        plan = empty;
        maxShared = mostShared;
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
        if (admission.hasWaiting(maxShared)) {
            admissionBegins.run();
            admit(plan, budget, firstRow);
            admissionEnds.run();
        }
    }

    private void admit(StepPlan plan, int budgetTokens, int firstRow) {
        if (hasPlace(plan, budgetTokens, firstRow)) {
            synchronized (room) {
                admitRanked(plan, budgetTokens, firstRow);
            }
        }
    }

    private void admitRanked(StepPlan plan, int budgetTokens, int firstRow) {
        int budget = budgetTokens;
        admission.begin(maxShared);
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
        if (!sequence.isRestart()) {
            room.admit(sequence, number);
            onFirstAdmission.accept(sequence);
        }
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
