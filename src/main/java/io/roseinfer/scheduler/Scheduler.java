package io.roseinfer.scheduler;

import io.roseinfer.base.Check;
import io.roseinfer.kv.BlockTable;
import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.scheduler.policy.StepPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

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

    private static final Fact[] COUNTS = Fact.counts().toArray(Fact[]::new);

    /** Maximum empty plans in a row while requests wait and no step is in flight. */
    private static final int MAX_EMPTY_PLANS = 100;

    private final SchedulerOptions options;
    private final KvBlockPool pool;
    private final int maxStepTokens;
    private final WaitingRoom room;
    private final int number;
    private final Roster roster = new Roster();
    private final StepPlanner planner;
    private final SequenceList finished = new SequenceList();

    /** What all steps did so far. */
    private final StepRecord totals = new StepRecord();

    /** The part of the totals that {@link #record} has attributed to a step. */
    private final StepRecord attributed = new StepRecord();

    private long stepState;
    private long steps;
    private int inFlight;
    private int emptyPlans;

    /**
     * A scheduler without work that shares no waiting room.
     *
     * @param pool the KV blocks it gives out
     * @param maxStepTokens maximum tokens per step; at least the longest sequence there can be, unless prompts may be cut
     */
    public Scheduler(SchedulerOptions options, KvBlockPool pool, int maxStepTokens) {
        this(options, pool, maxStepTokens, new WaitingRoom(1), 0, admitted -> {});
    }

    /**
     * A scheduler without work.
     *
     * @param pool the KV blocks it gives out
     * @param maxStepTokens maximum tokens per step; at least the longest sequence there can be, unless prompts may be cut
     * @param room the sequences that wait
     * @param number its own in the room
     * @param onFirstAdmission is given each sequence that is admitted for the first time, under the room's lock
     */
    public Scheduler(
            SchedulerOptions options,
            KvBlockPool pool,
            int maxStepTokens,
            WaitingRoom room,
            int number,
            Consumer<Sequence> onFirstAdmission) {
        this.room = room;
        this.number = number;
        this.options = options;
        this.pool = pool;
        this.maxStepTokens = maxStepTokens;
        this.planner = new StepPlanner(options, pool, maxStepTokens, roster, room, number, totals, onFirstAdmission);
    }

    /** A plan with room for the largest step, to be filled by {@link #plan} as often as one likes. */
    public StepPlan newPlan() {
        return new StepPlan(maxRows(options), maxStepTokens);
    }

    /** Has actions run when an iteration begins to admit waiting requests, and when it ends. */
    public void onAdmission(Runnable begins, Runnable ends) {
        planner.onAdmission(begins, ends);
    }

    /** The most rows a step of these options can have. */
    public static int maxRows(SchedulerOptions options) {
        return Math.addExact(options.maxBatchSize(), options.prefillMaxBatchSize());
    }

    /** Adds a sequence that this scheduler alone may admit. */
    public void add(Sequence sequence) {
        Check.that(
                Math.ceilDiv(sequence.maxComputed(), pool.blockSize()) <= pool.blocks(),
                "a sequence can never fit the pool");
        room.add(sequence, number);
    }

    /**
     * Ends a sequence wherever it is; harmless if it has ended. Its blocks return now, or when the step it is part of is applied.
     */
    public void end(Sequence sequence, FinishReason reason) {
        if (sequence.state == Sequence.State.FINISHED) {
            return;
        }
        if (!room.remove(sequence)) {
            roster.drop(sequence);
        }
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
     * Plans the next step. An empty plan means that there is nothing to do before another is applied or added;
     * it needs no {@link #apply}. At most two plans may be unapplied at a time.
     *
     * @param plan is overwritten: one from {@link #newPlan} that is not in flight
     * @return the same plan
     */
    public StepPlan plan(StepPlan plan) {
        return plan(plan, Integer.MAX_VALUE);
    }

    /**
     * As {@link #plan(StepPlan)}, but admits at most so many of the sequences that any scheduler may admit, and others only if they have
     * been passed over as often as may be.
     */
    public StepPlan plan(StepPlan plan, int maxShared) {
        begin(plan, maxShared);
        stepState = stateAfterPlan();
        commit(plan);
        requireProgress(plan, maxShared);
        return plan;
    }

    /** Fails if the step policy goes on leaving steps empty that have something to do. */
    private void requireProgress(StepPlan plan, int maxShared) {
        boolean hasWork = hasWork() || (maxShared > 0 && room.shared() > 0);
        emptyPlans = plan.isEmpty() && inFlight == 0 && hasWork ? emptyPlans + 1 : 0;
        if (emptyPlans == MAX_EMPTY_PLANS) {
            throw PolicyFailure.ofStep(
                    options.policies().step(),
                    new PolicyFailure.Misuse(
                            "left " + MAX_EMPTY_PLANS + " steps in a row empty while " + (waiting() + room.shared())
                                    + " requests waited and " + roster.active() + " were active"));
        }
    }

    /** Plans a step that only prefills what may be admitted now; for callers that drive the phases themselves. */
    public StepPlan planPrefillOnly(StepPlan plan) {
        begin(plan, Integer.MAX_VALUE);
        planner.prefill(options.prefillMaxTokens());
        stepState = stateAfterPrefill();
        commit(plan);
        return plan;
    }

    private long stateAfterPlan() {
        StepPolicy policy = options.policies().step();
        try {
            return policy.plan(planner, stepState);
        } catch (Throwable thrown) {
            throw PolicyFailure.ofStep(policy, thrown);
        }
    }

    private long stateAfterPrefill() {
        StepPolicy policy = options.policies().step();
        try {
            return policy.afterPrefill(stepState);
        } catch (Throwable thrown) {
            throw PolicyFailure.ofStep(policy, thrown);
        }
    }

    private void begin(StepPlan plan, int maxShared) {
        plan.clear(steps);
        planner.begin(plan, maxShared);
    }

    private void commit(StepPlan plan) {
        plan.addTo(totals);
        if (!plan.isEmpty()) {
            steps++;
            inFlight++;
            room.planned(number, steps);
        }
    }

    /**
     * Takes in what a step sampled: appends tokens, makes full blocks known to the prefix cache, ends sequences, and returns the
     * blocks of those that ended meanwhile. Plans are applied in the order they were made.
     */
    public void apply(StepPlan plan, SampledTokens sampled) {
        land(plan);
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
                takeToken(plan, row, sampled);
            }
        }
    }

    /** Ends every sequence of a step that the device has failed, and returns their blocks. */
    public void abandon(StepPlan plan) {
        land(plan);
        for (int row = 0; row < plan.rows(); row++) {
            Sequence sequence = plan.sequence(row);
            end(sequence, FinishReason.ERROR);
            leave(sequence);
        }
    }

    private void land(StepPlan plan) {
        inFlight -= plan.isEmpty() ? 0 : 1;
    }

    /** One step fewer is in flight for a sequence; the blocks of one that has ended return with the last. */
    private static void leave(Sequence sequence) {
        sequence.inFlight--;
        if (sequence.state == Sequence.State.FINISHED && sequence.inFlight == 0) {
            sequence.table().release();
        }
    }

    private void takeToken(StepPlan plan, int row, SampledTokens sampled) {
        Sequence sequence = plan.sequence(row);
        int sample = plan.sample(row);
        if (!sampled.isUsable(sample)) {
            end(sequence, FinishReason.ERROR);
            return;
        }
        int token = sampled.token(sample);
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
        /** The token of a sample that is usable. */
        int token(int sample);

        /** Whether a sample has a token; its sequence must fail otherwise. */
        default boolean isUsable(int sample) {
            return true;
        }
    }

    /** Whether a step could do something for its own sequences, now or once the steps in flight are applied. */
    public boolean hasWork() {
        return roster.active() > 0 || waiting() > 0;
    }

    /** Sequences that wait for this scheduler alone: those bound to it, and those that start over. */
    public int waiting() {
        return roster.restarting.size() + room.bound(number);
    }

    /** Sequences that gave their blocks back and wait to be admitted again. */
    public int restarting() {
        return roster.restarting.size();
    }

    /** Sequences that hold KV blocks and have not ended. */
    public int active() {
        return roster.active();
    }

    /** Steps planned so far. */
    public long steps() {
        return steps;
    }

    /** Returns what all steps planned so far did, of a fact that counts. */
    public long total(Fact fact) {
        return totals.get(fact);
    }

    /**
     * Fills in the scheduler's facts of a step, which was planned last and is not empty: its counts are what was counted since the step
     * before, by empty plans, too.
     */
    public void record(StepPlan plan, StepRecord step) {
        step.set(Fact.STEP, plan.step());
        step.set(Fact.WAITING, waiting());
        step.set(Fact.ACTIVE, active());
        step.set(Fact.FREE_BLOCKS, pool.available());
        for (Fact count : COUNTS) {
            long total = totals.get(count);
            step.set(count, total - attributed.get(count));
            attributed.set(count, total);
        }
    }

    public SchedulerOptions options() {
        return options;
    }

    public KvBlockPool pool() {
        return pool;
    }

    /** Fails if blocks are held though nothing waits or runs: what {@link #check} says of an idle scheduler, at no cost. */
    public void checkIdle() {
        Check.that(
                hasWork() || pool.held() == 0,
                "%d of %d KV blocks are held though nothing waits or runs",
                pool.held(),
                pool.blocks());
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
