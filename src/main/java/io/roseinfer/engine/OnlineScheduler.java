package io.roseinfer.engine;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.base.Check;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.observe.JfrRecorder;
import io.roseinfer.observe.Observers;
import io.roseinfer.observe.StepLog;
import io.roseinfer.observe.StepObserver;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.scheduler.Scheduler;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.Sequence;
import io.roseinfer.scheduler.StepPlan;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;

/**
 * Scheduler and runner on the caller's thread, one step per call: no queue, no stream. For experiments that want to decide what happens
 * when, and for measuring the scheduler without anything around it. {@link #step} has no step in flight when it returns; {@link #launch}
 * and {@link #complete} overlap as many as the runner takes.
 *
 * <p>A request is known by its id until {@link #discardRequest}, and nothing is kept of it afterwards; what has ended is handed
 * out by {@link #popFinishedIds}, whose cost is the number of ended requests, not of all requests.
 */
public final class OnlineScheduler {
    private final ModelRunner runner;
    private final Scheduler scheduler;
    private final Pipeline pipeline;
    private final StepLog log;
    private final Map<Long, Sequence> sequences = new HashMap<>();
    private final StepTokens tokens = new StepTokens();
    private StepPlan launched;
    private long nextId;

    /** The tokens of one step; valid until the next. */
    public static final class StepTokens {
        private final List<Sequence> from = new ArrayList<>();
        private final List<Integer> ids = new ArrayList<>();

        private StepTokens() {}

        private void clear() {
            from.clear();
            ids.clear();
        }

        private void add(Sequence sequence, int token) {
            from.add(sequence);
            ids.add(token);
        }

        /** How many requests got a token. */
        public int size() {
            return ids.size();
        }

        /** Which request got the {@code index}-th token. */
        public long requestId(int index) {
            return from.get(index).id();
        }

        public int token(int index) {
            return ids.get(index);
        }
    }

    /**
     * A scheduler without requests over a runner that nothing else uses; its steps are not timed.
     *
     * @throws BadInput if the runner was loaded for smaller steps than these options ask for
     */
    public OnlineScheduler(ModelRunner runner, SchedulerOptions options) {
        this(runner, options, () -> 0, 1, Observers.NONE);
    }

    /**
     * A scheduler without requests over a runner that nothing else uses.
     *
     * @param clock times the steps
     * @param stepHistory how many steps {@link #steps} remembers
     * @param observers are told of every step; of requests nobody hears
     * @throws BadInput if the runner was loaded for smaller steps than these options ask for
     */
    public OnlineScheduler(
            ModelRunner runner, SchedulerOptions options, Clock clock, int stepHistory, Observers observers) {
        EngineLimits.requireFit(runner, options);
        this.runner = runner;
        KvBlockPool pool = new KvBlockPool(runner.kv().blocks(), runner.kv().blockSize(), options.prefixCache());
        this.scheduler = new Scheduler(options, pool, runner.limits().maxTokens());
        this.launched = scheduler.newPlan();
        this.log = new StepLog(stepHistory);
        this.pipeline = new Pipeline(
                0, runner, scheduler, clock, StepObserver.all(List.of(log, new JfrRecorder(), observers.steps(0))));
    }

    /**
     * Queues a request; a later {@link #prefill} or {@link #step} admits it.
     *
     * @return the request's id
     * @throws BadInput if it can never be served
     */
    public long enqueue(int[] prompt, int maxNewTokens, SamplingParams sampling, long seed, boolean ignoreEndOfText) {
        if (maxNewTokens < 1) {
            throw new BadInput("max_new_tokens is " + maxNewTokens + "; it must be positive");
        }
        EngineLimits.requireServable(prompt, maxNewTokens, runner.spec(), runner.kv());
        long id = nextId++;
        int[] endOfText = ignoreEndOfText
                ? new int[0]
                : runner.spec().endOfText().stream().mapToInt(Integer::intValue).toArray();
        Sequence sequence = new Sequence(
                id,
                this,
                prompt,
                EngineLimits.maxLength(prompt.length, maxNewTokens, runner.spec()),
                EngineLimits.servable(sampling, runner.spec()),
                seed,
                endOfText);
        sequences.put(id, sequence);
        scheduler.add(sequence);
        return id;
    }

