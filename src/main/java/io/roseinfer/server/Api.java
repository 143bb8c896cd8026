package io.roseinfer.server;

import io.roseinfer.base.Clock;
import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.server.api.ApiError;
import io.roseinfer.server.http.HttpCall;
import io.roseinfer.server.http.HttpHandler;
import io.roseinfer.server.http.Reply;
import io.roseinfer.server.http.Response;
import io.roseinfer.server.http.Response.ClientGone;
import java.time.InstantSource;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Routes requests to endpoints, and sends error responses. Requests that can be answered from their headers alone get
 * no thread of their own.
 */
final class Api implements HttpHandler {
    /** The handler of a path. */
    sealed interface Route {
        /** Returns the supported methods, as the header {@code Allow} lists them. */
        String methods();
    }

    /**
     * State of the server, for GET and HEAD.
     *
     * @param open whether it is served without a key
     * @param quick whether it is computed on the connection's thread; otherwise on the executor for state
     * @param endpoint returns the response without waiting; a thrown {@link ApiError} becomes the response
     */
    record State(boolean open, boolean quick, Function<Exchange, Reply> endpoint) implements Route {
        @Override
        public String methods() {
            return "GET, HEAD";
        }
    }

    /**
     * Work on a body, for POST.
     *
     * @param endpoint sends the response; a thrown {@link ApiError} becomes the response
     */
    record Work(BiConsumer<Exchange, Response> endpoint) implements Route {
        @Override
        public String methods() {
            return "POST";
        }
    }

    /** The status logged for a client that has disconnected; it is never sent. */
    static final int CLIENT_GONE = 499;

    /** Paths that are also served beyond the maximum of connections: for supervisors and Prometheus. */
    static final Set<String> PROBES = Set.of("/health", "/ping", "/metrics");

    /** Paths whose 503 is an answer: supervisors ask them whether the server serves. */
    static final Set<String> SUPERVISED = Set.of("/health", "/ping");

    private static final System.Logger LOGGER = System.getLogger("io.roseinfer.server");

    private final Routes routes;
    private final Optional<ApiKey> key;
    private final RequestGate gate;
    private final Executor state;
    private final Clock clock;
    private final InstantSource time;
    private final Consumer<Exchange> done;
    private final FailureLog failures;

    /** The endpoints by path; {@code models} serves the paths below {@code /v1/models/}. */
    record Routes(Map<String, Route> exact, Route models) {
        static final String MODELS = "/v1/models/";

        Optional<Route> find(String path) {
            Route route = exact.get(path);
            return Optional.ofNullable(route == null && path.startsWith(MODELS) ? models : route);
        }

        /**
         * Returns the label of a path in metrics. Unknown paths have one label, so that clients cannot create unlimited
         * labels.
         */
        String label(String path) {
            return exact.containsKey(path) ? path : path.startsWith(MODELS) ? MODELS + "{id}" : "none";
        }
    }

    /**
     * Creates the handler of one server.
     *
     * @param state runs endpoints that take too long for a connection's thread
     * @param time the time of responses
     * @param failures receives each request that an endpoint has answered, before {@code done}
     * @param done receives each request once it is answered
     */
    Api(
            Routes routes,
            Optional<ApiKey> key,
            RequestGate gate,
            Executor state,
            Clock clock,
            InstantSource time,
            FailureLog failures,
            Consumer<Exchange> done) {
        this.routes = routes;
        this.key = key;
        this.gate = gate;
        this.state = state;
        this.clock = clock;
        this.time = time;
        this.done = done;
        this.failures = failures;
    }

    private Exchange exchange(HttpCall call) {
        return new Exchange(call, clock.nanos(), time);
    }

    @Override
    public Reply refusal(HttpCall head, int status, String message) {
        ApiError error =
                switch (status) {
                    case 408 -> ApiError.of(status, "RequestTimeoutError", message);
                    case 503 -> ApiError.unavailable(message);
                    default -> ApiError.of(status, "BadRequestError", message);
                };
        return answered(exchange(head), error);
    }

    @Override
    public Optional<Supplier<CompletionStage<Reply>>> atHead(HttpCall head) {
        Route route;
        try {
            route = route(head);
        } catch (ApiError refused) {
            return Optional.of(() -> CompletableFuture.completedStage(answered(exchange(head), refused)));
        }
        return switch (route) {
            case Work work -> Optional.empty();
            case State at ->
                Optional.of(() -> CompletableFuture.supplyAsync(
                        () -> answer(head, at.endpoint()), at.quick() ? Runnable::run : state));
        };
    }

