package io.roseinfer.scheduler;

import io.roseinfer.base.Check;
import io.roseinfer.kv.BlockTable;
import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.scheduler.policy.StepBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Decides what the next step computes, and takes in what it sampled. Single-threaded and clockless; the work of a call is
 * proportional to the rows of the step and the requests the admission policy looks at, never to the number that wait, and
 * nothing is allocated.
 *
 * <p>By default an iteration admits waiting sequences and prefills them in one ragged step, then decodes in another; with chunked
 * prefill both share one step. Decode rows are taken from a ring, so more active sequences than {@code maxBatchSize} take turns.
 *
 * <p>When the pool runs out, one sequence, by default the youngest, gives its blocks back and starts over from its known tokens.
 * The oldest is never the one, so somebody always advances. Nobody starts over without end: one that has {@value #MAX_RESTARTS} times waits
 * until all that it and the active ones can still grow to is there, and is then a victim only if there is no other.
 */
public final class Scheduler {
    /** How often a sequence starts over before it is given everything it can need. */
    public static final int MAX_RESTARTS = 3;

    private final SchedulerOptions options;
    private final KvBlockPool pool;
    private final int maxStepTokens;
    private final Admission admission;
    private final Roster roster = new Roster();
    private final BlockSupply blocks;
    private final SequenceList finished = new SequenceList();

    private AdmissionListener admissionListener = AdmissionListener.NONE;
    private final Draft draft;
    private long stepState;
    private long steps;
    private long arrivals;
    private long cachedTokens;

    /**
     * A scheduler without work.
     *
     * @param pool the KV blocks it gives out
     * @param maxStepTokens most tokens in one step; at least the longest sequence there can be
     */
    public Scheduler(SchedulerOptions options, KvBlockPool pool, int maxStepTokens) {
        this.options = options;
        this.pool = pool;
        this.blocks = new BlockSupply(roster, options.policies().preemption());
        this.maxStepTokens = maxStepTokens;
        this.admission = new Admission(options.admission(), options.prefillMaxBatchSize(), roster, pool);
        this.draft = new Draft(newPlan());
    }

    /** A plan with room for the largest step, to be filled by {@link #plan} as often as one likes. */
    public StepPlan newPlan() {
        return new StepPlan(maxRows(options), maxStepTokens);
    }

    /** From now on this listener hears of admissions. */
    public void onAdmission(AdmissionListener listener) {
        admissionListener = listener;
    }

    /** The most rows a step of these options can have. */
    public static int maxRows(SchedulerOptions options) {
        return Math.addExact(options.maxBatchSize(), options.prefillMaxBatchSize());
    }

    /** Queues a sequence. */
    public void add(Sequence sequence) {
        Check.that(
                sequence.table().missing(sequence.maxComputed()) <= pool.blocks(), "a sequence can never fit the pool");
        admission.reserve(roster.active() + roster.waiting.size() + 1);
        sequence.arrive(arrivals++, steps);
        roster.waiting.addLast(sequence);
    }

    /**
     * Ends a sequence wherever it is; harmless if it has ended. Its blocks return now, or when the step it is part of is applied.
     */
    public void end(Sequence sequence, FinishReason reason) {
        if (sequence.state == Sequence.State.FINISHED) {
            return;
        }
        roster.drop(sequence);
        sequence.finish(reason);
        if (sequence.inFlight == 0) {
            sequence.table().release();
        }
        finished.addLast(sequence);
    }

    /** The next sequence that has ended since this was asked last, discarded ones left out. */
    public Optional<Sequence> pollFinished() {
        Sequence ended = finished.first();
        if (ended != null) {
            finished.remove(ended);
        }
        return Optional.ofNullable(ended);
    }

    /** Ends a sequence nobody will ask for again, wherever it is; {@link #pollFinished} never hands it out. */
    public void discard(Sequence sequence) {
        end(sequence, FinishReason.CANCELLED);
        if (sequence.list == finished) {
            finished.remove(sequence);
        }
    }

    /**
     * Plans the next step. An empty plan means that there is nothing to do before another is applied or added; it needs no
     * {@link #apply}. At most two plans may be unapplied at a time.
     *
     * @param plan is overwritten: one from {@link #newPlan} that is not in flight
     * @return the same plan
     */
    public StepPlan plan(StepPlan plan) {
        plan.clear(steps);
        draft.begin(plan);
        stepState = options.policies().step().plan(draft, stepState);
        if (!plan.isEmpty()) {
            steps++;
        }
        return plan;
    }

    /** Plans a step that only prefills what may be admitted now; for callers that drive the phases themselves. */
    public StepPlan planPrefillOnly(StepPlan plan) {
        plan.clear(steps);
        prefill(plan, options.prefillMaxTokens());
        stepState = options.policies().step().afterPrefill(stepState);
        if (!plan.isEmpty()) {
            steps++;
        }
        return plan;
    }

    /** The plan in the making, as the step policy sees it. */
    private final class Draft implements StepBuilder {
        private StepPlan plan;
        private boolean decoded;
        private boolean prefilled;

        Draft(StepPlan first) {
            plan = first;
        }

        void begin(StepPlan empty) {
            plan = empty;
            decoded = false;
            prefilled = false;
        }

        @Override
        public boolean isEmpty() {
            return plan.isEmpty();
        }

        @Override
        public int tokens() {
            return plan.tokens();
        }

        @Override
        public int prefillMaxTokens() {
            return options.prefillMaxTokens();
        }

        @Override
        public void decode() {
            Check.that(!decoded || isEmpty(), "the step policy decodes twice in one step");
            decoded = true;
            Scheduler.this.decode(plan);
        }

        @Override
        public void prefill(int budgetTokens) {
            Check.that(!prefilled || isEmpty(), "the step policy prefills twice in one step");
            prefilled = true;
            Scheduler.this.prefill(plan, budgetTokens);
        }
    }

    private void decode(StepPlan plan) {
        for (int candidates = roster.decoding.size();
                candidates > 0 && plan.rows() < options.maxBatchSize();
                candidates--) {
            Sequence sequence = roster.decoding.first();
            if (sequence == null || !isReady(sequence, plan.step())) {
                return;
            }
            if (blocks.makeRoom(sequence)) {
                roster.decoding.rotate();
                plan.addRow(sequence, 1);
                retireIfFull(sequence);
            } else if (!sequence.isWaiting()) {
                return;
            }
        }
    }

    /** Not yet in this step, and its last token is known or sampled by the step just before, where the device can look it up. */
    private static boolean isReady(Sequence sequence, long step) {
        return sequence.plannedStep != step && (!sequence.hasPending() || sequence.plannedStep == step - 1);
    }

    private void prefill(StepPlan plan, int budgetTokens) {
        int budget = Math.min(budgetTokens, maxStepTokens - plan.tokens());
        int firstRow = plan.rows();
        Sequence next = roster.prefilling.first();
        while (next != null && budget > 0 && plan.rows() - firstRow < options.prefillMaxBatchSize()) {
            Sequence sequence = next;
            next = sequence.next;
            budget -= prefillRow(plan, sequence, budget);
        }
        if (!roster.waiting.isEmpty()) {
            admissionListener.begin();
            admit(plan, budget, firstRow);
            admissionListener.end();
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
                budget -= prefillRow(plan, candidate, budget);
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
        if (sequence.preemptions == 0) {
            sequence.cachedTokens = reused;
            cachedTokens += reused;
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
    private int prefillRow(StepPlan plan, Sequence sequence, int budget) {
        int count = options.chunkedPrefill() ? Math.min(budget, sequence.remaining()) : sequence.remaining();
        boolean complete = count == sequence.remaining();
        plan.addRow(sequence, count);
        if (complete) {
            roster.prefilling.remove(sequence);
            roster.decoding.addLast(sequence);
            retireIfFull(sequence);
        }
        return count;
    }

    /** A sequence whose last token is on its way is not planned again; applying that token finishes it. */
    private void retireIfFull(Sequence sequence) {
        if (sequence.isFull()) {
            roster.decoding.remove(sequence);
        }
    }

    /**
     * Takes in what a step sampled: appends tokens, makes full blocks known to the prefix cache, ends sequences, and returns the
     * blocks of those that ended meanwhile. Plans are applied in the order they were made.
     */
    public void apply(StepPlan plan, SampledTokens sampled) {
        for (int row = 0; row < plan.rows(); row++) {
            Sequence sequence = plan.sequence(row);
            leave(sequence);
            if (sequence.state == Sequence.State.FINISHED) {
                continue;
            }
            sequence.confirmed = plan.start(row) + plan.count(row);
            int sample = plan.sample(row);
            if (sample == StepPlan.NO_SAMPLE) {
                sequence.publish();
            } else {
                takeToken(plan, row, sampled.token(sample));
            }
        }
    }

    /** Ends every sequence of a step that the device has failed, and returns their blocks. */
    public void abandon(StepPlan plan) {
        for (int row = 0; row < plan.rows(); row++) {
            Sequence sequence = plan.sequence(row);
            end(sequence, FinishReason.ERROR);
            leave(sequence);
        }
    }

    /** One step fewer is in flight for a sequence; the blocks of one that has ended return with the last. */
    private static void leave(Sequence sequence) {
        sequence.inFlight--;
        if (sequence.state == Sequence.State.FINISHED && sequence.inFlight == 0) {
            sequence.table().release();
        }
    }

    private void takeToken(StepPlan plan, int row, int token) {
        Sequence sequence = plan.sequence(row);
        if (token < 0) {
            end(sequence, FinishReason.ERROR);
            return;
        }
        sequence.resolve(token);
        plan.setYielded(row, token);
        sequence.publish();
        if (sequence.endsWith(token)) {
            end(sequence, FinishReason.STOP);
        } else if (sequence.length() == sequence.maxLength()) {
            end(sequence, FinishReason.LENGTH);
        }
    }

    /** The tokens a step sampled. */
    @FunctionalInterface
    public interface SampledTokens {
        /** The token of a sample, or a negative number if its logits were not usable and the sequence must fail. */
        int token(int sample);
    }

    /** Whether a step could do something, now or once the steps in flight are applied. */
    public boolean hasWork() {
        return roster.active() > 0 || !roster.waiting.isEmpty();
    }

    public int waiting() {
        return roster.waiting.size();
    }

    /** Sequences that hold KV blocks and have not ended. */
    public int active() {
        return roster.active();
    }

    /** Steps planned so far. */
    public long steps() {
        return steps;
    }

    public long preemptions() {
        return blocks.preemptions();
    }

    /** Prompt tokens found in the prefix cache so far. */
    public long cachedTokens() {
        return cachedTokens;
    }

    public SchedulerOptions options() {
        return options;
    }

    public KvBlockPool pool() {
        return pool;
    }

    /** Walks all books and fails if they do not balance. No step may be in flight. */
    public void check() {
        List<BlockTable> tables = new ArrayList<>();
        int holders = 0;
        for (SequenceList list : List.of(roster.prefilling, roster.decoding)) {
            for (Sequence s = list.first(); s != null; s = s.next) {
                tables.add(s.table());
                holders++;
                Check.that(s.inFlight == 0, "a sequence is in flight while the books are checked");
            }
        }
        Check.that(holders == roster.active(), "%d sequences in lists, %d active", holders, roster.active());
        pool.check(tables);
    }
}
