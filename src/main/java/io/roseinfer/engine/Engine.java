package io.roseinfer.engine;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.base.RoseException.InsufficientMemory;
import io.roseinfer.base.SplitMix64;
import io.roseinfer.engine.routing.ReplicaLoad;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.observe.JfrRecorder;
import io.roseinfer.observe.Observers;
import io.roseinfer.observe.RequestObserver;
import io.roseinfer.observe.StepLog;
import io.roseinfer.tokenizer.Tokenizer;
import java.lang.ref.Cleaner;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
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

    private final List<ModelRunner> runners;
    private final Optional<Tokenizer> tokenizer;
    private final EngineOptions options;
    private final KvGeometry kv;
    private final Clock clock;
    private final List<StepLog> logs;
    private final RequestCounters counters = new RequestCounters();
    private final RequestObserver requests;
    private final SchedulerManager manager;
    private final TokenizeWorkers tokenizeWorkers;
    private final AtomicLong nextId = new AtomicLong();
    private final Object closing = new Object();
    private volatile boolean closed;
    private Runnable afterClose = () -> {};

    private Engine(
            List<ModelRunner> runners,
            Optional<Tokenizer> tokenizer,
            EngineOptions options,
            RoutingPolicy routing,
            Clock clock,
            Observers others,
            boolean isRecorded) {
        this.runners = runners;
        this.tokenizer = tokenizer;
        this.options = options;
        this.clock = clock;
        this.kv = runners.stream()
                .map(runner -> EngineLimits.pool(runner, options))
                .min(Comparator.comparingInt(KvGeometry::blocks))
                .orElseThrow();
        this.tokenizeWorkers = new TokenizeWorkers(options.tokenizeWorkers(), this::tokenizeOnWorker);
        this.logs = runners.stream()
                .map(runner -> new StepLog(options.stepHistory()))
                .toList();
        Observers all = Observers.ofRequests(counters)
                .and(isRecorded ? JfrRecorder.observers() : Observers.NONE)
                .and(others)
                .and(Observers.ofStepsOfEach(logs::get));
        this.requests = all.requests();
        this.manager = new SchedulerManager(runners, options, routing, clock, all, tokenizeWorkers);
    }

    /**
     * Starts serving on one device.
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
     * Starts serving on one device, and tells more instruments than the log and a flight recording what it does.
     *
     * @param observers are told after the engine's own, in their order
     */
    public static Engine open(
            ModelRunner runner,
            Optional<Tokenizer> tokenizer,
            EngineOptions options,
            Clock clock,
            Observers observers) {
        return open(
                List.of(Objects.requireNonNull(runner, "runner")),
                tokenizer,
                options,
                RoutingPolicy.pull(),
                clock,
                Objects.requireNonNull(observers, "observers"));
    }

    /**
     * Starts serving on several devices, one replica on each: a loop, a scheduler and a KV pool of its own. Nothing is shared per step.
     *
     * <p>A replica that fails takes those requests with it of which tokens were delivered; they end with
     * {@link RoseException.ReplicaStopped}. The others are served by the replicas that are left, and the engine fails with the last.
     *
     * @param runners the model on each device, all with limits derived from the options
     * @param options hold for each replica, but for {@code maxInflightRequests}, which is for all together
     * @param routing which replica serves a request; not asked where there is one
     * @param observers are called after the engine's own, in their order
     */
    public static Engine open(
            List<? extends ModelRunner> runners,
            Optional<Tokenizer> tokenizer,
            EngineOptions options,
            RoutingPolicy routing,
            Clock clock,
            Observers observers) {
        List<ModelRunner> all = List.copyOf(Objects.requireNonNull(runners, "runners"));
        Objects.requireNonNull(tokenizer, "tokenizer");
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(routing, "routing");
        Objects.requireNonNull(clock, "clock");
        Objects.requireNonNull(observers, "observers");
        if (all.isEmpty()) {
            throw new BadInput("an engine was to be opened without a runner; it needs one for each replica");
        }
        all.forEach(runner -> EngineLimits.requireFit(runner, options));
        Engine engine = new Engine(all, tokenizer, options, routing, clock, observers, true);
        engine.start();
        return engine;
    }

    /** Starts serving token ids on one device, without events for a flight recording. */
    static Engine openUnrecorded(ModelRunner runner, EngineOptions options, Clock clock, Observers observers) {
        EngineLimits.requireFit(runner, options);
        Engine engine =
                new Engine(List.of(runner), Optional.empty(), options, RoutingPolicy.pull(), clock, observers, false);
        engine.start();
        return engine;
    }

    private void start() {
        try {
            tokenizeWorkers.start();
            manager.start();
        } catch (RuntimeException | Error e) {
            manager.endTokenizing();
            throw e;
        }
    }

    /**
     * Makes {@link #close} run an action at its end, to free what the engine runs on, after those that were given before; returns this
     * engine.
     */
    public Engine closingAfterwards(Runnable action) {
        Objects.requireNonNull(action, "action");
        synchronized (closing) {
            Runnable before = afterClose;
            afterClose = () -> {
                try {
                    before.run();
                } finally {
                    action.run();
                }
            };
        }
        return this;
    }

    /**
     * Accepts a request and returns the stream its tokens will come on. Never waits for the model.
     *
     * @throws BadInput if the request can never be served: a prompt too long for the context or the KV pool, an id outside the
     *     vocabulary, text without a tokenizer
     * @throws RoseException.Overloaded if {@code max_inflight_requests} are in flight
     * @throws EngineStopped if the engine is closed or has failed
     * @throws java.util.concurrent.CancellationException if the caller is interrupted while it tokenizes a text prompt
     */
    public TokenStream submit(GenerationRequest request) {
        Objects.requireNonNull(request, "request");
        long startNanos = clock.nanos();
        requests.submitting();
        try {
            TokenStream stream = accept(request, startNanos);
            counters.accept();
            return stream;
        } catch (RuntimeException | Error e) {
            counters.refuse();
            throw e;
        } finally {
            requests.submitted();
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
        TokenStream stream;
        try {
            requests.accepted(live);
            stream = streamOf(live);
        } catch (RuntimeException | Error e) {
            boolean unused = manager.inFlight().discard(live);
            throw e;
        }
        try {
            if (tokenizeWorkers.isEmpty() || request.prompt() instanceof Prompt.Tokens) {
                tokenizeAndHandOver(live);
            } else {
                manager.tokenize(live);
            }
        } catch (RuntimeException | Error e) {
            // A request that a loop has, or that has ended with its engine or by its deadline, is reported once: by its
            // stream.
            if (manager.inFlight().discard(live)) {
                throw e;
            }
        }
        return stream;
    }

    private LiveRequest newRequest(GenerationRequest request) {
        try {
            long id = nextId.getAndIncrement();
            long seed = request.seed().orElseGet(() -> SplitMix64.at(options.seed(), id));
            return new LiveRequest(id, request, seed, spec().contextLength(), tokenizer);
        } catch (RuntimeException | Error e) {
            manager.inFlight().unreserve();
            throw e;
        }
    }

    /** The stream must not be reachable from its own cleaning action, so the action is made where no stream is in scope. */
    private TokenStream streamOf(LiveRequest live) {
        Runnable cancel = live.untilEnded(cancelOf(manager, live));
        return new RequestStream(live, tokenizer, clock, cancel).endingWhenCollected(CLEANER);
    }

    private static Runnable cancelOf(SchedulerManager manager, LiveRequest live) {
        return () -> {
            if (!live.hasEnded()) {
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
    private void tokenizeOnWorker(LiveRequest live) {
        try {
            if (!live.hasEnded()) {
                tokenizeAndHandOver(live);
            }
        } catch (RuntimeException | Error e) {
            boolean unused = manager.inFlight().endEarly(live, Ending.failed(tokenizingFailedBy(e)));
        }
    }

    private static RoseException tokenizingFailedBy(Throwable e) {
        return switch (e) {
            case RoseException known -> known;
            case OutOfMemoryError full ->
                new InsufficientMemory(
                        "no memory was left to tokenize the prompt; give the JVM more (-Xmx), or submit less", full);
            default -> new EngineStopped("tokenizing a prompt failed: " + e, e);
        };
    }

    private void tokenizeAndHandOver(LiveRequest live) {
        int[] ids = tokenize(live.request());
        if (!live.hasEnded()) {
            live.tokenized(ids.length, clock.nanos());
            requests.tokenized(live);
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

    /**
     * Submits a request and waits for its completion.
     *
     * @throws RoseException as {@link #submit} does, or the reason if the request failed
     * @throws java.util.concurrent.CancellationException if the caller is interrupted; the request is ended and the interrupt still set
     */
    public Completion generate(GenerationRequest request) {
        try (TokenStream stream = submit(request)) {
            return stream.completion();
        }
    }

    public ModelSpec spec() {
        return runners.getFirst().spec();
    }

    public Optional<Tokenizer> tokenizer() {
        return tokenizer;
    }

    /** Requests accepted that have not ended, those that are being tokenized included. */
    int inflight() {
        return manager.inFlight().count();
    }

    /** What each replica has to do. */
    List<ReplicaLoad> loads() {
        return manager.loads();
    }

    /** The engine's counters as of its last step. */
    public EngineStats stats() {
        return manager.stats(counters.snapshot());
    }

    /** How many replicas it was opened with. */
    public int replicas() {
        return runners.size();
    }

    /**
     * The counters of each replica as of its last step, without those of requests, which are the engine's. A request that waits for any
     * replica is counted in none.
     */
    public List<EngineStats> replicaStats() {
        return manager.replicaStats();
    }

    /**
     * Why a replica failed; empty while it serves, and where the engine was closed.
     *
     * @throws BadInput if there is no replica of that number
     */
    public Optional<RoseException> failure(int replica) {
        return manager.death(requireReplica(replica));
    }

    private int requireReplica(int replica) {
        if (replica < 0 || replica >= runners.size()) {
            throw new BadInput("there is no replica " + replica + "; the engine has 0 to " + (runners.size() - 1));
        }
        return replica;
    }

    /**
     * The records of its newest steps, oldest first, as many of each replica as the options have {@code stepHistory}; those of the first
     * replica come first. Never waits.
     */
    public List<StepRecord> steps() {
        return logs.stream().flatMap(log -> log.steps().stream()).toList();
    }

    /**
     * Those of {@link #steps()} that one replica took, oldest first. Never waits.
     *
     * @param replica its number
     * @param from number of the first step wanted
     * @param most how many are wanted
     * @throws BadInput if there is no replica of that number
     */
    public List<StepRecord> steps(int replica, long from, int most) {
        return logs.get(requireReplica(replica)).steps(from, most);
    }

    /**
     * Ends every request at once, each with the reason CANCELLED, and stops. Any thread, any number of times.
     *
     * @throws EngineStopped if the engine's thread does not end within two and a half minutes: a device or an observer holds it up. Nothing
     *     is freed then, as that thread may still use it
     * @throws IllegalStateException in an action of {@link TokenStream#onDelivery} and on an engine's own thread: they cannot wait for
     *     themselves
     */
    @Override
    public void close() {
        requireWaitable();
        manager.close();
        synchronized (closing) {
            if (!closed) {
                closed = true;
                afterClose.run();
            }
        }
    }

    /** Refuses to wait for the engine's threads on a thread that these may wait for. */
    private static void requireWaitable() {
        if (DeliveryThread.isCurrent()) {
            throw new IllegalStateException("an engine is to be closed on the thread "
                    + Thread.currentThread().getName()
                    + ", which delivers tokens and cannot wait for itself: an action of onDelivery or an observer has"
                    + " called close; have another thread close it");
        }
    }

    /** Returns whether {@link #close} has stopped the engine's threads, so that nothing uses what it ran on. Never waits. */
    public boolean isClosed() {
        return closed;
    }

    /** Returns the maximum number of requests in flight. */
    public int maxInflightRequests() {
        return manager.inFlight().most();
    }

    /** The most tokens that a request can come to, prompt and completion: what the model's context takes, and the KV pool holds. */
    public int longest() {
        return EngineLimits.longest(spec(), kv);
    }

    /**
     * Accepts nothing more, works off what there is for at most {@code grace}, then closes.
     *
     * @return whether every request that was accepted came to an ending of its own: by its last token, a stop string, its deadline, its
     *     caller, or a failure of its own. False if the time was too short, if the engine failed, or if somebody else closed it at once
     * @throws EngineStopped as {@link #close()} does
     * @throws IllegalStateException as {@link #close()} does
     */
    public boolean close(Duration grace) {
        Objects.requireNonNull(grace, "grace");
        requireWaitable();
        try {
            manager.drain(grace);
        } finally {
            close();
        }
        return manager.hasWorkedOffAll();
    }
}
