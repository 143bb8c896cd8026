package io.roseinfer.server;

import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.engine.Engine;
import io.roseinfer.server.Api.Route;
import io.roseinfer.server.api.ChatPrompts;
import io.roseinfer.server.api.ChatReader;
import io.roseinfer.server.api.CompletionReader;
import io.roseinfer.server.http.HttpCall;
import io.roseinfer.server.http.HttpServer;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

/** Serves one engine over HTTP, as OpenAI's API has it. Closing the server does not close the engine. */
public final class Server implements AutoCloseable {
    /** What a client is told when the engine ends its stream takes no longer to write. */
    private static final Duration FAREWELL = Duration.ofSeconds(1);

    private static final String GET = "GET";
    private static final String POST = "POST";

    private final Engine engine;
    private final Door door;
    private final HttpServer http;

    private Server(Engine engine, Door door, HttpServer http) {
        this.engine = engine;
        this.door = door;
        this.http = http;
    }

    /**
     * Listens, and serves until it is drained or closed.
     *
     * @param metrics those whose observers the engine was opened with
     * @param time what answers are dated by
     * @throws io.roseinfer.base.RoseException.BadInput if the address cannot be had
     */
    public static Server start(
            Engine engine,
            ServerOptions options,
            ServerMetrics metrics,
            AccessLog log,
            Clock clock,
            InstantSource time) {
        Objects.requireNonNull(engine, "engine");
        Door door = new Door();
        Map<String, Route> routes = routes(engine, options, metrics, door, clock, time);
        Api api = new Api(routes, options.apiKey(), door, clock, exchange -> {
            count(exchange, routes, metrics);
            log.done(exchange);
        });
        HttpServer http = HttpServer.start(options.host(), options.port(), options.http(), clock, api);
        metrics.attach(engine, http::connections);
        return new Server(engine, door, http);
    }

    /** What a client makes up, a path or a method, is no label: there would be no end of them. */
    private static void count(Exchange exchange, Map<String, Route> routes, ServerMetrics metrics) {
        HttpCall call = exchange.call();
        Route route = routes.get(call.path());
        String method = route != null && route.method().equals(call.method()) ? call.method() : "other";
        metrics.called(route == null ? "none" : call.path(), method, exchange.status());
    }

    private static Map<String, Route> routes(
            Engine engine, ServerOptions options, ServerMetrics metrics, Door door, Clock clock, InstantSource time) {
        StateEndpoints state =
                new StateEndpoints(options, engine.spec(), door, time.instant().getEpochSecond());
        ChatPrompts chat = new ChatPrompts(options.model().chat(), engine.tokenizer(), time);
        TokenEndpoints tokens = new TokenEndpoints(options.modelName(), engine.spec(), engine.tokenizer(), chat);
        CompletionReader reader =
                new CompletionReader(options.model(), engine.spec(), engine.tokenizer(), options.requestTimeout());
        ChatReader chatReader = new ChatReader(
                options.model(), engine.spec(), engine.tokenizer(), options.requestTimeout(), engine.longest(), chat);
        DebugEndpoints debug = new DebugEndpoints(engine, clock, time);
        return Map.ofEntries(
                Map.entry(
                        "/v1/completions",
                        new Route(POST, false, new Completions(engine, reader, clock, time, door, metrics))),
                Map.entry(
                        "/v1/chat/completions",
                        new Route(POST, false, new Completions(engine, chatReader, clock, time, door, metrics))),
                Map.entry("/v1/models", new Route(GET, false, state::models)),
                Map.entry("/tokenize", new Route(POST, false, tokens::tokenize)),
                Map.entry("/detokenize", new Route(POST, false, tokens::detokenize)),
                Map.entry("/version", new Route(GET, false, state::version)),
                Map.entry("/metrics", new Route(GET, false, metrics::scrape)),
                Map.entry(
                        "/debug/requests",
                        new Route(GET, false, exchange -> metrics.inFlight().list(exchange, clock))),
                Map.entry("/debug/clock", new Route(GET, false, debug::clock)),
                Map.entry("/debug/steps", new Route(GET, false, debug::steps)),
                Map.entry("/health", new Route(GET, true, state::health)),
                Map.entry("/ping", new Route(GET, true, state::ping)),
                Map.entry("/", new Route(GET, true, state::page)));
    }

    /** Where it listens. */
    public InetSocketAddress address() {
        return http.address();
    }

    /** Connections that are open now. */
    int connections() {
        return http.connections();
    }

    /** Is completed with the reason when the engine dies; from then on every call is answered 503. */
    public CompletableFuture<EngineStopped> death() {
        return door.death().copy();
    }

    /**
     * Lets nothing new in, has what there is worked off for at most {@code grace}, ends the rest, tells its clients, and closes.
     * The engine is closed, too.
     *
     * @return whether everything was worked off in time
     */
    public boolean drain(Duration grace) throws InterruptedException {
        door.close();
        boolean worked = door.awaitEmpty(grace);
        engine.close();
        boolean unused = door.awaitEmpty(FAREWELL);
        close();
        return worked;
    }

    /** Cuts every connection and stops listening. */
    @Override
    public void close() {
        door.close();
        http.close();
    }
}
