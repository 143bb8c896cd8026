package io.roseinfer.engine;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.base.RoseException.InsufficientMemory;
import io.roseinfer.base.SplitMix64;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.grammar.CompiledGrammar;
import io.roseinfer.grammar.Grammar;
import io.roseinfer.grammar.GrammarLimits;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.observe.JfrRecorder;
import io.roseinfer.observe.Observers;
import io.roseinfer.observe.RequestEvent;
import io.roseinfer.observe.RequestObserver;
import io.roseinfer.observe.StepLog;
import io.roseinfer.sampling.LogitConstraints;
import io.roseinfer.tokenizer.Tokenizer;
import io.roseinfer.tokenizer.Tokenizers;
import java.lang.ref.Cleaner;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;

/**
 * Serves one model with continuous batching. Any thread may submit requests; each returns a stream of its tokens.
 *
 * {@snippet :
 * try (Engine engine = Roseinfer.open("builtin:tiny")) {
 *     TokenStream stream = engine.submit(GenerationRequest.of("Once upon a time").withMaxNewTokens(32));
 *     stream.forEachRemaining(token -> System.out.print(token.text()));
 * }
 * }
 *
 * <p>Closing an engine ends its streams and stops its thread. It does not close the runner, which another engine may
 * use.
 */
public final class Engine implements AutoCloseable {
    private static final Cleaner CLEANER = Cleaner.create();

    private final List<ModelRunner> runners;
    private final Optional<Tokenizer> tokenizer;
    private final BiFunction<List<ChatMessage>, Tools, ChatPrompt> chat;
    private final EngineOptions options;
    private final KvGeometry kv;
    private final Clock clock;
    private final List<StepLog> logs;
    private final RequestCounters counters = new RequestCounters();
    private final RequestObserver requests;
    private final SchedulerManager manager;
    private final TokenizeWorkers tokenizeWorkers;
    private final Optional<GrammarCompiler> grammars;
    private final MaskWorkers maskWorkers;
    private final AtomicLong nextId = new AtomicLong();
    private final Object closing = new Object();
    private volatile boolean closed;
    private Runnable afterClose = () -> {};

    private Engine(
            List<ModelRunner> runners,
            Optional<Tokenizer> tokenizer,
            BiFunction<List<ChatMessage>, Tools, ChatPrompt> chat,
            EngineOptions options,
            RoutingPolicy routing,
            Clock clock,
            Observers others,
            boolean isRecorded) {
        this.runners = runners;
        this.tokenizer = tokenizer;
        this.chat = chat;
        this.options = options;
        this.clock = clock;
        this.kv = runners.stream()
                .map(runner -> EngineLimits.pool(runner, options))
                .min(Comparator.comparingInt(KvGeometry::blocks))
                .orElseThrow();
        this.tokenizeWorkers = new TokenizeWorkers(Math.max(1, options.tokenizeWorkers()), this::tokenizeOnWorker);
        this.grammars = tokenizer.map(words -> new GrammarCompiler(words, spec(), GrammarLimits.DEFAULT));
        this.logs = runners.stream()
                .map(runner -> new StepLog(options.stepHistory()))
                .toList();
        Observers all = Observers.ofRequests(counters)
                .and(isRecorded ? JfrRecorder.observers() : Observers.NONE)
                .and(others)
                .and(Observers.ofStepsOfEach(logs::get));
        this.requests = all.requests();
        this.maskWorkers =
                new MaskWorkers(MaskWorkers.count(Runtime.getRuntime().availableProcessors()), clock, requests);
        this.manager = new SchedulerManager(runners, options, routing, clock, all, tokenizeWorkers);
    }

