package io.roseinfer.server;

import io.roseinfer.base.StrictJson;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.server.Api.Routes;
import io.roseinfer.server.RequestGate.State;
import io.roseinfer.server.api.ApiError;
import io.roseinfer.server.http.Reply;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import tools.jackson.databind.node.ObjectNode;

/** Endpoints about the server itself. */
final class StateEndpoints {
    private static final String PAGE_POLICY =
            "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline';"
                    + " connect-src 'self'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

    private static final byte[] PAGE = readPage();

    private final ServerOptions options;
    private final ModelSpec spec;
    private final RequestGate gate;
    private final long startedSeconds;

    StateEndpoints(ServerOptions options, ModelSpec spec, RequestGate gate, long startedSeconds) {
        this.options = options;
        this.spec = spec;
        this.gate = gate;
        this.startedSeconds = startedSeconds;
    }

    /**
     * Handles {@code /health}, whether to send requests here: 503 while the server drains and after the engine has failed.
     */
    Reply health(Exchange exchange) {
        gate.requireOpen();
        return exchange.reply(200, "text/plain", new byte[0]);
    }

    /** Handles {@code /ping}, whether to keep the process: 503 only after the engine has failed. */
    Reply ping(Exchange exchange) {
        if (gate.state() == State.FAILED) {
            gate.requireOpen();
        }
        return exchange.reply(200, "text/plain", new byte[0]);
    }

    /** Returns the page for browsers, which may load nothing but itself. */
    Reply page(Exchange exchange) {
        exchange.header("Content-Security-Policy", PAGE_POLICY);
        exchange.header("X-Content-Type-Options", "nosniff");
        return exchange.reply(200, "text/html; charset=utf-8", PAGE);
    }

    private static byte[] readPage() {
        try (InputStream page = StateEndpoints.class.getResourceAsStream("page.html")) {
            return Objects.requireNonNull(page, "page.html is in the jar").readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException("page.html is in the jar", e);
        }
    }

    Reply version(Exchange exchange) {
        return exchange.reply(StrictJson.mapper().createObjectNode().put("version", options.version()));
    }

    Reply models(Exchange exchange) {
        ObjectNode list = StrictJson.mapper().createObjectNode().put("object", "list");
        list.putArray("data").add(card());
        return exchange.reply(list);
    }

    /** Returns the card of the model that the rest of the path names. */
    Reply model(Exchange exchange) {
        String name = decoded(exchange.call().path().substring(Routes.MODELS.length()));
        if (!name.equals(options.modelName())) {
            throw ApiError.notServed(name, options.modelName());
        }
        return exchange.reply(card());
    }

    /** Returns a percent-decoded part of a path, or the part unchanged if it is malformed. */
    private static String decoded(String part) {
        try {
            return URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException malformed) {
            return part;
        }
    }

    private ObjectNode card() {
        return StrictJson.mapper()
                .createObjectNode()
                .put("id", options.modelName())
                .put("object", "model")
                .put("created", startedSeconds)
                .put("owned_by", "roseinfer")
                .put("root", options.modelName())
                .putNull("parent")
                .put("max_model_len", spec.contextLength());
    }
}
