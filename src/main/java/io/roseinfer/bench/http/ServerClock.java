package io.roseinfer.bench.http;

import io.roseinfer.base.Clock;
import io.roseinfer.base.MachineClock;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/**
 * How a server's monotonic clock stands to ours. Within one boot of one machine it is the same clock; elsewhere the offset is that of the
 * quickest of several questions, and half their round trip bounds its error (Cristian, 1989).
 *
 * @param bootId the machine's boot; empty where there is none
 * @param offsetNanos theirs minus ours, where the boot is another one
 * @param boundNanos how far off that may be; negative if nobody knows the offset
 */
record ServerClock(String bootId, long offsetNanos, long boundNanos) {
    private static final int QUESTIONS = 16;

    /** The clock of servers on this machine alone. */
    static ServerClock ofThisMachine() {
        return new ServerClock(MachineClock.bootId().orElse(""), 0, -1);
    }

    /** The clock of a server of some boot, which is asked for it unless the boot is ours; unknown if it does not answer. */
    static ServerClock of(String theirBoot, Endpoint endpoint, Clock clock) {
        ServerClock ours = ofThisMachine();
        if (ours.shift(theirBoot).isPresent()) {
            return ours;
        }
        long offset = 0;
        long best = Long.MAX_VALUE;
        for (int i = 0; i < QUESTIONS; i++) {
            long asked = clock.nanos();
            Optional<JsonNode> answer = endpoint.get("/debug/clock");
            long answered = clock.nanos();
            long theirs =
                    answer.map(node -> node.path("monotonic_ns").asLong(-1)).orElse(-1L);
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

    /** What is to be taken from the server's times to have ours; empty if nobody knows. */
    private OptionalLong shift(String theirBoot) {
        if (!bootId.isEmpty() && theirBoot.equals(bootId)) {
            return OptionalLong.of(0);
        }
        return boundNanos < 0 ? OptionalLong.empty() : OptionalLong.of(offsetNanos);
    }

    /** The object {@code stamps} of an answer with one choice, on our clock; empty if it cannot be known. */
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

    /** Which engine served a request. */
    static int engine(JsonNode stamps) {
        return stamps.path("choices").path(0).path("engine").asInt(0);
    }

    private static long time(JsonNode node, String name, long by) {
        JsonNode value = node.path(name);
        return value.isIntegralNumber() ? value.longValue() - by : ServerStamps.UNKNOWN;
    }

    private static List<Long> times(JsonNode node, String name, long by) {
        return node.path(name).valueStream().map(value -> value.asLong() - by).toList();
    }

    /** An engine's steps that the server still has, on our clock, oldest first; none if it does not tell. */
    List<StepRecord> steps(Endpoint endpoint, int engine, String theirBoot) {
        OptionalLong shift = shift(theirBoot);
        List<StepRecord> steps = new ArrayList<>();
        long next = 0;
        while (shift.isPresent()) {
            Optional<JsonNode> answer = endpoint.get("/debug/steps?limit=4096&engine=" + engine + "&from=" + next);
            JsonNode data = answer.map(node -> node.path("data")).orElse(MissingNode.getInstance());
            if (data.isEmpty()) {
                break;
            }
            data.forEach(node -> steps.add(step(node, shift.getAsLong())));
            next = answer.get().path("next").asLong(next + data.size());
        }
        return steps;
    }

    private static StepRecord step(JsonNode node, long by) {
        StepRecord step = new StepRecord();
        for (Fact fact : Fact.values()) {
            step.set(fact, node.path(fact.key()).asLong(0) - (fact == Fact.START_NANOS ? by : 0));
        }
        return step;
    }
}
