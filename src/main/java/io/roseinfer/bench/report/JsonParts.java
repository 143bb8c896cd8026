package io.roseinfer.bench.report;

import io.roseinfer.base.StrictJson;
import io.roseinfer.metrics.Summary;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** The parts that the results files of all benchmarks have in common; {@link JsonReport} explains their fields. */
public final class JsonParts {
    private static final JsonMapper MAPPER = StrictJson.mapper();

    private JsonParts() {}

    static ObjectNode object() {
        return MAPPER.createObjectNode();
    }

    /** Any value of records, lists, maps, numbers and text. */
    static JsonNode value(@Nullable Object value) {
        return MAPPER.valueToTree(value);
    }

    /**
     * A document with the settings and what was measured on.
     *
     * @param schema of the benchmark's documents; a change that breaks readers raises it
     */
    static ObjectNode document(int schema, Map<String, ?> settings, Environment environment) {
        ObjectNode root = object().put("schema", schema);
        root.set("settings", MAPPER.valueToTree(settings));
        root.set("environment", environment(environment));
        return root;
    }

    /** What many runs were measured on: all but the warm-up, which each has of its own. */
    public static ObjectNode machine(Environment environment) {
        ObjectNode node = environment(environment);
        node.remove("warm_up_ns");
        return node;
    }

    private static ObjectNode environment(Environment environment) {
        ObjectNode node = object().put("jdk", environment.jdk())
                .put("cpu", environment.cpu().orElse(null));
        environment
                .vectorBits()
                .ifPresentOrElse(bits -> node.put("vector_bits", bits), () -> node.putNull("vector_bits"));
        node.put("gpu", environment.gpu().orElse(null))
                .put("driver", environment.driver().orElse(null))
                .put("commit", environment.commit().orElse(null))
                .put("warm_up_ns", environment.warmUpNanos());
        environment.simulated().ifPresent(costs -> node.put("simulated", costs));
        return node;
    }

    /** {@code {count, p50, p95, p99, mean, max}}, null where nothing was measured. */
    static ObjectNode summary(Summary summary) {
        ObjectNode node = object().put("count", summary.count());
        if (summary.count() == 0) {
            return node.putNull("p50")
                    .putNull("p95")
                    .putNull("p99")
                    .putNull("mean")
                    .putNull("max");
        }
        return node.put("p50", summary.p50())
                .put("p95", summary.p95())
                .put("p99", summary.p99())
                .put("mean", summary.mean())
                .put("max", summary.max());
    }

    /** {@code {median, min, max}}. */
    static ObjectNode overRuns(OverRuns value) {
        return object().put("median", value.median()).put("min", value.least()).put("max", value.most());
    }
}