    @Override
    public boolean isProbe(HttpCall head) {
        return PROBES.contains(head.path());
    }

    private Reply answered(Exchange exchange, ApiError error) {
        Reply reply = exchange.error(error);
        done.accept(exchange);
        return reply;
    }

    private Reply answer(HttpCall head, Function<Exchange, Reply> endpoint) {
        Exchange exchange = exchange(head);
        try {
            Reply reply = endpoint.apply(exchange);
            done.accept(exchange);
            return reply;
        } catch (RuntimeException | StackOverflowError | OutOfMemoryError failure) {
            Reply reply = answered(exchange, error(failure, exchange));
            failures.done(exchange);
            return reply;
        }
    }

    @Override
    public void handle(HttpCall call, Response response) {
        Exchange exchange = exchange(call);
        gate.enter();
        try {
            work(exchange, response);
        } catch (ClientGone gone) {
            exchange.gone(CLIENT_GONE, gate.hasCut() ? "the server is shutting down" : message(gone));
            response.abort();
        } finally {
            end(exchange);
        }
    }

    /** Logs and counts a call before it leaves, so that a server that drains closes after both. */
    private void end(Exchange exchange) {
        try {
            failures.done(exchange);
            done.accept(exchange);
        } finally {
            gate.leave();
        }
    }

    private static String message(ClientGone gone) {
        return Objects.requireNonNull(gone.getMessage());
    }

    private void work(Exchange exchange, Response response) {
        try {
            if (route(exchange.call()) instanceof Work work) {
                work.endpoint().accept(exchange, response);
            }
        } catch (ClientGone gone) {
            throw gone;
        } catch (RuntimeException | StackOverflowError | OutOfMemoryError failure) {
            exchange.fail(error(failure, exchange), response);
        }
    }

    /**
     * Returns the error to send for a failure. An unexpected failure is logged with its stack trace, which is not sent.
     */
    private ApiError error(Throwable failure, Exchange exchange) {
        return switch (failure) {
            case ApiError error -> error;
            case EngineStopped stopped -> {
                gate.engineStopped(stopped);
                yield ApiError.of(stopped);
            }
            case RoseException known -> ApiError.of(known);
            case OutOfMemoryError full ->
                ApiError.unavailable("not enough memory for this request; send a smaller one, or raise -Xmx");
            default -> {
                LOGGER.log(System.Logger.Level.ERROR, "unexpected failure of a request" + named(exchange), failure);
                yield ApiError.of(
                        500,
                        "InternalServerError",
                        "unexpected " + failure.getClass().getSimpleName());
            }
        };
    }

    /** Returns the end of a message with the request's id. */
    static String named(Exchange exchange) {
        return ", with id '" + exchange.requestId() + "'";
    }

    private Route route(HttpCall call) {
        Optional<Route> found = routes.find(call.path());
        boolean open =
                found.filter(route -> route instanceof State at && at.open()).isPresent();
        if (key.isPresent() && !open) {
            requireKey(key.get(), call);
        }
        Route route = found.orElseThrow(
                () -> ApiError.of(404, "NotFoundError", "no endpoint at " + Quoted.value(call.path())));
        if (!isAllowed(route, call.method())) {
            throw ApiError.of(
                            405,
                            "MethodNotAllowedError",
                            Quoted.value(call.path()) + " supports " + route.methods() + ", not "
                                    + Quoted.value(call.method()))
                    .withHeader("Allow", route.methods());
        }
        if (route instanceof Work) {
            requirePlainBody(call);
        }
        return route;
    }

    private static void requirePlainBody(HttpCall call) {
        call.header("content-encoding")
                .filter(encoding -> !encoding.equalsIgnoreCase("identity"))
                .ifPresent(encoding -> {
                    throw ApiError.badRequest(
                            "Content-Encoding is " + Quoted.value(encoding) + "; send the body without compression");
                });
    }

    /** Returns whether a route supports a method. */
    static boolean isAllowed(Route route, String method) {
        return switch (route) {
            case State at -> method.equals("GET") || method.equals("HEAD");
            case Work work -> method.equals("POST");
        };
    }

    private static void requireKey(ApiKey key, HttpCall call) {
        if (!call.header("authorization").map(key::matches).orElse(false)) {
            throw ApiError.of(
                            401,
                            "AuthenticationError",
                            "missing or invalid API key; send the header Authorization: Bearer KEY")
                    .withHeader("WWW-Authenticate", "Bearer");
        }
    }
}