    /**
     * Opens an engine on one device.
     *
     * @param runner the loaded model; no other engine may use it at the same time
     * @param tokenizer for text prompts and text output; without one the engine handles only token ids
     * @param options must match the runner's limits, see {@link EngineLimits}
     * @param clock the source of timestamps
     */
    public static Engine open(ModelRunner runner, Optional<Tokenizer> tokenizer, EngineOptions options, Clock clock) {
        return open(runner, tokenizer, options, clock, Observers.NONE);
    }

    /**
     * Opens an engine on one device with additional observers.
     *
     * @param observers called after the engine's own observers, in order
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
     * Opens an engine on several devices, with one replica on each. A replica has its own loop, scheduler and KV pool;
     * replicas share nothing per step.
     *
     * <p>If a replica fails, its requests with delivered tokens end with {@link RoseException.ReplicaStopped}; the
     * remaining replicas take over the others, each once, so that one that makes replicas fail stops at most two. The
     * engine fails with its last replica.
     *
     * @param runners the model on each device, all with limits derived from the options
     * @param options apply to each replica, except {@code maxInflightRequests}, which is the total
     * @param routing chooses the replica of a request; not used with a single replica
     * @param observers called after the engine's own observers, in order
     */
    public static Engine open(
            List<? extends ModelRunner> runners,
            Optional<Tokenizer> tokenizer,
            EngineOptions options,
            RoutingPolicy routing,
            Clock clock,
            Observers observers) {
        return open(runners, tokenizer, Engine::rejectChat, options, routing, clock, observers);
    }

    /**
     * Opens an engine on several devices whose model may have a chat template.
     *
     * @param chat what {@link #chatPrompt} calls, by any thread; {@code LoadedModel.chatPrompt}
     */
    public static Engine open(
            List<? extends ModelRunner> runners,
            Optional<Tokenizer> tokenizer,
            BiFunction<List<ChatMessage>, Tools, ChatPrompt> chat,
            EngineOptions options,
            RoutingPolicy routing,
            Clock clock,
            Observers observers) {
        List<ModelRunner> all = List.copyOf(Objects.requireNonNull(runners, "runners"));
        Objects.requireNonNull(tokenizer, "tokenizer");
        Objects.requireNonNull(chat, "chat");
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(routing, "routing");
        Objects.requireNonNull(clock, "clock");
        Objects.requireNonNull(observers, "observers");
        if (all.isEmpty()) {
            throw new BadInput("no runner was given; an engine needs one per replica");
        }
        all.forEach(runner -> EngineLimits.requireFit(runner, options));
        Engine engine = new Engine(all, tokenizer, chat, options, routing, clock, observers, true);
        engine.start();
        return engine;
    }

    /** Opens an engine for token ids on one device, without Flight Recorder events. */
    static Engine openUnrecorded(ModelRunner runner, EngineOptions options, Clock clock, Observers observers) {
        EngineLimits.requireFit(runner, options);
        Engine engine = new Engine(
                List.of(runner),
                Optional.empty(),
                Engine::rejectChat,
                options,
                RoutingPolicy.pull(),
                clock,
                observers,
                false);
        engine.start();
        return engine;
    }

    private static ChatPrompt rejectChat(List<ChatMessage> messages, Tools tools) {
        throw new BadInput(
                "this engine was opened without a chat template; use a text prompt, GenerationRequest.of(text)");
    }

    private void start() {
        try {
            manager.start();
        } catch (RuntimeException | Error e) {
            manager.endTokenizing();
            throw e;
        }
    }

