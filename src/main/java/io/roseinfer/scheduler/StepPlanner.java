package io.roseinfer.scheduler;

import io.roseinfer.base.Check;
import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.metrics.WritableStep;
import io.roseinfer.scheduler.policy.Drafter;
import io.roseinfer.scheduler.policy.EvictionPolicy;
import io.roseinfer.scheduler.policy.QueueView;
import io.roseinfer.scheduler.policy.RunningRequest;
import io.roseinfer.scheduler.policy.StepBuilder;
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
    private final int maxDraftedTokens;
    private final int maxStepSamples;
    private final int vocabularySize;
    private final SequenceQueues queues;
    private final WaitingQueue waitingQueue;
    private final int number;
    private final BlockAllocator blocks;
    private final Admission admission;
    private final WritableStep totals;
    private final Consumer<Sequence> onFirstAdmission;

    private final int maxRowDrafts;
    private final DraftCost draftCost;
    private final int[] drafts = new int[Drafter.MAX_ROW_TOKENS];

    private Runnable admissionBegins = () -> {};
    private Runnable admissionEnds = () -> {};
    private int maxShared;
    /** The step being planned; null outside the policy's call, when no method may be called. */
    private @Nullable StepPlan plan;

    private int decodeRows;
    private int prefillRows;
    private boolean decoded;
    private boolean prefilled;
    private boolean admitted;
    private boolean postponed;
    /** Whether the plan was not begun before the previous step had ended, for the sake of drafts. */
    private boolean awaitedDrafts;

    /** The decoding requests, when the policy first asked in this step. */
    private final SequenceView decodingView = new SequenceView();

    private final SequenceView prefillingView = new SequenceView();

    /**
     * Creates a planner without a plan.
     *
     * @param maxDraftedTokens maximum tokens of a step with drafts, up to {@code maxStepTokens}
     * @param vocabularySize the ids of drafts are below it
     * @param number the scheduler's number in the waiting queue
     * @param totals counts what happens during planning
     * @param onFirstAdmission called with each sequence admitted for the first time, under the queue's lock
     */
    StepPlanner(
            SchedulerOptions options,
            KvBlockPool pool,
            int maxStepTokens,
            int maxDraftedTokens,
            int maxStepSamples,
            int vocabularySize,
            SequenceQueues queues,
            WaitingQueue waitingQueue,
            int number,
            WritableStep totals,
            Consumer<Sequence> onFirstAdmission) {
        this.waitingQueue = waitingQueue;
        this.number = number;
        this.totals = totals;
        this.onFirstAdmission = onFirstAdmission;
        this.options = options;
        this.pool = pool;
        this.maxStepTokens = maxStepTokens;
        // A row with drafts has at least two tokens.
        this.maxDraftedTokens = Math.min(maxDraftedTokens, 2 * StepRecord.MAX_DRAFT_ROWS);
        this.maxStepSamples = maxStepSamples;
        this.vocabularySize = vocabularySize;
        this.queues = queues;
        this.draftCost = new DraftCost(this.maxDraftedTokens);
        this.maxRowDrafts = options.drafter().maxTokens();
        this.admission = new Admission(options, queues, waitingQueue, number, pool);
        this.blocks =
                new BlockAllocator(pool, queues, options.policies().preemption(), admission, waitingQueue, totals);
        EvictionPolicy eviction = options.policies().eviction();
        if (!(eviction instanceof EvictionPolicy.Lru)) {
            pool.setRanks(new BlockRanks(eviction, admission, waitingQueue.policies()));
        }
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
        boolean unused = admission.setOpen(true);
        admission.at(now);
        decodingView.clear();
        prefillingView.clear();
        decodeRows = 0;
        prefillRows = 0;
        admitted = false;
        maxShared = maxSharedAdmissions;
        decoded = false;
        prefilled = false;
        postponed = false;
    }

    /** Ends the plan, which then has its rows. */
    void end() {
        plan = null;
        boolean unused = admission.setOpen(false);
    }

    /** Returns whether the plan lacks a sequence that must wait, for a mask or until its drafts are verified. */
    boolean hasPostponed() {
        return postponed;
    }

    private StepPlan current() {
        StepPlan open = plan;
        if (open == null) {
            throw new ExtensionFailure.Misuse("uses a StepBuilder outside the call of plan that it was passed to");
        }
        return open;
    }

    private void requireOpen() {
        StepPlan unused = current();
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
        requireOpen();
        return options.prefillMaxTokens();
    }

    @Override
    public int maxBatchSize() {
        requireOpen();
        return options.maxBatchSize();
    }

    @Override
    public QueueView queue() {
        requireOpen();
        return admission;
    }

    @Override
    public int decoding() {
        takeViews();
        return decodingView.size();
    }

    @Override
    public RunningRequest decoding(int index) {
        takeViews();
        return decodingView.get(index).running;
    }

    @Override
    public int prefilling() {
        takeViews();
        return prefillingView.size();
    }

    @Override
    public RunningRequest prefilling(int index) {
        takeViews();
        return prefillingView.get(index).running;
    }

    @Override
    public boolean decode(RunningRequest request, int maxDrafts) {
        takeViews();
        Sequence sequence = viewed(request);
        StepPlan step = current();
        if (sequence == null || !decodingView.contains(sequence) || maxDrafts < 0) {
            throw new ExtensionFailure.Misuse("decodes " + named(request) + " with up to " + maxDrafts
                    + " drafts; allowed are 0 or more of the requests of decoding()");
        }
        if (sequence.list != queues.decoding
                || decodeRows >= options.maxBatchSize()
                || !hasRoom(step)
                || !isReady(sequence, step)) {
            return false;
        }
        if (sequence.mustWait()) {
            postponed = true;
            return false;
        }
        if (!blocks.allocateSlot(sequence)) {
            return false;
        }
        queues.decoding.remove(sequence);
        queues.decoding.addLast(sequence);
        int rows = Math.min(decodingView.size(), options.maxBatchSize()) - decodeRows;
        int share = maxDrafts(rows, step.tokens(), step.remainingSamples());
        addDecodeRow(step, sequence, drafts(sequence, step, step.rows() + rows, Math.min(maxDrafts, share)));
        return true;
    }

    @Override
    public int prefill(RunningRequest request, int maxTokens) {
        takeViews();
        Sequence sequence = viewed(request);
        StepPlan step = current();
        if (sequence == null || !prefillingView.contains(sequence) || maxTokens < 1) {
            throw new ExtensionFailure.Misuse("prefills " + maxTokens + " tokens of " + named(request)
                    + "; allowed are 1 or more of the requests of prefilling()");
        }
        int budget = Math.min(maxTokens, maxStepTokens - step.tokens());
        if (sequence.list != queues.prefilling
                || step.contains(sequence)
                || budget < (isSplit(sequence) ? 1 : sequence.remaining())
                || prefillRows >= options.prefillMaxBatchSize()
                || step.remainingSamples() == 0) {
            return 0;
        }
        return prefillRow(step, sequence, budget, false);
    }

    @Override
    public void admit(int budgetTokens) {
        requireOnce(admitted, "admits");
        takeViews();
        StepPlan step = current();
        admitWaiting(step, Math.min(budgetTokens, maxStepTokens - step.tokens()));
    }

    @Override
    public boolean preempt(RunningRequest request) {
        takeViews();
        Sequence sequence = viewed(request);
        if (sequence == null) {
            throw new ExtensionFailure.Misuse(
                    "preempts " + named(request) + "; allowed are the requests of decoding() and prefilling()");
        }
        return blocks.preempt(sequence, options.maxPasses() != SchedulerOptions.UNLIMITED);
    }

    /** Takes the views unless this step has taken them. */
    private void takeViews() {
        requireOpen();
        decodingView.take(queues.decoding);
        prefillingView.take(queues.prefilling);
    }

    /** Returns the sequence of a request of the views, or null if it is not in them. */
    private @Nullable Sequence viewed(RunningRequest request) {
        return request instanceof RequestView view
                        && (decodingView.contains(view.sequence) || prefillingView.contains(view.sequence))
                ? view.sequence
                : null;
    }

    private static String named(RunningRequest request) {
        boolean hasEnded = request instanceof RequestView view
                && view.sequence.finishReason().isPresent();
        return "request " + request.id() + (hasEnded ? ", which has ended," : "");
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
        requireOnce(admitted, "admits");
        prefilled = true;
        prefill(current(), budgetTokens);
    }

    private void requireOnce(boolean before, String what) {
        if (before && !isEmpty()) {
            throw new ExtensionFailure.Misuse(what + " twice in one step");
        }
    }

    private void decode(StepPlan plan) {
        int rows = Math.min(queues.decoding.size(), options.maxBatchSize() - plan.rows());
        int expectedRows = plan.rows() + rows;
        int maxDrafts = maxDrafts(rows, plan.tokens(), plan.remainingSamples());
        for (int candidates = queues.decoding.size();
                candidates > 0 && plan.rows() < options.maxBatchSize() && hasRoom(plan);
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
                addDecodeRow(plan, sequence, drafts(sequence, plan, expectedRows, maxDrafts));
            } else if (!sequence.isWaiting()) {
                return;
            }
        }
    }

    /** Returns whether another token and sample fit into the step. */
    private boolean hasRoom(StepPlan plan) {
        return plan.tokens() < maxStepTokens && plan.remainingSamples() > 0;
    }

    private void addDecodeRow(StepPlan plan, Sequence sequence, int draftTokens) {
        plan.addRow(sequence, 1 + draftTokens, false);
        decodeRows++;
        retireIfFull(sequence);
    }

    /**
     * Returns whether a sequence can decode: it has no row yet, and its last token is known or sampled by the previous
     * step, where the device can look it up.
     */
    private static boolean isReady(Sequence sequence, StepPlan plan) {
        return !plan.contains(sequence) && (!sequence.hasPending() || sequence.plannedStep == plan.step() - 1);
    }

    /**
     * Returns the maximum drafts of each of the next decode rows of a step. There are none while a prompt could be in the step instead,
     * and each row has the same share of what remains of the step.
     */
    private int maxDrafts(int rows, int usedTokens, int samples) {
        if (maxRowDrafts == 0 || rows <= 0 || !queues.prefilling.isEmpty() || mayAdmit()) {
            return 0;
        }
        int spare = Math.min(maxDraftedTokens - usedTokens, samples) - rows;
        return Math.clamp(spare / rows, 0, maxRowDrafts);
    }

    /** Returns whether a sequence is likely to have drafts in step {@code step}, which is the next one, once its last token is known. */
    boolean awaitsDrafts(long step) {
        awaitedDrafts = false;
        if (maxDrafts(Math.min(queues.decoding.size(), options.maxBatchSize()), 0, maxStepSamples) == 0) {
            return false;
        }
        for (Sequence sequence = queues.decoding.first(); sequence != null; sequence = sequence.next) {
            if (sequence.mayDraftAt(step, drafts)) {
                awaitedDrafts = true;
                return true;
            }
        }
        return false;
    }

    /** Notes for policies how long a step took that has ended, and learns what drafts cost. */
    void learn(StepRecord step) {
        long nanos = admission.stepEnded(step);
        if (maxRowDrafts > 0) {
            draftCost.learn(step, nanos);
        }
    }

    private boolean mayAdmit() {
        return queues.active() < options.maxActiveRequests() && admission.hasWaiting(maxShared);
    }

    /**
     * Sets up to {@code max} drafts of a sequence and allocates their blocks; returns their number. Drafts take only blocks
     * that no other sequence needs for its next token, so they preempt nothing.
     */
    private int drafts(Sequence sequence, StepPlan plan, int rows, int max) {
        // The last token of a sequence is never computed.
        int wanted = Math.min(max, sequence.maxLength() - sequence.plannedLength() - 1);
        // A row in flight whose draw was skipped is no exception: it is applied before drafts are verified.
        if (wanted <= 0 || sequence.inFlight > 0) {
            return 0;
        }
        if (sequence.drafting == null) {
            sequence.drafting = new Drafting(options.drafter(), sequence, draftCost, vocabularySize);
        }
        int count = sequence.drafting.propose(plan.step(), rows, wanted, drafts, awaitedDrafts);
        int fitting = Math.min(count, blocks.growForDrafts(sequence, count));
        sequence.setDrafts(drafts, fitting);
        return fitting;
    }

    private void prefill(StepPlan plan, int budgetTokens) {
        int budget = Math.min(budgetTokens, maxStepTokens - plan.tokens());
        Sequence next = queues.prefilling.first();
        while (next != null
                && budget > 0
                && prefillRows < options.prefillMaxBatchSize()
                && plan.remainingSamples() > 0) {
            Sequence sequence = next;
            next = sequence.next;
            if (!plan.contains(sequence)) {
                budget -= prefillRow(plan, sequence, budget, false);
            }
        }
        admitWaiting(plan, budget);
    }

    private void admitWaiting(StepPlan plan, int budget) {
        int rowsBefore = prefillRows;
        if (admission.hasWaiting(maxShared)) {
            admissionBegins.run();
            admit(plan, budget);
            admissionEnds.run();
        }
        admitted |= prefillRows > rowsBefore;
    }

    private void admit(StepPlan plan, int budgetTokens) {
        if (hasCapacity(plan, budgetTokens)) {
            // Not by locked(), whose action would capture the plan and the budget in every step.
            synchronized (waitingQueue) {
                admitRanked(plan, budgetTokens);
            }
        }
    }

    private void admitRanked(StepPlan plan, int budgetTokens) {
        int budget = budgetTokens;
        admission.begin(maxShared);
        Sequence candidate = admission.next();
        while (candidate != null && hasCapacity(plan, budget)) {
            if (tryAdmit(candidate, plan, budget, prefillRows == 0)) {
                admission.admitted(candidate);
                budget -= candidate.isPromptComputed()
                        ? decodeAdmitted(plan, candidate)
                        : prefillRow(plan, candidate, budget, true);
            } else if (admission.blocksQueue(candidate)) {
                break;
            }
            candidate = admission.next();
        }
        admission.end();
    }

    private boolean hasCapacity(StepPlan plan, int budget) {
        return budget > 0
                && plan.remainingSamples() > 0
                && prefillRows < options.prefillMaxBatchSize()
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
        int reused = Math.max(sequence.reuse(), sequence.computedElsewhere);
        sequence.deferred = options.prefixCache() && !sequence.isPromptComputed() && isBeingComputed(sequence, plan);
        int cost = sequence.goal() - reused;
        boolean fits = isSplit(sequence) || cost <= budget || (isFirst && cost <= maxStepTokens - plan.tokens());
        if (sequence.deferred || !fits || blocks.requiredBlocks(sequence) > pool.available()) {
            sequence.table().putBack();
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
        waitingQueue.policies().admitted(sequence, reused);
        return true;
    }

    /**
     * Lets a sequence decode whose prompt came computed: with the others, or, if those already have their rows of this step,
     * with a row of its own. Returns the tokens added.
     */
    private int decodeAdmitted(StepPlan plan, Sequence sequence) {
        if (sequence.reachedMaxPasses(options.maxPasses())) {
            totals.add(Fact.FORCED_ADMISSIONS, 1);
        }
        sequence.computedElsewhere = 0;
        queues.prefilling.remove(sequence);
        queues.decoding.addLast(sequence);
        boolean isLate = decoded || decodingView.isTaken();
        if (!isLate || decodeRows >= options.maxBatchSize()) {
            return 0;
        }
        addDecodeRow(plan, sequence, 0);
        return 1;
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
        prefillRows++;
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
