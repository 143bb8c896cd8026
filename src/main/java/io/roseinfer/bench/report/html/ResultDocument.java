package io.roseinfer.bench.report.html;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.metrics.StepRecord.Fact;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Reads what {@code bench serve} and {@code bench streaming} write. */
final class ResultDocument {
    private static final double NANOS_PER_MILLI = 1e6;

    private ResultDocument() {}

    /**
     * The runs of a file's content.
     *
     * @throws BadInput if it is of no kind that can be shown
     */
    static List<ShownRun> of(String name, JsonNode root) {
        if (root.path("roseinfer").path("kind").asString("").equals("serve")) {
            return List.of(served(name, root));
        }
        if (root.path("runs").path(0).path("requests").isArray()) {
            return streamed(name, root);
        }
        throw new BadInput(
                "there are neither runs with requests nor points; a report shows what the benchmarks write by --json");
    }

    private static ShownRun served(String name, JsonNode root) {
        JsonNode own = root.get("roseinfer");
        List<ShownRun.Request> requests = new ArrayList<>();
        int failed = 0;
        for (JsonNode request : own.path("requests")) {
            if (request.path("error").isNull()) {
                requests.add(served(request));
            } else {
                failed++;
            }
        }
        Map<String, String> facts = new LinkedHashMap<>();
        fact(facts, "Duration (s)", root.path("duration"));
        fact(facts, "Requests/s", root.path("request_throughput"));
        fact(facts, "Goodput (requests/s)", root.path("request_goodput"));
        fact(facts, "Output tokens/s", root.path("output_throughput"));
        fact(facts, "Requests/s scheduled", own.path("load").path("scheduled_rate"));
        fact(facts, "Requests/s sent", own.path("load").path("achieved_rate"));
        fact(facts, "Dispatch lag p50 (ms)", own.path("dispatch_lag_ms").path("p50"));
        fact(facts, "Dispatch lag p99 (ms)", own.path("dispatch_lag_ms").path("p99"));
        fact(facts, "Client CPU (s)", own.path("client").path("cpu_s"));
        fact(facts, "Client collections", own.path("client").path("gc_count"));
        fact(facts, "Client's compilers (ms)", own.path("client").path("compile_ms"));
        fact(facts, "Client's floor: token events/s", own.path("floor").path("token_events_s"));
        fact(
                facts,
                "Client's floor: lag p99 (ms)",
                own.path("floor").path("dispatch_lag_ms").path("p99"));
        fact(
                facts,
                "Client's floor: TTFT p50 (ms)",
                own.path("floor").path("ttft_ms").path("p50"));
        JsonNode validity = own.path("validity");
        ShownRun.Judged judged = new ShownRun.Judged(
                validity.path("valid").asBoolean(false),
                texts(validity.path("reasons")),
                texts(validity.path("remedies")),
                texts(validity.path("notes")));
        Map<String, String> about = new LinkedHashMap<>();
        about.put("Command", "roseinfer " + Markup.command(texts(own.path("command"))));
        about.put("Date", root.path("date").asString(""));
        about(about, own);
        return new ShownRun(name, Optional.of(judged), requests, failed, engine(own), facts, about);
    }

    /** The engine's steps, by the names of their columns. */
    private static ShownRun.Engine engine(JsonNode own) {
        Map<String, Integer> columns = new HashMap<>();
        own.path("steps").path("columns").forEach(name -> columns.put(name.asString(""), columns.size()));
        List<ShownRun.Step> steps = new ArrayList<>();
        for (JsonNode row : own.path("steps").path("rows")) {
            ToLongFunction<Fact> value =
                    fact -> row.path(columns.getOrDefault(fact.key(), -1)).asLong(0);
            double start = value.applyAsLong(Fact.START_NANOS);
            double nanos = value.applyAsLong(Fact.PLAN_NANOS)
                    + value.applyAsLong(Fact.PACK_NANOS)
                    + value.applyAsLong(Fact.DEVICE_NANOS)
                    + value.applyAsLong(Fact.APPLY_NANOS);
            steps.add(new ShownRun.Step(
                    start / NANOS_PER_MILLI,
                    (start + nanos) / NANOS_PER_MILLI,
                    value.applyAsLong(Fact.PREFILL_TOKENS) > 0,
                    (int) value.applyAsLong(Fact.FREE_BLOCKS),
                    (int) value.applyAsLong(Fact.ENGINE)));
        }
        return new ShownRun.Engine(own.path("settings").path("kv_blocks").asInt(0), steps);
    }

    private static double admitted(JsonNode stamp) {
        return stamp.isNumber() ? stamp.asDouble() / NANOS_PER_MILLI : Double.NaN;
    }

