package io.roseinfer.engine;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.base.RoseException.InsufficientMemory;
import io.roseinfer.base.SplitMix64;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.observe.JfrRecorder;
import io.roseinfer.observe.Observers;
import io.roseinfer.observe.StepLog;
import io.roseinfer.tokenizer.Tokenizer;
import java.lang.ref.Cleaner;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * Serves one model: requests from any thread, tokens on a stream each, continuous batching in between.
 *
 * {@snippet :
 * try (Engine engine = Roseinfer.open("builtin:tiny")) {
 *     TokenStream stream = engine.submit(GenerationRequest.of("Once upon a time").withMaxNewTokens(32));
 *     stream.forEachRemaining(token -> System.out.print(token.text()));
 * }
 * }
 *
 * <p>Closing an engine ends its streams and stops its thread. It does not close the runner, which can serve another engine.
 */
public final class Engine implements AutoCloseable {
    private static final Cleaner CLEANER = Cleaner.create();

    private final ModelRunner runner;
    private final Optional<Tokenizer> tokenizer;
    private final EngineOptions options;
    private final KvGeometry kv;
    private final Clock clock;
    private final StepLog log;
    private final RequestCounters counters = new RequestCounters();
    private final Observers observers;
    private final SchedulerManager manager;
    private final TokenizeWorkers tokenizeWorkers;
    private final Consumer<LiveRequest> endWithEngine;
    private final Ending tokenizingOutOfMemory = Ending.failed(new InsufficientMemory(
            "no memory was left to tokenize the prompt; give the JVM more (-Xmx), or submit less"));
    private final AtomicLong nextId = new AtomicLong();
    private final Object closing = new Object();
    private boolean closed;
    private Runnable afterClose = () -> {};

    private Engine(
            ModelRunner runner, Optional<Tokenizer> tokenizer, EngineOptions options, Clock clock, Observers others) {
        this.runner = runner;
        this.tokenizer = tokenizer;
        this.options = options;
        this.clock = clock;
        this.kv = EngineLimits.pool(runner, options);
        this.tokenizeWorkers = new TokenizeWorkers(options.tokenizeWorkers(), this::tokenizeOnWorker);
        this.log = new StepLog(options.stepHistory());
        this.observers = Observers.of(counters, log, new JfrRecorder()).and(others);
        this.manager = new SchedulerManager(runner, kv, options, clock, observers, this::endTokenizing);
        // Made here, because it is used where there may be no memory left.
        this.endWithEngine = manager::endWithEngine;
    }

    /**
     * Starts serving.
     *
     * @param runner the loaded model; no other engine may use it at the same time
     * @param tokenizer for text prompts and text output; without one only token ids go in and out
     * @param options the knobs; the runner's limits must have been derived from them, see {@link EngineLimits}
     * @param clock where stamps come from
     */
    public static Engine open(ModelRunner runner, Optional<Tokenizer> tokenizer, EngineOptions options, Clock clock) {
        return open(runner, tokenizer, options, clock, Observers.NONE);
    }

    /**
     * Starts serving, and tells more instruments than the log and a flight recording what it does.
     *
     * @param observers are told after the engine's own, in their order
     */
    public static Engine open(
            ModelRunner runner,
            Optional<Tokenizer> tokenizer,
            EngineOptions options,
            Clock clock,
            Observers observers) {
        Objects.requireNonNull(runner, "runner");
        Objects.requireNonNull(tokenizer, "tokenizer");
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(clock, "clock");
        Objects.requireNonNull(observers, "observers");
        EngineLimits.requireFit(runner, options);
        Engine engine = new Engine(runner, tokenizer, options, clock, observers);
        engine.start();
        return engine;
    }

    private void start() {
        try {
            tokenizeWorkers.start();
            manager.start();
        } catch (RuntimeException | Error e) {
            endTokenizing();
            throw e;
        }
    }

    /** Makes {@link #close} run an action at its end, to free what the engine runs on; returns this engine. */
    public Engine closingAfterwards(Runnable action) {
        afterClose = Objects.requireNonNull(action, "action");
        return this;
    }

    /**
     * Accepts a request and returns the stream its tokens will come on. Never waits for the model.
     *
     * @throws BadInput if the request can never be served: a prompt too long for the context or the KV pool, an id outside the
     *     vocabulary, text without a tokenizer
     * @throws RoseException.Overloaded if {@code max_inflight_requests} are in flight
     * @throws EngineStopped if the engine is closed or has failed
     */
    public TokenStream submit(GenerationRequest request) {
        Objects.requireNonNull(request, "request");
        long startNanos = clock.nanos();
        observers.submitting();
        try {
            TokenStream stream = accept(request, startNanos);
            counters.accept();
            return stream;
        } catch (RuntimeException | Error e) {
            counters.refuse();
            throw e;
        } finally {
            observers.submitted();
        }
    }

