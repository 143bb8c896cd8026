package io.roseinfer.server;

import io.roseinfer.base.Clock;
import io.roseinfer.base.MachineClock;
import io.roseinfer.base.Quoted;
import io.roseinfer.base.StrictJson;
import io.roseinfer.engine.Engine;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.server.api.ApiError;
import io.roseinfer.server.http.HttpCall;
import io.roseinfer.server.http.Reply;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Endpoints that put a call's timestamps into context: their clock, and the engine's steps. */
final class DebugEndpoints {
    private static final int MAX_STEPS = 4096;
    private static final int STEPS = 1024;
    private static final List<String> PARAMETERS = List.of("engine", "from", "limit");

    private final Engine engine;
    private final Clock clock;
    private final InstantSource time;

    DebugEndpoints(Engine engine, Clock clock, InstantSource time) {
        this.engine = engine;
        this.clock = clock;
        this.time = time;
    }

    /** Handles {@code GET /debug/clock}: the clock of the timestamps, and the time of day at the same moment. */
    Reply clock(Exchange exchange) {
        Instant now = time.instant();
        return exchange.reply(StrictJson.mapper()
                .createObjectNode()
                .put("boot_id", MachineClock.bootId().orElse(null))
                .put("monotonic_ns", clock.nanos())
                .put(
                        "wall_ns",
                        Math.addExact(Math.multiplyExact(now.getEpochSecond(), 1_000_000_000L), now.getNano())));
    }

    /** Handles {@code GET /debug/steps}: the retained records of an engine's steps from a number on, oldest first. */
    Reply steps(Exchange exchange) {
        Map<String, Long> query = query(exchange.call());
        long from = query.getOrDefault("from", 0L);
        long limit = query.getOrDefault("limit", (long) STEPS);
        if (limit < 1 || limit > MAX_STEPS) {
            throw ApiError.badField("limit", "limit is " + limit + "; it must be 1 to " + MAX_STEPS);
        }
        int engines = engine.replicaStats().size();
        long replica = query.getOrDefault("engine", 0L);
        if (replica >= engines) {
            throw ApiError.badField("engine", "engine is " + replica + "; it must be 0 to " + (engines - 1) + "");
        }
        List<StepRecord> steps = engine.steps((int) replica, from, (int) limit);
        ObjectNode list = StrictJson.mapper().createObjectNode().put("object", "list");
        list.put("engines", engines);
        list.put("next", steps.isEmpty() ? from : steps.getLast().get(Fact.STEP) + 1);
        ArrayNode data = list.putArray("data");
        for (StepRecord step : steps) {
            ObjectNode node = data.addObject();
            for (Fact fact : Fact.values()) {
                node.put(fact.apiKey(), step.get(fact));
            }
        }
        return exchange.reply(list);
    }

    private static Map<String, Long> query(HttpCall call) {
        Map<String, Long> values = new TreeMap<>();
        if (call.query().isEmpty()) {
            return values;
        }
        for (String pair : call.query().split("&", -1)) {
            String name = pair.substring(0, Math.max(0, pair.indexOf('=')));
            String value = pair.substring(pair.indexOf('=') + 1);
            if (!PARAMETERS.contains(name)) {
                throw ApiError.badRequest("the query has " + Quoted.value(pair)
                        + "; supported are engine=NUMBER, from=NUMBER and limit=NUMBER");
            }
            if (!value.matches("[0-9]{1,18}")) {
                throw ApiError.badField(
                        name, name + " is " + Quoted.value(value) + "; it must be a non-negative integer");
            }
            values.put(name, Long.parseLong(value));
        }
        return values;
    }
}
