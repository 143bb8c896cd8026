package io.roseinfer.bench.replay;

import io.roseinfer.base.FileFailure;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.ClientCost;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.Oddities;
import io.roseinfer.bench.http.ServerStamps;
import io.roseinfer.bench.http.Verdict;
import io.roseinfer.bench.report.ResultFile;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/** Reads the results files of {@code bench serve}; {@link io.roseinfer.bench.report.ServeJson} defines their fields. */
final class RecordedRunReader {
    private RecordedRunReader() {}

    static RecordedRun read(Path file) {
        JsonNode root = ResultFile.read(file);
        JsonNode own = root.path("roseinfer");
        if (!own.path("kind").asString("").equals("serve")) {
            throw new BadInput(FileFailure.shown(file)
                    + writer(root)
                            .map(
                                    command -> " was written by " + command
                                            + ", which does not write what a replay needs, the load's flags and the engine's steps")
                            .orElse(" is no results file of a benchmark")
                    + "; record a run with bench serve --backend engine --json FILE");
        }
        LoadResult result = new LoadResult(
                0,
                Math.max(1, Math.round(root.path("duration").asDouble() * 1e9)),
                own.path("load").path("scheduled").asBoolean(false),
                own.path("requests").valueStream().map(RecordedRunReader::call).toList(),
                ClientCost.NONE,
                Oddities.NONE,
                steps(own.path("steps")));
        return new RecordedRun(
                FileFailure.shown(file),
                texts(own.path("command")),
                result,
                own.path("settings").path("kv_blocks").asInt(0),
                new Verdict(
                        texts(own.path("validity").path("reasons")),
                        texts(own.path("validity").path("remedies")),
                        texts(own.path("validity").path("notes"))));
    }

    /** The command that wrote a results file, by what it has; empty if none of ours did. */
    private static Optional<String> writer(JsonNode root) {
        String kind = root.path("roseinfer").path("kind").asString("");
        JsonNode point = root.path("points").path(0);
        if (!kind.isEmpty()) {
            return Optional.of("bench " + kind);
        } else if (root.has("mode") || point.has("total_us")) {
            return Optional.of("bench scheduler");
        } else if (point.has("step_ms")) {
            return Optional.of("bench model");
        } else if (root.path("runs").isArray()) {
            return Optional.of("bench (bench streaming)");
        }
        return root.has("traceEvents") ? Optional.of("bench --timeline") : Optional.empty();
    }

    private static List<String> texts(JsonNode list) {
        return list.valueStream().map(text -> text.asString("")).toList();
    }

    private static CallResult call(JsonNode node) {
        JsonNode usage = node.path("usage");
        JsonNode server = node.path("server");
        JsonNode error = node.path("error");
        return new CallResult(
                node.path("id").asInt(),
                node.path("prompt_tokens").asInt(-1),
                node.path("asked_tokens").asInt(),
                new CallResult.Times(
                        node.path("due_ns").asLong(),
                        node.path("ready_ns").asLong(),
                        node.path("sent_ns").asLong(),
                        node.path("last_choice_ns").asLong(),
                        node.path("end_ns").asLong()),
                new CallResult.Arrived(
                        CallResult.Counted.valueOf(
                                node.path("counted").asString("not").toUpperCase(Locale.ROOT)),
                        longs(node.path("event_ns")),
                        node.path("event_tokens")
                                .valueStream()
                                .map(JsonNode::asInt)
                                .toList()),
                new CallResult.Usage(
                        usage.path(0).asInt(-1),
                        usage.path(1).asInt(-1),
                        usage.path(2).asInt(-1)),
                server.isObject() ? Optional.of(stamps(server)) : Optional.empty(),
                error.isString() ? Optional.of(error.stringValue()) : Optional.empty());
    }

    private static List<Long> longs(JsonNode list) {
        return list.valueStream().map(JsonNode::asLong).toList();
    }

    private static ServerStamps stamps(JsonNode node) {
        return new ServerStamps(
                stamp(node, "received_ns"),
                stamp(node, "parsed_ns"),
                stamp(node, "tokenized_ns"),
                stamp(node, "admitted_ns"),
                longs(node.path("token_ns")),
                longs(node.path("read_ns")),
                longs(node.path("written_ns")),
                new ServerStamps.Served(
                        node.path("engine").asInt(0), node.path("cached_tokens").asInt(-1)));
    }

    private static long stamp(JsonNode node, String name) {
        JsonNode value = node.path(name);
        return value.isIntegralNumber() ? value.longValue() : ServerStamps.UNKNOWN;
    }

    /** Rows by the names of their columns; facts that the file does not have are 0. */
    private static List<StepRecord> steps(JsonNode node) {
        Map<String, Integer> columns = new HashMap<>();
        for (JsonNode name : node.path("columns")) {
            columns.put(name.asString(""), columns.size());
        }
        List<StepRecord> steps = new ArrayList<>();
        for (JsonNode row : node.path("rows")) {
            StepRecord step = new StepRecord();
            for (Fact fact : Fact.values()) {
                step.set(fact, row.path(columns.getOrDefault(fact.key(), -1)).asLong(0));
            }
            steps.add(step);
        }
        return steps;
    }
}