    private TokenStream accept(GenerationRequest asked, long startNanos) {
        GenerationRequest servable = asked.withSampling(EngineLimits.servable(asked.sampling(), spec()));
        GenerationRequest request =
                servable.terms().timeout().isPresent() ? servable.startingAt(clock.nanos()) : servable;
        requireTokenizer(request);
        manager.reserve();
        LiveRequest live = newRequest(request);
        live.submitted(startNanos);
        try {
            observers.accepted(live);
            TokenStream stream = streamOf(live);
            if (tokenizeWorkers.isEmpty() || request.prompt() instanceof Prompt.Tokens) {
                tokenizeAndHandOver(live);
            } else {
                tokenizeWorkers.submit(live);
            }
            return stream;
        } catch (RuntimeException | Error e) {
            manager.discard(live);
            throw e;
        }
    }

    private LiveRequest newRequest(GenerationRequest request) {
        try {
            long id = nextId.getAndIncrement();
            long seed = request.seed().orElseGet(() -> SplitMix64.at(options.seed(), id));
            return new LiveRequest(id, request, seed, spec().contextLength(), tokenizer);
        } catch (RuntimeException | Error e) {
            manager.unreserve();
            throw e;
        }
    }

    /** The stream must not be reachable from its own cleaning action, so the action is made where no stream is in scope. */
    private TokenStream streamOf(LiveRequest live) {
        Runnable cancel = cancelOf(manager, tokenizeWorkers, live);
        RequestStream stream = new RequestStream(live, tokenizer, clock, cancel);
        CLEANER.register(stream, cancel);
        return stream;
    }

    private static Runnable cancelOf(SchedulerManager manager, TokenizeWorkers workers, LiveRequest live) {
        return () -> {
            if (!live.hasEnded()) {
                manager.cancel(live);
                workers.remove(live);
            }
        };
    }

    private void requireTokenizer(GenerationRequest request) {
        if (tokenizer.isPresent()) {
            return;
        }
        if (request.prompt() instanceof Prompt.Text) {
            throw new BadInput("the model has no tokenizer, so a text prompt cannot be read; give token ids instead");
        }
        if (!request.stop().isEmpty()) {
            throw new BadInput("the model has no tokenizer, so stop strings cannot be found; leave them out");
        }
    }

    /** On a worker: an error here is the request's own ending. */
    private void tokenizeOnWorker(LiveRequest live) {
        try {
            if (live.hasDeadline() && live.deadlineNanos() <= clock.nanos()) {
                manager.expire(live);
            } else if (!live.hasEnded()) {
                tokenizeAndHandOver(live);
            }
        } catch (RuntimeException | Error e) {
            manager.end(live, tokenizingFailedBy(e));
        }
    }

    private Ending tokenizingFailedBy(Throwable e) {
        try {
            return switch (e) {
                case RoseException known -> Ending.failed(known);
                case OutOfMemoryError full -> tokenizingOutOfMemory;
                default -> Ending.failed(new EngineStopped("tokenizing a prompt failed: " + e, e));
            };
        } catch (OutOfMemoryError full) {
            return tokenizingOutOfMemory;
        }
    }

    private void tokenizeAndHandOver(LiveRequest live) {
        int[] ids = tokenize(live.request());
        if (live.handOver()) {
            live.tokenized(ids.length, clock.nanos());
            observers.tokenized(live);
            manager.submit(live, ids);
        }
    }

    private int[] tokenize(GenerationRequest request) {
        int[] ids =
                switch (request.prompt()) {
                    case Prompt.Text text -> tokenizer.orElseThrow().encodePrompt(text.text());
                    case Prompt.Tokens tokens -> tokens.own();
                };
        EngineLimits.requireServable(ids, request.maxNewTokens(), spec(), kv);
        return ids;
    }

    /** Submits a request and waits for its completion. */
    public Completion generate(GenerationRequest request) {
        try (TokenStream stream = submit(request)) {
            return stream.completion();
        }
    }

    public ModelSpec spec() {
        return runner.spec();
    }

    public Optional<Tokenizer> tokenizer() {
        return tokenizer;
    }

    /** Requests accepted that have not ended, those that are being tokenized included. */
    int inflight() {
        return manager.inflight();
    }

    /** The engine's counters as of its last step. */
    public EngineStats stats() {
        EngineStats stats = manager.stats();
        return stats.withRequests(counters.snapshot(stats.cachedTokens()));
    }

    /** The records of its newest steps, oldest first, as many as the options have {@code stepHistory}. Never waits. */
    public List<StepRecord> steps() {
        return log.steps();
    }

    /**
     * Ends every request at once, each with the reason CANCELLED, and stops. Any thread, any number of times.
     *
     * @throws EngineStopped if the engine's thread does not end within two and a half minutes: a device or an observer holds it up. Nothing
     *     is freed then, as that thread may still use it
     */
    @Override
    public void close() {
        manager.close();
        synchronized (closing) {
            if (!closed) {
                closed = true;
                afterClose.run();
            }
        }
    }

    private void endTokenizing() {
        tokenizeWorkers.stop(endWithEngine);
    }

    /**
     * Accepts nothing more, works off what there is for at most {@code grace}, then closes.
     *
     * @return whether every request that was accepted came to an ending of its own: by its last token, a stop string, its deadline, its
     *     caller, or a failure of its own. False if the time was too short, if the engine failed, or if somebody else closed it at once
     * @throws EngineStopped as {@link #close()} does
     */
    public boolean close(Duration grace) {
        Objects.requireNonNull(grace, "grace");
        try {
            manager.drain(grace);
        } finally {
            close();
        }
        return manager.hasWorkedOffAll();
    }
}
