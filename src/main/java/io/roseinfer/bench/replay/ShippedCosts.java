package io.roseinfer.bench.replay;

import io.roseinfer.base.StrictJson;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * The built-in step costs, fitted to recorded runs of one model on one GPU. The resource {@code costs.json}:
 *
 * <pre>
 * gpu, driver, jdk, commit     the environment of the recording
 * model, dtype                 the recorded model
 * commands[]                   the commands of the recorded runs
 * in_flight, kv_blocks         steps in flight, blocks of the pool
 * decode                       {rows[], nanos[]}: the curve of steps that only decode
 * decode_per_attended          nanoseconds per attended position
 * other                        {tokens[], nanos[]}: the curve of all other steps
 * other_per_row, other_per_attended
 * range                        {min_decode_rows, max_decode_rows, min_tokens, max_tokens}: the smallest and largest steps
 * turn, wake, arriving, first, later
 *                              median nanoseconds outside of steps, as in {@link HostTimes}
 * </pre>
 */
public final class ShippedCosts {
    private static final String RESOURCE = "costs.json";

    private ShippedCosts() {}

    private static JsonNode read() {
        try (InputStream in = Objects.requireNonNull(ShippedCosts.class.getResourceAsStream(RESOURCE), RESOURCE)) {
            return StrictJson.parse(in.readAllBytes());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the model of the costs as a value of {@code --model}. */
    public static String model() {
        return read().path("model").asString("");
    }

    /** Returns whether the costs apply to a value of {@code --model}. */
    public static boolean isOf(String model) {
        return shape(model).equals(shape(model()));
    }

    private static String shape(String model) {
        return model.replaceFirst(".*[:/]", "").toLowerCase(Locale.ROOT);
    }

    /** Loads the costs. */
    public static StepCosts load() {
        return of(read());
    }

    static StepCosts of(JsonNode root) {
        JsonNode range = root.path("range");
        CostTable costs = new CostTable(
                curve(root.path("decode"), "rows"),
                root.path("decode_per_attended").asDouble(),
                curve(root.path("other"), "tokens"),
                root.path("other_per_row").asDouble(),
                root.path("other_per_attended").asDouble(),
                new StepRange(
                        range.path("min_decode_rows").asInt(),
                        range.path("max_decode_rows").asInt(),
                        range.path("min_tokens").asInt(),
                        range.path("max_tokens").asInt()));
        HostTimes host = new HostTimes(
                root.path("turn").asLong(),
                root.path("wake").asLong(),
                List.of(root.path("arriving").asLong()),
                List.of(root.path("first").asLong()),
                List.of(root.path("later").asLong()));
        String source = "costs: " + root.path("gpu").asString("") + ", "
                + root.path("model").asString("").replaceFirst("^random:", "") + " in "
                + root.path("dtype").asString("") + ", not this machine";
        return new StepCosts(
                source,
                new StepTimes(costs, Pace.EVEN, host),
                Optional.empty(),
                root.path("in_flight").asInt(1),
                root.path("kv_blocks").asInt(0));
    }

    private static Curve curve(JsonNode node, String x) {
        return new Curve(numbers(node.path(x)), numbers(node.path("nanos")));
    }

    private static List<Double> numbers(JsonNode list) {
        return list.valueStream().map(JsonNode::doubleValue).toList();
    }
}