    /**
     * Adds an action that {@link #close} runs last, to free what the engine uses; actions run in the order they were
     * added. Returns this engine.
     */
    public Engine onClose(Runnable action) {
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
     * Returns a request that continues a conversation, to be submitted to this engine. It has the model's recommended
     * sampling and may fill the context; {@code LoadedModel.chatPrompt} has the details. May be called by any thread.
     *
     * @param messages oldest first
     * @throws BadInput if there is no message, if the model has no chat template or no tokenizer, if a role is
     *     unknown, or if its template rejects the messages
     * @throws java.util.concurrent.CancellationException if the thread is interrupted; the interrupt status remains set
     */
    public GenerationRequest chatRequest(List<ChatMessage> messages) {
        return chatPrompt(messages, Tools.NONE).request();
    }

    /**
     * Returns a prompt that continues a conversation, and reads the reply's reasoning and tool calls.
     *
     * @param messages oldest first
     * @throws BadInput like {@link #chatRequest}, or if the model does not support the tools, or the result of
     *     a call has the id of no earlier call
     * @throws java.util.concurrent.CancellationException if the thread is interrupted; the interrupt status remains set
     */
    public ChatPrompt chatPrompt(List<ChatMessage> messages, Tools tools) {
        Objects.requireNonNull(messages, "messages");
        Objects.requireNonNull(tools, "tools");
        return chat.apply(messages, tools);
    }

    /**
     * Accepts a request and returns the stream of its tokens. Does not wait for the model.
     *
     * @throws BadInput if the request can never be served: its prompt exceeds the context or the KV pool, contains an
     *     id outside the vocabulary, or is text without a tokenizer
     * @throws RoseException.Overloaded if {@link EngineOptions#maxInflightRequests} requests are in flight
     * @throws EngineStopped if the engine is closed or has failed
     * @throws java.util.concurrent.CancellationException if the caller is interrupted while it tokenizes a text prompt
     */
    public TokenStream submit(GenerationRequest request) {
        Objects.requireNonNull(request, "request");
        long startNanos = clock.nanos();
        requests.on(new RequestEvent.Submitting());
        try {
            TokenStream stream = accept(request, startNanos);
            counters.accept();
            return stream;
        } catch (RuntimeException | Error e) {
            counters.reject();
            throw e;
        } finally {
            requests.on(new RequestEvent.Submitted());
        }
    }

    private TokenStream accept(GenerationRequest asked, long startNanos) {
        GenerationRequest servable = asked.withSampling(EngineLimits.servable(asked.sampling(), spec()));
        GenerationRequest request =
                servable.options().timeout().isPresent() ? servable.startingAt(clock.nanos()) : servable;
        if (tokenizer.isEmpty()) {
            EngineLimits.requireNoTokenizer(request, "the model", Tokenizers.ADD_FILES + ", or give token ids");
        }
        LogitConstraints constraints = RequestConstraints.of(request, spec(), tokenizer);
        manager.reserve();
        LiveRequest live = newRequest(request, constraints);
        live.submitted(startNanos);
        TokenStream stream;
        try {
            requests.on(new RequestEvent.Accepted(live));
            stream = streamOf(live);
        } catch (RuntimeException | Error e) {
            boolean unused = manager.inFlight().discard(live);
            throw e;
        }
        try {
            if (usesWorker(request)) {
                manager.tokenize(live);
            } else {
                tokenizeAndSubmit(live);
            }
        } catch (RuntimeException | Error e) {
            // A request that was admitted or has ended reports the failure only through its stream.
            if (manager.inFlight().discard(live)) {
                throw e;
            }
        }
        return stream;
    }

    /** Returns whether a worker prepares the request: it compiles grammars and, if the options ask for it, tokenizes. */
    private boolean usesWorker(GenerationRequest request) {
        return request.constraints().grammar().isPresent()
                || (options.tokenizeWorkers() > 0 && request.prompt() instanceof Prompt.Text);
    }

    private LiveRequest newRequest(GenerationRequest request, LogitConstraints constraints) {
        try {
            long id = nextId.getAndIncrement();
            long seed = request.seed().orElseGet(() -> SplitMix64.at(options.seed(), id));
            return new LiveRequest(id, request, seed, spec().contextLength(), tokenizer).setConstraints(constraints);
        } catch (RuntimeException | Error e) {
            manager.inFlight().release();
            throw e;
        }
    }

    /**
     * Creates the stream. Its cleaning action must not refer to it, so that action is created where no stream is in
     * scope.
     */
    private TokenStream streamOf(LiveRequest live) {
        Runnable cancel = live.closeAction(cancelOf(manager, live));
        return new RequestStream(live, tokenizer, clock, cancel).closedWhenCollected(CLEANER);
    }

    private static Runnable cancelOf(SchedulerManager manager, LiveRequest live) {
        return () -> {
            if (!live.hasEnded()) {
                manager.cancel(live);
            }
        };
    }

    /** Tokenizes on a worker thread; a failure becomes the request's outcome. */
    private void tokenizeOnWorker(LiveRequest live) {
        try {
            if (!live.hasEnded()) {
                tokenizeAndSubmit(live);
            }
        } catch (RuntimeException | Error e) {
            boolean unused = manager.inFlight().endBeforeAdmission(live, RequestOutcome.failed(tokenizingFailedBy(e)));
        }
    }

    private static RoseException tokenizingFailedBy(Throwable e) {
        return switch (e) {
            case RoseException known -> known;
            case OutOfMemoryError full ->
                new InsufficientMemory(
                        "out of memory while tokenizing the prompt; give the JVM more (-Xmx), or submit less", full);
            default -> new EngineStopped("tokenizing a prompt failed: " + e, e);
        };
    }

    private void tokenizeAndSubmit(LiveRequest live) {
        int[] ids = tokenize(live.request());
        if (!live.hasEnded()) {
            live.request().constraints().grammar().ifPresent(grammar -> compile(grammar, live));
            live.tokenized(ids.length, clock.nanos());
            requests.on(new RequestEvent.Tokenized(live));
            manager.submit(live, ids);
        }
    }

    /**
     * Compiles a grammar and its first mask ahead of a request, which then finds them in the cache. May take seconds.
     * Thread-safe.
     *
     * @throws BadInput if the grammar exceeds a limit, has no text or names a special token that the model does not
     *     have, or the model has no tokenizer
     */
    public void compile(Grammar grammar) {
        CompiledGrammar compiled = compiled(Objects.requireNonNull(grammar, "grammar"));
        compiled.newCursor().mask(compiled.newMask());
    }

    private CompiledGrammar compiled(Grammar grammar) {
        return grammars.orElseThrow(() -> EngineLimits.noTokensForGrammar("the model"))
                .compile(grammar);
    }

    private void compile(Grammar grammar, LiveRequest live) {
        long startNanos = clock.nanos();
        CompiledGrammar compiled = compiled(grammar);
        live.setMasks(new GrammarMasks(new GrammarMasks.Terms(
                live,
                compiled,
                live.endTokens(spec()),
                live.constraints().allowed(),
                options.scheduler().drafter().maxTokens(),
                maskWorkers)));
        requests.on(new RequestEvent.GrammarCompiled(live, clock.nanos() - startNanos));
        maskWorkers.start();
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
     * @throws RoseException like {@link #submit}, or the cause if the request failed
     * @throws java.util.concurrent.CancellationException if the caller is interrupted; the request is ended and the
     *     interrupt status remains set
     */
    public Completion generate(GenerationRequest request) {
        try (TokenStream stream = submit(request)) {
            return stream.completion();
        }
    }

    /** Returns the sizes and structure of the served model. */
    public ModelSpec spec() {
        return runners.getFirst().spec();
    }

    /** Returns the tokenizer; empty if the engine handles only token ids. */
    public Optional<Tokenizer> tokenizer() {
        return tokenizer;
    }

    /** Returns the number of requests in flight, including those being tokenized. */
    int inflight() {
        return manager.inFlight().count();
    }

    /** Returns the load of each replica. */
    List<ReplicaLoad> loads() {
        return manager.loads();
    }

    /** Returns the engine's counters as of its last step. */
    public EngineStats stats() {
        return manager.stats(counters.snapshot());
    }

    /** Returns the number of replicas the engine was opened with. */
    public int replicas() {
        return runners.size();
    }

    /**
     * Returns the counters of each replica as of its last step, without request counts, which only the engine has.
     * Requests that wait for any replica are not included.
     */
    public List<EngineStats> replicaStats() {
        return manager.replicaStats();
    }

    /**
     * Returns why a replica failed; empty while it serves or after the engine was closed.
     *
     * @throws BadInput if there is no replica with this number
     */
    public Optional<RoseException> failure(int replica) {
        return manager.failure(requireReplica(replica));
    }

    private int requireReplica(int replica) {
        if (replica < 0 || replica >= runners.size()) {
            throw new BadInput("there is no replica " + replica + "; the engine has "
                    + (runners.size() == 1
                            ? "1 replica, number 0"
                            : runners.size() + " replicas, numbers 0 to " + (runners.size() - 1)));
        }
        return replica;
    }

    /**
     * Returns the records of the latest steps, oldest first: up to {@code stepHistory} of each replica, grouped by
     * replica. Does not block.
     */
    public List<StepRecord> steps() {
        return logs.stream().flatMap(log -> log.steps().stream()).toList();
    }

    /**
     * Returns consecutive records of one replica's steps, oldest first. Does not block.
     *
     * @param replica the replica's number
     * @param from number of the first step to return
     * @param max maximum records to return
     * @throws BadInput if there is no replica with this number
     */
    public List<StepRecord> steps(int replica, long from, int max) {
        return logs.get(requireReplica(replica)).steps(from, max);
    }

    /**
     * Ends every request in flight with CANCELLED and stops. May be called from any thread and repeatedly.
     *
     * @throws EngineStopped if the engine's thread does not end within two and a half minutes because a device or an
     *     observer blocks it; nothing is freed then, since that thread may still use it
     * @throws IllegalStateException if called from an action of {@link TokenStream#onDelivery} or on an engine's own
     *     thread, which cannot wait for itself
     */
    @Override
    public void close() {
        requireWaitable();
        manager.close();
        maskWorkers.stop();
        synchronized (closing) {
            if (!closed) {
                closed = true;
                afterClose.run();
            }
        }
    }

    /** Throws if the calling thread is one that the engine's threads may wait for. */
    private static void requireWaitable() {
        if (DeliveryThread.isCurrent()) {
            throw new IllegalStateException("close was called by an action of onDelivery or an observer, on the thread "
                    + Thread.currentThread().getName()
                    + ", which delivers tokens and cannot wait for itself; close the engine on another thread");
        }
    }

    /**
     * Returns whether {@link #close} has stopped the engine's threads, so that nothing uses its resources. Does not
     * block.
     */
    public boolean isClosed() {
        return closed;
    }

    /** Returns the maximum number of requests in flight. */
    public int maxInflightRequests() {
        return manager.inFlight().max();
    }

    /**
     * Returns the maximum tokens of a request, prompt and completion: the model's context or the capacity of the KV
     * pool.
     */
    public int maxRequestTokens() {
        return EngineLimits.maxRequestTokens(spec(), kv);
    }

    /**
     * Accepts no further requests, completes those in flight for at most {@code grace}, then closes. Requests still
     * running then end with CANCELLED. May be called from any thread and repeatedly; an interrupt does not end the wait.
     *
     * @param grace maximum time for the requests in flight; zero or less closes at once
     * @return whether every accepted request ended by itself: by its last token, a stop string, its deadline, its
     *     caller or its own failure. False if the time was too short, the engine failed, or it was closed concurrently
     * @throws EngineStopped like {@link #close()}
     * @throws IllegalStateException like {@link #close()}
     */
    public boolean close(Duration grace) {
        Objects.requireNonNull(grace, "grace");
        requireWaitable();
        try {
            manager.drain(grace);
        } finally {
            close();
        }
        return manager.hasCompletedAll();
    }
}
