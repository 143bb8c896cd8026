package io.roseinfer.engine;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.ProfilerRanges.Range;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.base.SplitMix64;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.tokenizer.Tokenizer;
import java.lang.ref.Cleaner;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

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
    private final Clock clock;
    private final SchedulerManager manager;
    private final TokenizeWorkers tokenizeWorkers;
    private final AtomicLong nextId = new AtomicLong();
    private final Object closing = new Object();
    private boolean closed;
    private Runnable afterClose = () -> {};

    private Engine(ModelRunner runner, Optional<Tokenizer> tokenizer, EngineOptions options, Clock clock) {
        this.runner = runner;
        this.tokenizer = tokenizer;
        this.options = options;
        this.clock = clock;
        this.manager = new SchedulerManager(runner, options, clock);
        this.tokenizeWorkers = new TokenizeWorkers(options.tokenizeWorkers(), this::tokenizeAndSubmit);
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
        EngineLimits.requireFit(runner, options);
        Engine engine = new Engine(runner, tokenizer, options, clock);
        engine.manager.start();
        return engine;
    }

    /** Makes {@link #close} run an action at its end, to free what the engine runs on; returns this engine. */
    public Engine closingAfterwards(Runnable action) {
        afterClose = action;
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
        runner.ranges().begin(Range.SUBMIT);
        try {
            return accept(request);
        } finally {
            runner.ranges().end();
        }
    }

    private TokenStream accept(GenerationRequest request) {
        requireTokenizer(request);
        manager.reserve();
        long id = nextId.getAndIncrement();
        long seed = request.seed().orElseGet(() -> SplitMix64.at(options.seed(), id));
        LiveRequest live = new LiveRequest(id, request, seed, spec().contextLength(), tokenizer);
        try {
            if (tokenizeWorkers.isEmpty() || request.prompt() instanceof Prompt.Tokens) {
                live.buffer().tokenized(tokenize(request), clock.nanos());
                manager.submit(live);
            } else {
                tokenizeWorkers.submit(live);
            }
        } catch (RuntimeException | Error e) {
            manager.unreserve();
            throw e;
        }
        return streamOf(live);
    }

    /** The stream must not be reachable from its own cleaning action, so the action is made where no stream is in scope. */
    private TokenStream streamOf(LiveRequest live) {
        Runnable cancel = cancelOf(manager, live);
        RequestStream stream =
                new RequestStream(live.id(), live.buffer(), live.request().stop(), tokenizer, cancel);
        CLEANER.register(stream, cancel);
        return stream;
    }

    private static Runnable cancelOf(SchedulerManager manager, LiveRequest live) {
        return () -> {
            if (!live.buffer().isEnded()) {
                manager.cancel(live);
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
    private void tokenizeAndSubmit(LiveRequest live) {
        try {
            live.buffer().tokenized(tokenize(live.request()), clock.nanos());
        } catch (RuntimeException | Error e) {
            manager.unreserve();
            RoseException failure =
                    e instanceof RoseException known ? known : new EngineStopped("tokenizing a prompt failed: " + e, e);
            live.end(FinishReason.ERROR, failure, clock.nanos());
            return;
        }
        manager.submit(live);
    }

    private int[] tokenize(GenerationRequest request) {
        int[] ids =
                switch (request.prompt()) {
                    case Prompt.Text text -> tokenizer.orElseThrow().encode(text.text());
                    case Prompt.Tokens tokens -> tokens.ids();
                };
        EngineLimits.requireServable(ids, request.maxNewTokens(), spec(), runner.kv());
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

    /** The engine's counters as of its last step. */
    public EngineStats stats() {
        return manager.stats();
    }

    /** The records of its newest steps, oldest first, as many as the options have {@code stepHistory}. Never waits. */
    public List<StepRecord> steps() {
        return manager.steps();
    }

    /** Ends every request at once, each with the reason CANCELLED, and stops. Any thread, any number of times. */
    @Override
    public void close() {
        manager.close();
        synchronized (closing) {
            if (!closed) {
                closed = true;
                tokenizeWorkers.stop().forEach(this::endUntokenized);
                afterClose.run();
            }
        }
    }

    private void endUntokenized(LiveRequest live) {
        manager.unreserve();
        live.end(FinishReason.CANCELLED, null, clock.nanos());
    }

    /**
     * Accepts nothing more, works off what there is for at most {@code grace}, then closes.
     *
     * @return whether everything was worked off in time
     */
    public boolean close(Duration grace) {
        boolean drained = manager.close(grace);
        close();
        return drained;
    }
}
