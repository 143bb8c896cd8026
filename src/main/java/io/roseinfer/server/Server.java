package io.roseinfer.server;

import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.engine.Engine;
import io.roseinfer.server.Api.Route;
import io.roseinfer.server.Api.Routes;
import io.roseinfer.server.Api.State;
import io.roseinfer.server.Api.Work;
import io.roseinfer.server.api.CallLimits;
import io.roseinfer.server.api.ChatPrompts;
import io.roseinfer.server.api.ChatReader;
import io.roseinfer.server.api.CompletionReader;
import io.roseinfer.server.api.ResponsesReader;
import io.roseinfer.server.http.HttpCall;
import io.roseinfer.server.http.HttpServer;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** An OpenAI-compatible HTTP server for one engine. Closing the server does not close the engine. */
public final class Server implements AutoCloseable {
    /** Maximum time to write the errors of requests that the engine's end has terminated; a busy machine needs seconds. */
    private static final Duration ERROR_GRACE = Duration.ofSeconds(5);

    private final Engine engine;
    private final RequestGate gate;
    private final HttpServer http;
    private final Threads threads;

    /** The platform threads for work on bodies, and for state endpoints that take longer. */
    private record Threads(PromptWorkers prompts, ExecutorService state) {
        static Threads start(ServerOptions options) {
            int prompts = PromptWorkers.count(
                    Runtime.getRuntime().availableProcessors(),
                    Runtime.getRuntime().maxMemory(),
                    options.http().bodyBytes());
            return new Threads(
                    new PromptWorkers(prompts),
                    Executors.newSingleThreadExecutor(
                            Thread.ofPlatform().name("roseinfer-state").daemon().factory()));
        }

        void stop() {
            prompts.close();
            List<Runnable> unused = state.shutdownNow();
        }
    }

    private Server(Engine engine, RequestGate gate, HttpServer http, Threads threads) {
        this.engine = engine;
        this.gate = gate;
        this.http = http;
        this.threads = threads;
    }

    /**
     * Starts a server, which serves until it is drained or closed.
     *
     * @param metrics the metrics whose observers the engine was opened with
     * @param time the time of responses
     * @throws io.roseinfer.base.RoseException.AddressInUse if another process uses the address
     * @throws io.roseinfer.base.RoseException.BadInput if it cannot listen on the address
     */
    public static Server start(
            Engine engine,
            ServerOptions options,
            ServerMetrics metrics,
            AccessLog log,
            Clock clock,
            InstantSource time) {
        Objects.requireNonNull(engine, "engine");
        RequestGate gate = new RequestGate();
        Threads threads = Threads.start(options);
        boolean listens = false;
        try {
            Routes routes = routes(engine, options, metrics, gate, clock, time, threads.prompts());
            FailureLog failures = new FailureLog(log, clock);
            IgnoredFields ignored = IgnoredFields.toLogger();
            Api api = new Api(routes, options.apiKey(), gate, threads.state(), clock, time, failures, exchange -> {
                count(exchange, routes, metrics);
                exchange.served().ifPresent(served -> ignored.log(served.call().ignored()));
                log.done(exchange);
            });
            HttpServer http = HttpServer.start(options.host(), options.port(), options.http(), clock, api);
            listens = true;
            metrics.attach(engine, options.version(), http::connections, http::rejectedConnections);
            return new Server(engine, gate, http, threads);
        } finally {
            if (!listens) {
                threads.stop();
            }
        }
    }

    /** Counts a call. Unknown paths and methods share a label, so that clients cannot create unlimited labels. */
    private static void count(Exchange exchange, Routes routes, ServerMetrics metrics) {
        HttpCall call = exchange.call();
        boolean known = routes.find(call.path())
                .filter(route -> Api.isAllowed(route, call.method()))
                .isPresent();
        metrics.called(routes.label(call.path()), known ? call.method() : "other", exchange.status());
    }

    private static Routes routes(
            Engine engine,
            ServerOptions options,
            ServerMetrics metrics,
            RequestGate gate,
            Clock clock,
            InstantSource time,
            PromptWorkers workers) {
        StateEndpoints state =
                new StateEndpoints(options, engine.spec(), gate, time.instant().getEpochSecond());
        ChatPrompts chat = new ChatPrompts(options.model(), engine.tokenizer(), time);
        TokenEndpoints tokens = new TokenEndpoints(options, engine.spec(), engine.tokenizer(), chat, workers);
        CallLimits limits = options.callLimits().withTokens(engine.maxRequestTokens());
        CompletionReader reader = new CompletionReader(options.model(), engine.spec(), engine.tokenizer(), limits);
        ChatReader chatReader = new ChatReader(options.model(), engine.spec(), engine.tokenizer(), limits, chat);
        ResponsesReader responses =
                new ResponsesReader(options.model(), engine.spec(), engine.tokenizer(), limits, chat);
        LogprobBudget logprobs = new LogprobBudget(options.logprobBytes());
        DebugEndpoints debug = new DebugEndpoints(engine, clock, time);
        Map<String, Route> exact = Map.ofEntries(
                Map.entry(
                        "/v1/completions",
                        new Work(
                                new Completions(engine, reader, clock, time, gate, metrics, workers, logprobs)
                                        ::answer)),
                Map.entry(
                        "/v1/chat/completions",
                        new Work(
                                new Completions(engine, chatReader, clock, time, gate, metrics, workers, logprobs)
                                        ::answer)),
                Map.entry(
                        "/v1/responses",
                        new Work(
                                new Completions(engine, responses, clock, time, gate, metrics, workers, logprobs)
                                        ::answer)),
                Map.entry("/tokenize", new Work(tokens::tokenize)),
                Map.entry("/detokenize", new Work(tokens::detokenize)),
                Map.entry("/v1/models", new State(false, true, state::models)),
                Map.entry("/version", new State(false, true, state::version)),
                Map.entry("/metrics", new State(false, false, metrics::scrape)),
                Map.entry(
                        "/debug/requests",
                        new State(false, false, exchange -> metrics.inFlight().list(exchange, clock))),
                Map.entry("/debug/clock", new State(false, true, debug::clock)),
                Map.entry("/debug/steps", new State(false, false, debug::steps)),
                Map.entry("/health", new State(true, true, state::health)),
                Map.entry("/ping", new State(true, true, state::ping)),
                Map.entry("/", new State(true, true, state::page)));
        return new Routes(exact, new State(false, true, state::model));
    }

    /** Returns the address it listens on. */
    public InetSocketAddress address() {
        return http.address();
    }

    /** Returns the number of open connections. */
    int connections() {
        return http.connections();
    }

    /**
     * Returns a future that completes with the reason when the engine fails; from then on every call is answered 503.
     */
    public CompletableFuture<EngineStopped> failure() {
        return gate.failure().copy();
    }

    /** Returns the number of calls for completions or tokens that are not answered yet. */
    public int callsInFlight() {
        return gate.inside();
    }

    /**
     * Rejects new requests, waits up to {@code grace} for those in flight, ends the rest with an error, and closes. The
     * engine is closed, too.
     *
     * @return the number of calls that were not answered in time
     */
    public int drain(Duration grace) throws InterruptedException {
        gate.close();
        int unfinished = gate.awaitEmpty(grace);
        engine.close();
        int unused = gate.awaitEmpty(ERROR_GRACE);
        close();
        return unfinished;
    }

    /** Closes every connection and stops listening. */
    @Override
    public void close() {
        gate.cut();
        threads.prompts().close();
        http.close();
        threads.stop();
    }
}
