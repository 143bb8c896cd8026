package io.roseinfer.server;

import io.roseinfer.base.Clock;
import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.server.api.ApiError;
import io.roseinfer.server.http.HttpCall;
import io.roseinfer.server.http.HttpHandler;
import io.roseinfer.server.http.Reply;
import io.roseinfer.server.http.ResponseWriter;
import io.roseinfer.server.http.ResponseWriter.ClientGone;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** Finds who answers a call, and answers errors itself. */
final class Api implements HttpHandler {
    /** A path's method and who answers there. {@code open} ones need no key. */
    record Route(String method, boolean open, Endpoint endpoint) {}

    /** What is logged of a client that has left; no answer ever has it. */
    static final int CLIENT_GONE = 499;

    private final Map<String, Route> routes;
    private final Optional<ApiKey> key;
    private final Door door;
    private final Clock clock;
    private final Consumer<Exchange> done;

    /**
     * The routes behind one door.
     *
     * @param done is told of each call once it is over
     */
    Api(Map<String, Route> routes, Optional<ApiKey> key, Door door, Clock clock, Consumer<Exchange> done) {
        this.routes = routes;
        this.key = key;
        this.door = door;
        this.clock = clock;
        this.done = done;
    }

    @Override
    public Reply refusal(int status, String message) {
        return new Reply(
                status,
                Map.of("Content-Type", "application/json", "X-Request-Id", Exchange.newId()),
                ApiError.of(status, "BadRequestError", message).body());
    }

    @Override
    public void handle(HttpCall call, ResponseWriter response) {
        Exchange exchange = new Exchange(call, response, clock.nanos());
        door.enter();
        try {
            answer(exchange);
        } catch (ClientGone gone) {
            exchange.gone(CLIENT_GONE);
            response.abort();
        } finally {
            door.leave();
            done.accept(exchange);
        }
    }

    private void answer(Exchange exchange) {
        try {
            route(exchange).endpoint().answer(exchange);
        } catch (ApiError error) {
            exchange.fail(error);
        } catch (ClientGone gone) {
            throw gone;
        } catch (RoseException failure) {
            if (failure instanceof EngineStopped stopped) {
                door.engineStopped(stopped);
            }
            exchange.fail(ApiError.of(failure));
        } catch (RuntimeException | StackOverflowError | OutOfMemoryError bug) {
            exchange.fail(ApiError.of(
                    500, "InternalServerError", "unexpected " + bug.getClass().getSimpleName()));
        }
    }

    private Route route(Exchange exchange) {
        HttpCall call = exchange.call();
        Route route = routes.get(call.path());
        if (key.isPresent() && (route == null || !route.open())) {
            requireKey(key.get(), call);
        }
        if (route == null) {
            throw ApiError.of(404, "NotFoundError", "there is nothing at " + Quoted.value(call.path()));
        }
        if (!route.method().equals(call.method())) {
            throw ApiError.of(
                            405,
                            "MethodNotAllowedError",
                            call.path() + " takes " + route.method() + ", not " + Quoted.value(call.method()))
                    .withHeader("Allow", route.method());
        }
        return route;
    }

    private static void requireKey(ApiKey key, HttpCall call) {
        if (!call.header("authorization").map(key::opens).orElse(false)) {
            throw ApiError.of(
                            401,
                            "AuthenticationError",
                            "no API key, or a wrong one; send the header Authorization: Bearer KEY")
                    .withHeader("WWW-Authenticate", "Bearer");
        }
    }
}