    private static ShownRun.Request served(JsonNode request) {
        double[] events = millis(request.path("event_ns"));
        List<Double> tokens = new ArrayList<>();
        List<Double> gaps = new ArrayList<>();
        JsonNode counts = request.path("event_tokens");
        int total = request.path("usage").path(1).asInt(-1);
        for (int i = 0; i < events.length; i++) {
            int count = counts.isEmpty()
                    ? share(i, events.length, total)
                    : counts.path(i).asInt(1);
            for (int k = 0; k < count; k++) {
                tokens.add(events[i]);
                if (i > 0 && !counts.isEmpty()) {
                    gaps.add((events[i] - events[i - 1]) / count);
                }
            }
        }
        return new ShownRun.Request(
                request.path("due_ns").asDouble() / NANOS_PER_MILLI,
                request.path("sent_ns").asDouble() / NANOS_PER_MILLI,
                admitted(request.path("server").path("admitted_ns")),
                request.path("last_choice_ns").asDouble() / NANOS_PER_MILLI,
                array(tokens),
                array(gaps),
                counts.isEmpty() ? total : tokens.size());
    }

    /** Returns the tokens of an event if only their total is known, which is spread evenly; each event has one at least. */
    private static int share(int event, int events, int total) {
        return Math.max(1, (int) ((event + 1L) * total / events - (long) event * total / events));
    }

    private static List<ShownRun> streamed(String name, JsonNode root) {
        List<ShownRun> runs = new ArrayList<>();
        Map<String, String> about = new LinkedHashMap<>();
        about(about, root);
        for (JsonNode run : root.get("runs")) {
            List<ShownRun.Request> requests = new ArrayList<>();
            for (JsonNode request : run.path("requests")) {
                double sent = request.path("submit_start_ns").asDouble() / NANOS_PER_MILLI;
                double[] tokens = millis(request.path("token_ns"));
                double[] gaps = new double[Math.max(0, tokens.length - 1)];
                for (int i = 0; i < gaps.length; i++) {
                    gaps[i] = tokens[i + 1] - tokens[i];
                }
                double end = request.path("finish_ns").asDouble() / NANOS_PER_MILLI;
                requests.add(new ShownRun.Request(
                        sent, sent, admitted(request.path("admit_ns")), end, tokens, gaps, tokens.length));
            }
            Map<String, String> facts = new LinkedHashMap<>();
            fact(facts, "Output tokens/s", run.path("summary").path("throughput_tok_s"));
            fact(facts, "Cached prompt tokens", run.path("cached_tokens"));
            fact(facts, "Preemptions", run.path("preemptions"));
            String number = root.get("runs").size() > 1 ? " run " + (runs.size() + 1) : "";
            runs.add(new ShownRun(
                    name + number,
                    Optional.empty(),
                    requests,
                    run.path("rejected").asInt(0),
                    ShownRun.Engine.UNKNOWN,
                    facts,
                    about));
        }
        return runs;
    }

    /** What the runs of a sweep or of a comparison were measured on, in a line; empty if the file does not say. */
    static String machines(JsonNode own) {
        return own.path("environments")
                .valueStream()
                .map(machine -> machine.valueStream()
                        .filter(value -> !value.isNull())
                        .map(JsonNode::asString)
                        .collect(Collectors.joining(", ")))
                .collect(Collectors.joining("; "));
    }

    /** Returns the start of a verdict on simulated runs; empty for measured runs. */
    static String simulated(JsonNode own) {
        return own.path("environments")
                .valueStream()
                .map(machine -> machine.path("simulated").asString(""))
                .filter(costs -> !costs.isEmpty())
                .distinct()
                .map(ResultDocument::simulated)
                .collect(Collectors.joining());
    }

    /** The same by the costs of one run's environment, if it has any. */
    static String simulated(@Nullable String costs) {
        return costs == null ? "" : "<strong>Simulated time</strong>, " + Markup.text(costs) + ". ";
    }

    /** Adds the machine and the settings. */
    static void about(Map<String, String> about, JsonNode node) {
        node.path("environment").forEachEntry((key, value) -> {
            if (!value.isNull()) {
                about.put(key, value.asString());
            }
        });
        List<String> settings = new ArrayList<>();
        node.path("settings").forEachEntry((key, value) -> {
            if (!value.isNull()) {
                settings.add(key + "=" + (value.isContainer() ? value.toString() : value.asString()));
            }
        });
        about.put("Settings", String.join(", ", settings));
    }

    private static void fact(Map<String, String> facts, String name, JsonNode value) {
        if (value.isNumber()) {
            facts.put(name, Markup.number(value.doubleValue()));
        } else if (value.isString()) {
            facts.put(name, value.stringValue());
        }
    }

    private static List<String> texts(JsonNode list) {
        return list.valueStream().map(text -> text.asString("")).toList();
    }

    private static double[] millis(JsonNode nanos) {
        return nanos.valueStream()
                .flatMapToDouble(stamp -> DoubleStream.of(stamp.asDouble() / NANOS_PER_MILLI))
                .toArray();
    }

    private static double[] array(List<Double> values) {
        return values.stream().mapToDouble(Double::doubleValue).toArray();
    }
}
