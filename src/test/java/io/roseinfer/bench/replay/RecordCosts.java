package io.roseinfer.bench.replay;

import io.roseinfer.base.StrictJson;
import io.roseinfer.bench.report.ResultFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes the resource of {@link ShippedCosts} from recorded runs:
 *
 * <pre>
 * RecordCosts COSTS.json RUN.json...
 * </pre>
 *
 * <p>Times outside of steps come from the first run, which should not be saturated. The runs come from
 * {@code bench serve --backend engine --json} with one model on one GPU: steps of 1 to 256 rows, prompts of 16 to 8,192 tokens, one run
 * with chunked prefill and one without. Prompts share no prefix: a step reads shared KV blocks once for all rows.
 */
public final class RecordCosts {
    private static final int QUANTILES = 16;

    private RecordCosts() {}

    public static void main(String... files) throws IOException {
        List<Path> paths = Arrays.stream(files).skip(1).map(Path::of).toList();
        List<RecordedRun> runs = paths.stream().map(RecordedRun::read).toList();
        JsonNode own = ResultFile.read(paths.getFirst()).path("roseinfer");
        ObjectNode root = StrictJson.mapper().createObjectNode();
        JsonNode environment = own.path("environment");
        boolean hasGpu = environment.path("gpu").isString();
        for (String fact : hasGpu ? List.of("gpu", "driver", "jdk", "commit") : List.of("cpu", "jdk", "commit")) {
            root.set(fact, environment.path(fact));
        }
        root.put(
                "date",
                ResultFile.read(paths.getFirst()).path("date").asString("").replaceFirst("T.*", ""));
        root.set("model", own.path("settings").path("model"));
        root.set("model_shape", own.path("settings").path("model_shape"));
        root.set("dtype", own.path("settings").path("dtype"));
        ArrayNode commands = root.putArray("commands");
        runs.forEach(run ->
                commands.add("roseinfer " + String.join(" ", run.command()).replaceFirst(" --json .*", "")));
        root.setAll(costs(runs));
        Files.writeString(Path.of(files[0]), root.toPrettyString() + "\n");
    }

    static ObjectNode costs(List<RecordedRun> runs) {
        CostTable table = CostFit.fit(RecordedRun.samples(runs));
        HostTimes host = runs.getFirst().host();
        ObjectNode root = StrictJson.mapper().createObjectNode();
        root.put("in_flight", runs.getFirst().inFlight());
        root.put("kv_blocks", runs.getFirst().kvBlocks());
        curve(root.putObject("decode"), "rows", table.decode().curve());
        attention(root.putObject("decode_attention"), table.decode().attention());
        formula(root, "other", table.prefill());
        table.mixed().ifPresent(mixed -> formula(root, "mixed", mixed));
        root.set("range", range(table.range()));
        root.put("turn", host.iterationNanos());
        root.put("wake", host.wakeNanos());
        quantiles(root.putArray("arriving"), host.arriving());
        quantiles(root.putArray("first"), host.first());
        quantiles(root.putArray("later"), host.later());
        return root;
    }

    static ObjectNode range(StepRange range) {
        ObjectNode root = StrictJson.mapper().createObjectNode();
        kind(root.putObject("decode"), range.decode());
        root.putObject("prompts")
                .put("min_tokens", range.prompts().minTokens())
                .put("max_tokens", range.prompts().maxTokens());
        kind(root.putObject("mixed"), range.mixed());
        if (range.maxContext() < StepRange.UNKNOWN) {
            root.put("max_context", range.maxContext());
        }
        return root;
    }

    private static void kind(ObjectNode node, StepRange.Kind kind) {
        node.put("min_tokens", kind.minTokens());
        ArrayNode largest = node.putArray("largest");
        kind.largest().forEach(step -> largest.addArray().add(step.tokens()).add(step.kvTokens()));
    }

    private static void formula(ObjectNode root, String kind, CostTable.Formula costs) {
        curve(root.putObject(kind), "tokens", costs.curve());
        root.put(kind + "_per_row", costs.perRow());
        root.put(kind + "_per_attended", costs.perPromptAttended());
        root.put(kind + "_per_past", costs.perPast());
        if (kind.equals("mixed")) {
            attention(root.putObject("mixed_attention"), costs.attention());
        }
    }

    private static void attention(ObjectNode node, DecodeAttention attention) {
        ArrayNode rows = node.putArray("rows");
        attention.rows().forEach(rows::add);
        ArrayNode perPosition = node.putArray("per_position");
        attention.perPosition().forEach(perPosition::add);
        ArrayNode perLongest = node.putArray("per_longest");
        attention.perLongest().forEach(perLongest::add);
        node.put("exponent", attention.exponent());
    }

    private static void curve(ObjectNode node, String name, Curve curve) {
        ArrayNode places = node.putArray(name);
        curve.x().forEach(x -> places.add(Math.round(x)));
        ArrayNode nanos = node.putArray("nanos");
        curve.y().forEach(y -> nanos.add(Math.round(y)));
    }

    private static void quantiles(ArrayNode list, List<Long> values) {
        List<Long> sorted = values.stream().sorted().toList();
        for (int i = 0; i < QUANTILES; i++) {
            list.add(sorted.get((2 * i + 1) * sorted.size() / (2 * QUANTILES)));
        }
    }
}
