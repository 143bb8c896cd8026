package io.roseinfer.bench.replay;

import io.roseinfer.base.StrictJson;
import io.roseinfer.bench.report.Environment;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/**
 * The built-in step costs, each fitted to recorded runs of one model on one device. The resource {@code costs/names.txt} has a
 * name per line, and {@code costs/NAME.json}:
 *
 * <pre>
 * gpu, driver, jdk, commit     the environment of the recording; cpu instead of gpu and driver
 * date                         day of the recording
 * model, model_shape, dtype    the recorded model
 * note                         how values were derived that the recordings lack; may be absent
 * validation                   {largest_error_percent{ttft, tpot, itl, e2el}, of, max_batch_size[least, largest],
 *                              busiest{requests, waiting}, longest{prompt_tokens, output_tokens} if known, flags[], covers[][], commit, date,
 *                              command}: the largest difference of predictions from real runs, of each metric that these runs
 *                              measured, in which runs,
 *                              {@link StepCosts.Validation#batches}, an {@link EngineLoad}, {@link StepCosts.Validation#flags},
 *                              {@link StepCosts.Validation#covered}, and the command that compares them; absent if they were not
 *                              compared
 * commands[]                   the commands of the recorded runs
 * in_flight, kv_blocks         steps in flight, blocks of the pool
 * decode                       {rows[], nanos[]}: the curve of steps that only decode
 * decode_attention             {rows[], per_position[], per_longest[], exponent} of {@link DecodeAttention}
 * other                        {tokens[], nanos[]}: the curve of steps of prompts alone
 * other_per_row, other_per_attended, other_per_past
 * mixed                        {tokens[], nanos[]}: the curve of steps of prompts and decode rows; absent if they were not measured
 * mixed_per_row, mixed_per_attended, mixed_per_past, mixed_attention; a missing per_past is 0
 * range                        {decode, prompts, mixed, max_context} of {@link StepRange}; a kind is {min_tokens, largest[][tokens, KV
 *                              tokens]}, for prompts {min_tokens, max_tokens}
 * turn, wake                   median nanoseconds outside of steps, as in {@link HostTimes}
 * arriving, first, later       the same, or quantiles to draw from
 * </pre>
 */
public final class ShippedCosts {
    private ShippedCosts() {}

    /** Returns the names; the first one is the default. */
    public static List<String> names() {
        return new String(bytes("names.txt"), StandardCharsets.UTF_8).lines().toList();
    }

    private static JsonNode read(String name) {
        return StrictJson.parse(bytes(name + ".json"));
    }

