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
import io.roseinfer.scheduler.WaitingQueue;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;

/**
 * A scheduler and a runner on the caller's thread, one step per call, without queues and streams. For experiments that
 * control when steps run, and for measuring the scheduler alone. {@link #step} returns with no step in flight;
 * {@link #launch} and {@link #complete} keep as many in flight as the runner supports.
 *
 * <p>Requests are identified by ids until {@link #discardRequest}, which removes all their state.
 * {@link #popFinishedIds} returns the ended requests in time proportional to their number, regardless of how many run.
 */
public final class OnlineScheduler {
    private final ModelRunner runner;
    private final Clock clock;
    private final Scheduler scheduler;
    private final Pipeline pipeline;
    private final StepLog log;
    private final Map<Long, Sequence> sequences = new HashMap<>();
    private final StepTokens tokens = new StepTokens();
    private StepPlan launched;
    private long nextId;

    /** The tokens of one step; valid until the next step. */
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

        /** Returns the number of tokens. A request has several in a row if drafts were accepted. */
        public int size() {
            return ids.size();
        }

        /** Returns the id of the request that got the {@code index}-th token. */
        public long requestId(int index) {
            return from.get(index).id();
        }

        public int token(int index) {
            return ids.get(index);
        }
    }

    /**
     * Creates a scheduler over a runner that is not used elsewhere; steps are not timed.
     *
     * @throws BadInput if the runner was loaded for smaller steps than these options require
     */
    public OnlineScheduler(ModelRunner runner, SchedulerOptions options) {
        this(runner, options, () -> 0, 1, Observers.NONE);
    }

    /**
     * Creates a scheduler over a runner that is not used elsewhere.
     *
     * @param clock times the steps; policies see its readings
     * @param stepHistory maximum records that {@link #steps} returns
     * @param observers notified of every step; request observers are not called
     * @throws BadInput if the runner was loaded for smaller steps than these options require
     */
    public OnlineScheduler(
            ModelRunner runner, SchedulerOptions options, Clock clock, int stepHistory, Observers observers) {
        EngineLimits.requireFit(runner, options);
        this.runner = runner;
        this.clock = clock;
        KvBlockPool pool = new KvBlockPool(runner.kv().blocks(), runner.kv().blockSize(), options.prefixCache());
        this.scheduler = new Scheduler(
                options,
                pool,
                runner.limits().maxTokens(),
                runner.limits().maxSamples(),
                runner.maxDraftedTokens(),
                runner.spec().vocabularySize(),
                new WaitingQueue(1, options.policies()),
                0,
                admitted -> {});
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
        return enqueue(prompt, maxNewTokens, sampling, seed, ignoreEndOfText, RequestOptions.NONE);
    }

    /**
     * Queues a request with options for policies. They see its deadline, but it does not end the request; the clock's
     * reading now is its arrival, and the begin of its timeout.
     *
     * @return the request's id
     * @throws BadInput if it can never be served, or asks for log-probabilities of the prompt, which are not reported
     */
    public long enqueue(
            int[] prompt,
            int maxNewTokens,
            SamplingParams sampling,
            long seed,
            boolean ignoreEndOfText,
            RequestOptions options) {
        BadInput.require(
                options.promptLogprobs() < 0, "prompt_logprobs", options.promptLogprobs(), "-1 without an Engine");
        BadInput.require(maxNewTokens >= 1, "max_new_tokens", maxNewTokens, "positive");
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
        long nowNanos = clock.nanos();
        sequence.setTraits(options.startingAt(nowNanos).traits(nowNanos));
        sequences.put(id, sequence);
        scheduler.add(sequence);
        return id;
    }

    /**
     * Queues a request and computes its prompt, so that its first token is available on return. If it has to wait for
     * blocks or an active slot, other requests decode meanwhile.
     */
    public long addRequest(
            int[] prompt, int maxNewTokens, SamplingParams sampling, long seed, boolean ignoreEndOfText) {
        long id = enqueue(prompt, maxNewTokens, sampling, seed, ignoreEndOfText);
        Sequence sequence = sequence(id);
        while (sequence.length() == sequence.promptLength()
                && sequence.finishReason().isEmpty()) {
            if (run(pipeline.planPrefillOnly(clock.nanos()))) {
                continue;
            }
            Check.that(run(pipeline.plan(clock.nanos())), "a request waits but no step can run");
        }
        return id;
    }

    /** Runs one step that only prefills as many waiting requests as can be admitted. */
    public StepTokens prefill() {
        run(pipeline.planPrefillOnly(clock.nanos()));
        return tokens;
    }

    /**
     * Runs one step, prefill or decode according to the options, and returns its tokens; empty if there was nothing to
     * do.
     *
     * @throws DeviceFailure if the device lost the step; its requests have ended with {@link FinishReason#ERROR}, and
     *     the others can continue if the failure is recoverable
     */
    public StepTokens step() {
        run(pipeline.plan(clock.nanos()));
        return tokens;
    }

    /**
     * Plans a step and submits it to the runner; returns false if there is nothing to run, the maximum of steps is in
     * flight, or drafts need the tokens of the step in flight.
     */
    public boolean launch() {
        if (!pipeline.hasCapacity()) {
            return false;
        }
        StepPlan plan = pipeline.plan(clock.nanos()).plan();
        if (plan.isEmpty()) {
            return false;
        }
        pipeline.launch();
        launched = plan;
        return true;
    }

    /** Returns the requests in the step launched last; empty before the first {@link #launch}. */
    public long[] launchedIds() {
        long[] ids = new long[launched.rows()];
        Arrays.setAll(ids, row -> launched.sequence(row).id());
        return ids;
    }

    /**
     * Returns the number of prompt tokens in the prefix cache at the first admission of a request that was not
     * discarded.
     */
    public int cachedTokens(long id) {
        return sequence(id).cachedTokens();
    }

    /** Returns the number of steps in flight. */
    public int inFlight() {
        return pipeline.inFlight();
    }

    /**
     * Waits for the oldest step in flight and returns its tokens; there must be one.
     *
     * @throws DeviceFailure like {@link #step}
     */
    public StepTokens complete() {
        finishOldest();
        return tokens;
    }

    /** Runs a step to completion; returns false if there was nothing to run. */
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
            for (int i = 0; i < done.sampledTokens(row); i++) {
                tokens.add(done.sequence(row), done.sampledToken(row, i));
            }
        }
    }

    /** Returns the requests that have ended since the last call, in order, without discarded ones. */
    public long[] popFinishedIds() {
        List<Long> ids = new ArrayList<>();
        Optional<Sequence> ended = scheduler.pollFinished();
        while (ended.isPresent()) {
            ids.add(ended.get().id());
            ended = scheduler.pollFinished();
        }
        return ids.stream().mapToLong(Long::longValue).toArray();
    }

    /** Returns the tokens generated so far for a request that was not discarded. */
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
            throw new NoSuchElementException("request " + id + " is unknown or was discarded");
        }
        return sequence;
    }

    /** Returns why a request ended; empty while it runs. */
    public Optional<FinishReason> finishReason(long id) {
        return sequence(id).finishReason();
    }

    /** Ends a request if it runs, releases its blocks and removes it; no effect if the id is unknown. */
    public void discardRequest(long id) {
        Sequence sequence = sequences.remove(id);
        if (sequence != null) {
            scheduler.discard(sequence);
        }
    }

    /** Returns whether any request waits or runs. */
    public boolean hasUnfinished() {
        return scheduler.hasWork();
    }

    /** Returns the number of KV blocks held by requests. */
    public int blocksInUse() {
        return scheduler.pool().held();
    }

    /** Returns the records of the latest steps, oldest first. */
    public List<StepRecord> steps() {
        return log.steps();
    }

    public SchedulerOptions options() {
        return scheduler.options();
    }
}