    /**
     * Queues a request and computes its prompt: when this returns, its first token is there. If it has to wait for blocks or for
     * a place among the active requests, the others are decoded meanwhile.
     */
    public long addRequest(
            int[] prompt, int maxNewTokens, SamplingParams sampling, long seed, boolean ignoreEndOfText) {
        long id = enqueue(prompt, maxNewTokens, sampling, seed, ignoreEndOfText);
        Sequence sequence = sequence(id);
        while (sequence.length() == sequence.promptLength()
                && sequence.finishReason().isEmpty()) {
            if (run(pipeline.planPrefillOnly())) {
                continue;
            }
            Check.that(run(pipeline.plan()), "nothing can run and a request waits");
        }
        return id;
    }

    /** One step that computes the prompts of as many waiting requests as may be admitted. */
    public StepTokens prefill() {
        run(pipeline.planPrefillOnly());
        return tokens;
    }

    /**
     * One step, a prefill or a decode as the options have it; its tokens, none if there was nothing to do.
     *
     * @throws DeviceFailure if the device lost the step; its requests have ended with {@link FinishReason#ERROR}, and if the
     *     failure is recoverable the others can go on
     */
    public StepTokens step() {
        run(pipeline.plan());
        return tokens;
    }

    /** Plans a step and hands it to the runner; false if there is nothing to run, or as many steps are in flight as the runner takes. */
    public boolean launch() {
        if (!pipeline.hasRoom()) {
            return false;
        }
        StepPlan plan = pipeline.plan().plan();
        if (plan.isEmpty()) {
            return false;
        }
        pipeline.launch();
        launched = plan;
        return true;
    }

    /** The requests that the step launched last computes tokens of; empty before the first {@link #launch}. */
    public long[] launchedIds() {
        long[] ids = new long[launched.rows()];
        Arrays.setAll(ids, row -> launched.sequence(row).id());
        return ids;
    }

    /** Prompt tokens of a request that was not discarded that were in the prefix cache at its first admission. */
    public int cachedTokens(long id) {
        return sequence(id).cachedTokens();
    }

    /** Steps that were launched and are not completed. */
    public int inFlight() {
        return pipeline.inFlight();
    }

    /**
     * Waits for the oldest step in flight, of which there must be one; its tokens.
     *
     * @throws DeviceFailure as {@link #step} does
     */
    public StepTokens complete() {
        finishOldest();
        return tokens;
    }

    /** Runs a step to its end; false if there was nothing to run. */
    private boolean run(Flight flight) {
        tokens.clear();
        if (flight.isEmpty()) {
            return false;
        }
        pipeline.launch();
        finishOldest();
        return true;
    }

    private void finishOldest() {
        tokens.clear();
        StepPlan done;
        try {
            done = pipeline.complete().plan();
        } catch (DeviceFailure failure) {
            pipeline.abandon();
            throw failure;
        }
        for (int row = 0; row < done.rows(); row++) {
            if (done.hasSampledToken(row)) {
                tokens.add(done.sequence(row), done.sampledToken(row));
            }
        }
    }

    /** The requests that have ended since this was asked last, in order; none that has been discarded. */
    public long[] popFinishedIds() {
        List<Long> ids = new ArrayList<>();
        Optional<Sequence> ended = scheduler.pollFinished();
        while (ended.isPresent()) {
            ids.add(ended.get().id());
            ended = scheduler.pollFinished();
        }
        return ids.stream().mapToLong(Long::longValue).toArray();
    }

    /** The tokens generated so far for a request that was not discarded. */
    public int[] generatedIds(long id) {
        Sequence sequence = sequence(id);
        int[] ids = new int[sequence.length() - sequence.promptLength()];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = sequence.token(sequence.promptLength() + i);
        }
        return ids;
    }

    private Sequence sequence(long id) {
        Sequence sequence = sequences.get(id);
        if (sequence == null) {
            throw new NoSuchElementException("request " + id + " was never added, or has been discarded");
        }
        return sequence;
    }

    /** Why a request ended; empty while it runs. */
    public Optional<FinishReason> finishReason(long id) {
        return sequence(id).finishReason();
    }

    /** Ends a request if it runs, returns its blocks and forgets it; harmless if it is not known. */
    public void discardRequest(long id) {
        Sequence sequence = sequences.remove(id);
        if (sequence != null) {
            scheduler.discard(sequence);
        }
    }

    /** Whether any request is waiting or running. */
    public boolean hasUnfinished() {
        return scheduler.hasWork();
    }

    /** KV blocks held by requests. */
    public int blocksInUse() {
        return scheduler.pool().held();
    }

    /** The records of the newest steps, oldest first. */
    public List<StepRecord> steps() {
        return log.steps();
    }

    public SchedulerOptions options() {
        return scheduler.options();
    }
}