    private static byte[] bytes(String file) {
        String resource = "costs/" + file;
        try (InputStream in = Objects.requireNonNull(ShippedCosts.class.getResourceAsStream(resource), resource)) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the model of the costs with a name, as a value of {@code --model}. */
    public static String model(String name) {
        return model(read(name)).name();
    }

    private static RecordedModel model(JsonNode root) {
        return new RecordedModel(
                root.path("model").asString(""), root.path("model_shape").asString(""));
    }

    /** Returns the first costs for a value of {@code --model}, or empty if there are none. */
    public static Optional<String> nameFor(String model) {
        return names().stream().filter(name -> model(read(name)).isNamed(model)).findFirst();
    }

    /** Loads the costs with a name. */
    public static StepCosts load(String name) {
        return of(read(name));
    }

    static StepCosts of(JsonNode root) {
        JsonNode range = root.path("range");
        CostTable costs = new CostTable(
                new CostTable.Formula(
                        curve(root.path("decode"), "rows"), 0, 0, 0, attention(root.path("decode_attention"))),
                formula(root, "other"),
                root.has("mixed") ? Optional.of(formula(root, "mixed")) : Optional.empty(),
                new StepRange(
                        kind(range.path("decode")),
                        kind(range.path("prompts")),
                        kind(range.path("mixed")),
                        range.path("max_context").asLong(StepRange.UNKNOWN)));
        HostTimes host = new HostTimes(
                root.path("turn").asLong(),
                root.path("wake").asLong(),
                delays(root.path("arriving")),
                delays(root.path("first")),
                delays(root.path("later")));
        String source = "costs: " + root.path(root.has("gpu") ? "gpu" : "cpu").asString("") + ", "
                + root.path("model").asString("").replaceFirst("^random:", "") + " in "
                + root.path("dtype").asString("") + ", recorded "
                + root.path("date").asString("") + " at "
                + root.path("commit").asString("").replaceFirst("(?<=^.{8}).*", "") + ", not this machine";
        return new StepCosts(
                source,
                validation(root.path("validation")),
                model(root),
                new StepTimes(costs, Pace.EVEN, host),
                Optional.empty(),
                false,
                root.path("in_flight").asInt(1),
                root.path("kv_blocks").asInt(0));
    }

    private static StepCosts.Validation validation(JsonNode comparison) {
        Map<String, Double> errors = comparison
                .path("largest_error_percent")
                .propertyStream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, error -> error.getValue().doubleValue() / 100));
        return comparison.isMissingNode()
                ? StepCosts.Validation.MISSING
                : new StepCosts.Validation(
                        new Environment.Validation(
                                "largest error against real runs: " + Environment.Validation.words(errors)
                                        + " (p50, p90 and p99 in "
                                        + comparison.path("of").asString("") + ")",
                                errors),
                        comparison
                                .path("max_batch_size")
                                .valueStream()
                                .map(JsonNode::intValue)
                                .toList(),
                        new EngineLoad(
                                comparison.at("/busiest/requests").asDouble(),
                                comparison.at("/busiest/waiting").asDouble(),
                                comparison.at("/longest/prompt_tokens").asInt(Integer.MAX_VALUE),
                                comparison.at("/longest/output_tokens").asInt(Integer.MAX_VALUE)),
                        words(comparison.path("flags")),
                        comparison
                                .path("covers")
                                .valueStream()
                                .map(ShippedCosts::words)
                                .collect(Collectors.toSet()));
    }

    private static Set<String> words(JsonNode list) {
        return list.valueStream().map(JsonNode::stringValue).collect(Collectors.toSet());
    }

    private static CostTable.Formula formula(JsonNode root, String kind) {
        return new CostTable.Formula(
                curve(root.path(kind), "tokens"),
                root.path(kind + "_per_row").asDouble(),
                root.path(kind + "_per_attended").asDouble(),
                root.path(kind + "_per_past").asDouble(0),
                attention(root.path(kind + "_attention")));
    }

    private static DecodeAttention attention(JsonNode node) {
        return node.isMissingNode()
                ? DecodeAttention.of(0)
                : new DecodeAttention(
                        node.path("rows").valueStream().map(JsonNode::intValue).toList(),
                        numbers(node.path("per_position")),
                        numbers(node.path("per_longest")),
                        node.path("exponent").asInt());
    }

    private static StepRange.Kind kind(JsonNode node) {
        List<StepRange.Measured> largest = node.has("max_tokens")
                ? List.of(new StepRange.Measured(node.path("max_tokens").asInt(), StepRange.UNKNOWN))
                : node.path("largest")
                        .valueStream()
                        .map(step -> new StepRange.Measured(
                                step.path(0).asInt(), step.path(1).asLong()))
                        .toList();
        return new StepRange.Kind(node.path("min_tokens").asInt(), largest);
    }

    private static Curve curve(JsonNode node, String x) {
        return new Curve(numbers(node.path(x)), numbers(node.path("nanos")));
    }

    private static List<Long> delays(JsonNode node) {
        return node.isArray() ? node.valueStream().map(JsonNode::longValue).toList() : List.of(node.asLong());
    }

    private static List<Double> numbers(JsonNode list) {
        return list.valueStream().map(JsonNode::doubleValue).toList();
    }
}
