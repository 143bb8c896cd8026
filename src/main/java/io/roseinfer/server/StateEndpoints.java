package io.roseinfer.server;

import io.roseinfer.base.StrictJson;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.server.Door.State;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Objects;
import tools.jackson.databind.node.ObjectNode;

/** What a client can ask about the server itself. */
final class StateEndpoints {
    private static final String PAGE_POLICY =
            "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline';"
                    + " connect-src 'self'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

    private static final byte[] PAGE = readPage();

    private final ServerOptions options;
    private final ModelSpec spec;
    private final Door door;
    private final long startedSeconds;

    StateEndpoints(ServerOptions options, ModelSpec spec, Door door, long startedSeconds) {
        this.options = options;
        this.spec = spec;
        this.door = door;
        this.startedSeconds = startedSeconds;
    }

    /** Whether to send requests here: 503 while the server drains and once the engine is dead. */
    void health(Exchange exchange) {
        door.requireOpen();
        exchange.send(200, "text/plain", new byte[0]);
    }

    /** Whether the process is worth keeping: 503 only once the engine is dead. */
    void ping(Exchange exchange) {
        if (door.state() == State.DEAD) {
            door.requireOpen();
        }
        exchange.send(200, "text/plain", new byte[0]);
    }

    /** The page for people. What it may load is itself alone. */
    void page(Exchange exchange) {
        exchange.header("Content-Security-Policy", PAGE_POLICY);
        exchange.header("X-Content-Type-Options", "nosniff");
        exchange.send(200, "text/html; charset=utf-8", PAGE);
    }

    private static byte[] readPage() {
        try (InputStream page = StateEndpoints.class.getResourceAsStream("page.html")) {
            return Objects.requireNonNull(page, "page.html is in the jar").readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException("page.html is in the jar", e);
        }
    }

    void version(Exchange exchange) {
        exchange.send(StrictJson.mapper().createObjectNode().put("version", options.version()));
    }

    void models(Exchange exchange) {
        ObjectNode list = StrictJson.mapper().createObjectNode();
        ObjectNode card = list.put("object", "list").putArray("data").addObject();
        card.put("id", options.modelName())
                .put("object", "model")
                .put("created", startedSeconds)
                .put("owned_by", "roseinfer")
                .put("root", options.modelName())
                .putNull("parent")
                .put("max_model_len", spec.contextLength());
        exchange.send(list);
    }
}
