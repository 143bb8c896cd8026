package io.roseinfer.bench.http;

import io.roseinfer.base.Clock;
import io.roseinfer.base.MachineClock;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.metrics.WritableStep;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/**
 * The offset of a server's monotonic clock to the local one. Both are the same clock within one boot of one machine. Otherwise the offset
 * is estimated by the fastest of several requests; half its round trip bounds the error (Cristian, 1989).
 *
 * @param bootId boot id of this machine; empty if unknown
 * @param offsetNanos server clock minus local clock, for another boot
 * @param boundNanos maximum error of the offset; negative if the offset is unknown
 */
record ServerClock(String bootId, long offsetNanos, long boundNanos) {
    private static final int QUESTIONS = 16;

    /** Returns a clock for servers on this machine only. */
    static ServerClock ofThisMachine() {
        return new ServerClock(MachineClock.bootId().orElse(""), 0, -1);
    }

    /** Returns the clock of a server. Unless it has the local boot id, it is requested; the offset is unknown if it does not respond. */
    static ServerClock of(String theirBoot, Endpoint endpoint, Clock clock) {
        ServerClock ours = ofThisMachine();
        if (ours.shift(theirBoot).isPresent()) {
            return ours;
        }
        long offset = 0;
        long best = Long.MAX_VALUE;
        for (int i = 0; i < QUESTIONS; i++) {
            long asked = clock.nanos();
            Optional<JsonNode> response = endpoint.get("/debug/clock");
            long answered = clock.nanos();
            long theirs =
                    response.map(node -> node.path("monotonic_ns").asLong(-1)).orElse(-1L);
            if (theirs < 0) {
                return ours;
            }
            if (answered - asked < best) {
                best = answered - asked;
                offset = theirs - (asked + (answered - asked) / 2);
            }
        }
        return new ServerClock(ours.bootId, offset, best / 2);
    }

    /** Returns the offset to subtract from the server's times; empty if unknown. */
    private OptionalLong shift(String theirBoot) {
        if (!bootId.isEmpty() && theirBoot.equals(bootId)) {
            return OptionalLong.of(0);
        }
        return boundNanos < 0 ? OptionalLong.empty() : OptionalLong.of(offsetNanos);
    }

    /** Converts the object {@code stamps} of a response with one choice to the local clock; empty if the offset is unknown. */
    Optional<ServerStamps> stamps(JsonNode stamps) {
        OptionalLong shift = shift(stamps.path("boot_id").asString(""));
        JsonNode choice = stamps.path("choices").path(0);
        if (shift.isEmpty() || !choice.isObject()) {
            return Optional.empty();
        }
        long by = shift.getAsLong();
        return Optional.of(new ServerStamps(
                time(stamps, "body_ns", by),
                time(stamps, "parsed_ns", by),
                time(stamps, "tokenized_ns", by),
                time(choice, "admitted_ns", by),
                times(choice, "sampled_ns", by),
                times(choice, "read_ns", by),
                times(choice, "written_ns", by),
                new ServerStamps.Served(
                        engine(stamps), choice.path("cached_tokens").asInt(-1))));
    }

    /** Returns the engine that served a request. */
    static int engine(JsonNode stamps) {
        return stamps.path("choices").path(0).path("engine").asInt(0);
    }

    private static long time(JsonNode node, String name, long by) {
        JsonNode value = node.path(name);
        return value.isIntegralNumber() ? value.longValue() - by : ServerStamps.UNKNOWN;
    }

    private static long[] times(JsonNode node, String name, long by) {
        return node.path(name)
                .valueStream()
                .mapToLong(value -> value.asLong() - by)
                .toArray();
    }

    /** Requests the steps that the server still has of an engine, on the local clock, oldest first; empty if it has no such endpoint. */
    List<StepRecord> steps(Endpoint endpoint, int engine, String theirBoot) {
        OptionalLong shift = shift(theirBoot);
        List<StepRecord> steps = new ArrayList<>();
        long next = 0;
        while (shift.isPresent()) {
            Optional<JsonNode> response = endpoint.get("/debug/steps?limit=4096&engine=" + engine + "&from=" + next);
            JsonNode data = response.map(node -> node.path("data")).orElse(MissingNode.getInstance());
            if (data.isEmpty()) {
                break;
            }
            data.forEach(node -> steps.add(step(node, shift.getAsLong())));
            next = response.get().path("next").asLong(next + data.size());
        }
        return steps;
    }

    private static StepRecord step(JsonNode node, long by) {
        WritableStep step = new WritableStep();
        for (Fact fact : Fact.values()) {
            step.set(fact, node.path(fact.apiKey()).asLong(0) - (fact == Fact.START_NANOS ? by : 0));
        }
        return step;
    }
}
