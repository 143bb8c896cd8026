package io.roseinfer.bench.replay;

import io.roseinfer.base.FileFailure;
import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.ClientCost;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.Oddities;
import io.roseinfer.bench.http.ServerStamps;
import io.roseinfer.bench.http.Verdict;
import io.roseinfer.bench.report.ResultFile;
import io.roseinfer.bench.report.ServeJson;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/**
 * Reads the results files of {@code bench serve}; {@link ServeJson} defines their fields. A file that was edited, or written by a later
 * version, is refused at its first value that is not as the command writes it; fields that an earlier version did not write may be missing.
 */
final class RecordedRunReader {
    private RecordedRunReader() {}

    static RecordedRun read(Path file) {
        JsonNode root = ResultFile.read(file);
        String name = FileFailure.shown(file);
        requireServe(name, root);
        Value run = new Value(name, "", root);
        Value own = run.of("roseinfer");
        if (own.of("schema").integer(0) > ServeJson.SCHEMA) {
            throw new BadInput(name + " has schema " + own.of("schema").integer(0) + ", and this version reads up to "
                    + ServeJson.SCHEMA + "; use the version that wrote it");
        }
        LoadResult result = new LoadResult(
                0,
                Math.max(1, Math.round(run.of("duration").seconds() * 1e9)),
                own.of("load").of("scheduled").json().asBoolean(false),
                calls(own.of("requests")),
                ClientCost.NONE,
                Oddities.NONE,
                steps(own.of("steps")));
        Value validity = own.of("validity");
        return new RecordedRun(
                name,
                own.of("command").texts(),
                result,
                own.of("settings").json().path("kv_blocks").asInt(0),
                new Verdict(
                        validity.of("reasons").texts(),
                        validity.of("remedies").texts(),
                        validity.of("notes").texts()));
    }

    private static void requireServe(String name, JsonNode root) {
        if (!root.path("roseinfer").path("kind").asString("").equals("serve")) {
            throw new BadInput(name
                    + writer(root)
                            .map(
                                    command -> " was written by " + command
                                            + ", which does not write what a replay needs, the load's flags and the engine's steps")
                            .orElse(" is no results file of a benchmark")
                    + "; record a run with bench serve --backend engine --json FILE");
        }
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

    /**
     * A value of a document.
     *
     * @param place its path, for messages
     */
    private record Value(String file, String place, JsonNode json) {
        Value of(String name) {
            return new Value(file, place.isEmpty() ? name : place + "." + name, json.path(name));
        }

        /** The values of a list, none if it is missing. */
        List<Value> items() {
            if (!isAbsent() && !json.isArray()) {
                throw wrong("a list");
            }
            return IntStream.range(0, json.size())
                    .mapToObj(i -> new Value(file, place + "[" + i + "]", json.path(i)))
                    .toList();
        }

        boolean isAbsent() {
            return json.isMissingNode() || json.isNull();
        }

        long integer() {
            if (!json.isIntegralNumber() || !json.canConvertToLong()) {
                throw wrong("a whole number");
            }
            return json.longValue();
        }

        long integer(long absent) {
            return isAbsent() ? absent : integer();
        }

        /** A number that is small enough to count something. */
        int count() {
            long value = integer();
            if (value != (int) value) {
                throw wrong("a number below " + Integer.MAX_VALUE);
            }
            return (int) value;
        }

        int count(int absent) {
            return isAbsent() ? absent : count();
        }

        double seconds() {
            if (!json.isNumber() || !(json.doubleValue() > 0)) {
                throw wrong("a positive number");
            }
            return json.doubleValue();
        }

        String text() {
            if (!json.isString()) {
                throw wrong("a string");
            }
            return json.stringValue();
        }

        List<String> texts() {
            return items().stream().map(Value::text).toList();
        }

        List<Long> integers() {
            return items().stream().map(Value::integer).toList();
        }

        BadInput wrong(String wanted) {
            String seen = json.isString() ? Quoted.name(json.stringValue()) : Quoted.value(json.toString());
            return new BadInput(file + ": " + place + " is " + (json.isMissingNode() ? "missing" : seen)
                    + ", and bench serve writes " + wanted + "; undo the change, or record the run again");
        }
    }

    private static List<CallResult> calls(Value requests) {
        List<CallResult> calls = new ArrayList<>();
        for (Value request : requests.items()) {
            if (request.of("id").integer() != calls.size()) {
                throw request.of("id").wrong("the request's index, " + calls.size());
            }
            calls.add(call(request));
        }
        return calls;
    }

    private static CallResult call(Value node) {
        List<Value> usage = node.of("usage").items();
        Value error = node.of("error");
        return new CallResult(
                node.of("id").count(),
                node.of("prompt_tokens").count(-1),
                node.of("asked_tokens").count(),
                new CallResult.Times(
                        node.of("due_ns").integer(),
                        node.of("ready_ns").integer(0),
                        node.of("sent_ns").integer(),
                        node.of("last_choice_ns").integer(0),
                        node.of("end_ns").integer()),
                arrived(node),
                new CallResult.Usage(count(usage, 0), count(usage, 1), count(usage, 2)),
                node.of("server").isAbsent() ? Optional.empty() : Optional.of(stamps(node.of("server"))),
                error.isAbsent() ? Optional.empty() : Optional.of(error.text()));
    }

    private static int count(List<Value> usage, int index) {
        return index < usage.size() ? usage.get(index).count() : -1;
    }

    private static CallResult.Arrived arrived(Value node) {
        Value counted = node.of("counted");
        List<Long> nanos = node.of("event_ns").integers();
        List<Integer> tokens =
                node.of("event_tokens").items().stream().map(Value::count).toList();
        if (!tokens.isEmpty() && tokens.size() != nanos.size()) {
            throw node.of("event_tokens").wrong("a count for each of the " + nanos.size() + " events, or none");
        }
        return new CallResult.Arrived(
                Stream.of(CallResult.Counted.values())
                        .filter(how -> how.name().toLowerCase(Locale.ROOT).equals(counted.text()))
                        .findFirst()
                        .orElseThrow(() -> counted.wrong("ids, running_usage, total or not")),
                nanos,
                tokens);
    }

    private static ServerStamps stamps(Value node) {
        return new ServerStamps(
                node.of("received_ns").integer(ServerStamps.UNKNOWN),
                node.of("parsed_ns").integer(ServerStamps.UNKNOWN),
                node.of("tokenized_ns").integer(ServerStamps.UNKNOWN),
                node.of("admitted_ns").integer(ServerStamps.UNKNOWN),
                node.of("token_ns").integers(),
                node.of("read_ns").integers(),
                node.of("written_ns").integers(),
                new ServerStamps.Served(
                        node.of("engine").count(0), node.of("cached_tokens").count(-1)));
    }

    /** Rows by the names of their columns; facts that the file does not have are 0. */
    private static List<StepRecord> steps(Value node) {
        Map<String, Integer> columns = new HashMap<>();
        for (String name : node.of("columns").texts()) {
            columns.put(name, columns.size());
        }
        List<StepRecord> steps = new ArrayList<>();
        for (Value row : node.of("rows").items()) {
            List<Long> values = row.integers();
            if (values.size() != columns.size()) {
                throw row.wrong("a number for each of the " + columns.size() + " columns");
            }
            StepRecord step = new StepRecord();
            for (Fact fact : Fact.values()) {
                Integer column = columns.get(fact.key());
                step.set(fact, column == null ? 0 : values.get(column));
            }
            steps.add(step);
        }
        return steps;
    }
}
